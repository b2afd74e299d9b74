import type { TSchema } from '@sinclair/typebox'
import type { Secret } from '../../domain/redaction/redactor.ts'
import { isObject } from '../../domain/run/input.ts'
import { isSecretHeader } from '../../domain/secret-headers.ts'
import type { Slices } from '../../domain/slices.ts'
import { segmentsOf } from '../../domain/workflow/reference.ts'
import type { Block, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { BlockDefinition } from '../block.ts'
import type { Registry } from './graph.ts'

/**
 * The parameters of a document that carry passwords, tokens and keys. Their schema marks them: `secret: true` on a
 * text, and `secret: 'headers'` on a list of headers, of which those with a name of `isSecretHeader` count.
 */

/** The place of a secret parameter in a document. */
export type SecretPlace = {
  block: Block
  /** For findings: `authentication.token`, `headers.2.value`. */
  path: string
  /** The same place in another state of the document: a header is found by its name, a tool by its name. */
  key: string
  /** For people: `password`, `header Authorization`. */
  label: string
  /** Whether the value is used as it is, so that `<block.path>` in it is no reference. */
  isLiteral: boolean
}

/** Returns the value to put in the place; null for an absent parameter. */
export type MapSecret = (value: unknown, place: SecretPlace) => unknown

/**
 * Replaces the secret parameters of a document. Returns the same document when nothing changes. Pauses after each
 * block and each secret, because a document may have tens of thousands.
 */
export function* mapSecrets(document: WorkflowDocument, registry: Registry, map: MapSecret): Slices<WorkflowDocument> {
  const changed: [string, Block][] = []
  for (const [id, block] of Object.entries(document.blocks)) {
    yield
    const definition = registry.get(block.type)
    const params = definition && block.params && (yield* mapBlockSecrets(definition, block, map))
    if (params !== undefined && params !== block.params) changed.push([id, { ...block, params }])
  }
  if (changed.length === 0) return document
  return { ...document, blocks: { ...document.blocks, ...Object.fromEntries(changed) } }
}

/** Replaces the secret parameters of one block. Returns the same parameters when nothing changes. */
export function mapBlockSecrets(
  definition: BlockDefinition,
  block: Block,
  map: MapSecret,
): Slices<Record<string, unknown>> {
  return mapParams(definition, block.params ?? {}, { block, path: '', key: '' }, map)
}

type Within = { block: Block; path: string; key: string }
type Params = Record<string, unknown>

function* mapParams(definition: BlockDefinition, params: Params, within: Within, map: MapSecret): Slices<Params> {
  return yield* mapMembers(params, definition.parameters.properties, function* (name, value, schema) {
    const mode = definition.modes?.[name]
    const at = { ...within, path: `${within.path}${name}`, key: `${within.key}${name}` }
    if (mode === 'tools') return yield* mapTools(definition, value, at, map)
    return yield* mapValue(schema, value, { ...at, label: wordsOf(name), isLiteral: mode === 'literal' }, map)
  })
}

function* mapTools(definition: BlockDefinition, tools: unknown, at: Within, map: MapSecret): Slices<unknown> {
  return yield* mapItems(tools, function* (tool, index) {
    const inner = definition.toolBlocks?.[String(tool['type'])]
    const { params, name } = tool
    if (!inner || !isObject(params)) return tool
    const within = { ...at, path: `${at.path}.${index}.params.`, key: `${at.key}.${String(name)}.params.` }
    const mapped = yield* mapParams(inner, params, within, map)
    return mapped === params ? tool : { ...tool, params: mapped }
  })
}

function* mapValue(schema: TSchema, value: unknown, place: SecretPlace, map: MapSecret): Slices<unknown> {
  if (schema['secret'] === true) return map(value, place)
  if (schema['secret'] === 'headers') return yield* mapHeaders(value, place, map)
  const members = schema['properties'] as Record<string, TSchema> | undefined
  if (!members || !isObject(value)) return value
  return yield* mapMembers(value, members, function* (name, member, inner) {
    const at = { ...place, path: `${place.path}.${name}`, key: `${place.key}.${name}`, label: wordsOf(name) }
    return yield* mapValue(inner, member, at, map)
  })
}

/** `apiKey` → `API key`. */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^api /, 'API ')
}

function* mapHeaders(headers: unknown, place: SecretPlace, map: MapSecret): Slices<unknown> {
  const counts = new Map<string, number>()
  // biome-ignore lint/correctness/useYield: maps one header, and the caller pauses after each.
  return yield* mapItems(headers, function* (header, index) {
    const { key: name, value } = header
    if (typeof name !== 'string' || value === undefined || value === null || !isSecretHeader(name)) return header
    const lower = name.trim().toLowerCase()
    const count = counts.get(lower) ?? 0
    counts.set(lower, count + 1)
    const at = { path: `${place.path}.${index}.value`, key: `${place.key}.${lower}.${count}`, label: `header ${name}` }
    const mapped = map(value, { ...place, ...at })
    return mapped === value ? header : { ...header, value: mapped }
  })
}

/** Maps the members that the schema knows. An object may have a hundred thousand others. */
function* mapMembers(
  object: Params,
  schemas: Readonly<Record<string, TSchema>>,
  map: (name: string, value: unknown, schema: TSchema) => Slices<unknown>,
): Slices<Params> {
  let changed: Params | undefined
  for (const [name, schema] of Object.entries(schemas)) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    if (value === undefined || value === null) continue
    const mapped = yield* map(name, value, schema)
    if (mapped === value) continue
    changed ??= { ...object }
    changed[name] = mapped
  }
  return changed ?? object
}

function* mapItems(list: unknown, map: (item: Params, index: number) => Slices<unknown>): Slices<unknown> {
  if (!Array.isArray(list)) return list
  let changed: unknown[] | undefined
  for (const [index, item] of (list as unknown[]).entries()) {
    yield
    const mapped = isObject(item) ? yield* map(item, index) : item
    if (mapped === item) continue
    changed ??= [...(list as unknown[])]
    changed[index] = mapped
  }
  return changed ?? list
}

/** Stands for a secret in a document that is shown to people who may not see it. */
export const hiddenSecret = '***'

/** Whether a secret is written in the document itself. A value with `{{NAME}}` or a reference comes from elsewhere. */
export function isWritten(value: unknown, { isLiteral }: Pick<SecretPlace, 'isLiteral'>): boolean {
  if (value === '' || value === null || value === undefined || value === hiddenSecret || isSealed(value)) return false
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return segmentsOf(text).every(({ kind }) => kind === 'text' || (isLiteral && kind === 'reference'))
}

/** A secret as a stored document holds it: the JSON text of the value, encrypted, in base64. */
export type SealedValue = { $sealed: string }

export function isSealed(value: unknown): value is SealedValue {
  return isObject(value) && typeof value['$sealed'] === 'string' && Object.keys(value).length === 1
}

/** The texts that logs must not contain: the value, and the credential in it (`Bearer …`, `session=…`). */
export function secretsIn(value: unknown, { block, label }: SecretPlace): Secret[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // Nothing after the space: the search for /\s+(.+)$/ takes n² steps in a text of spaces.
  const scheme = /^(?:Bearer|Basic|Token|ApiKey|Digest)\s/i.exec(text)?.[0]
  const credential = scheme && text.slice(scheme.length)
  const isCookie = label.toLowerCase() === 'header cookie'
  const cookies = isCookie ? text.split(';', cookiesMax).map((each) => each.split(/=(.*)/s)[1]) : []
  const name = `${block.name}: ${label}`
  const values = [text, credential, ...cookies].flatMap((each) => each?.trim() || [])
  return values.map((value) => ({ name, value }))
}

/** Browsers keep 180 cookies of a site. */
const cookiesMax = 200
