import { setMember } from '../../domain/run/input.ts'
import type { Slices } from '../../domain/slices.ts'
import { jsonRefusal } from '../../domain/text/json.ts'
import { asText, endsInString, mayHoldSegments, type Segment, segmentsOf } from '../../domain/workflow/reference.ts'
import { BlockError } from '../block.ts'
import { filledText } from '../block-size.ts'
import type { Frame, Getter } from '../run/frame.ts'

/** A compiled parameter: a constant, or a getter to call when the block starts. */
export type Compiled = { constant: true; value: unknown } | { constant: false; get: Getter }

export type Resolve = (segment: Exclude<Segment, { kind: 'text' }>) => Getter | undefined

/** Compiles a value in which all strings are templates. */
export function* compileValue(value: unknown, resolve: Resolve): Slices<Compiled> {
  if (typeof value === 'string') return yield* compileText(value, resolve)
  if (Array.isArray(value)) {
    const items: Compiled[] = []
    for (const item of value) items.push(isPlain(item) ? constant(item) : yield* compileValue(item, resolve))
    yield
    if (items.every((item) => item.constant)) return { constant: true, value }
    const getters = items.map(getterOf)
    return { constant: false, get: (frame) => getters.map((get) => get(frame)) }
  }
  if (typeof value !== 'object' || value === null) return { constant: true, value }
  const members: { key: string; compiled: Compiled }[] = []
  for (const [key, item] of Object.entries(value)) {
    members.push({ key, compiled: isPlain(item) ? constant(item) : yield* compileValue(item, resolve) })
  }
  if (members.every(({ compiled }) => compiled.constant)) return { constant: true, value }
  const getters = members.map(({ key, compiled }) => ({ key, get: getterOf(compiled) }))
  return {
    constant: false,
    get: (frame) => {
      const result: Record<string, unknown> = {}
      for (const { key, get } of getters) setMember(result, key, get(frame))
      return result
    },
  }
}

/** Whether a value is certainly a constant. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' ? !mayHoldSegments(value) : typeof value !== 'object' || value === null
}

function constant(value: unknown): Compiled {
  return { constant: true, value }
}

/**
 * Compiles text. Exactly one reference keeps the value's type; anything else becomes text, and so does all with
 * `asString`.
 */
export function* compileText(text: string, resolve: Resolve, asString = false): Slices<Compiled> {
  if (!mayHoldSegments(text)) return { constant: true, value: text }
  const parts: (string | Getter)[] = []
  let count = 0
  for (const segment of segmentsOf(text)) {
    count += 1
    if (count % segmentsPerSlice === 0) yield
    const part = segment.kind === 'text' ? segment.text : (resolve(segment) ?? segment.source)
    const last = parts.length - 1
    if (typeof part === 'string' && typeof parts[last] === 'string') parts[last] += part
    else parts.push(part)
  }
  const [first] = parts
  if (parts.length === 1 && typeof first === 'string') return { constant: true, value: text }
  if (parts.length === 1 && typeof first === 'function' && !asString) {
    return { constant: false, get: (frame) => first(frame) ?? null }
  }
  return { constant: false, get: (frame) => joined(parts, frame) }
}

const segmentsPerSlice = 200

function joined(parts: readonly (string | Getter)[], frame: Frame): string {
  let text = ''
  // A large value that the text contains many times is written as JSON once.
  const texts = parts.length > 2 ? new Map<object, string>() : undefined
  for (const part of parts) {
    const value = typeof part === 'string' ? part : part(frame)
    if (typeof value !== 'object' || value === null) {
      text += asText(value)
      continue
    }
    const written = texts?.get(value) ?? filledText(value, frame.run)
    texts?.set(value, written)
    text += written
  }
  return text
}

export type CompiledJson = { compiled: Compiled; problem: string | undefined }

/**
 * Compiles JSON, or JSON text that is a template. A reference inside a JSON string becomes part of that string; a
 * reference in the place of a value becomes the value. The text is parsed only here, with marks in place of references,
 * so no later value can change its structure. Text that is not JSON compiles to a getter that fails the block.
 */
export function* compileJson(value: unknown, resolve: Resolve): Slices<CompiledJson> {
  if (typeof value !== 'string') return { compiled: yield* compileValue(value, resolve), problem: undefined }
  const marked = yield* markReferences(value, resolve)
  const parsed = parse(marked.text)
  yield
  if (parsed.ok) return { compiled: yield* compileMarked(parsed.value, marked), problem: undefined }
  const message = `The text is not JSON: ${parsed.message}. A reference may stand for a value, or be text in quotes.`
  const get: Getter = () => {
    throw new BlockError('INVALID_JSON', message)
  }
  return { compiled: { constant: false, get }, problem: message }
}

type Marked = { text: string; mark: string; getters: Getter[] }

function* markReferences(text: string, resolve: Resolve): Slices<Marked> {
  // Random, so that no text can contain it. Searching for a mark that a text does not contain takes n² steps at worst.
  const mark = `\u{e000}${crypto.randomUUID().slice(0, 18)}\u{e000}`
  const getters: Getter[] = []
  let inString = false
  const pieces: string[] = []
  for (const segment of segmentsOf(text)) {
    if (pieces.length % segmentsPerSlice === segmentsPerSlice - 1) yield
    const get = segment.kind === 'text' ? undefined : resolve(segment)
    if (get) {
      const index = getters.push(get) - 1
      pieces.push(inString ? `${mark}${index};` : `"${mark}v${index};"`)
    } else {
      const literal = segment.kind === 'text' ? segment.text : segment.source
      inString = endsInString(literal, inString)
      pieces.push(literal)
    }
  }
  return { text: pieces.join(''), mark, getters }
}

function parse(text: string): { ok: true; value: unknown } | { ok: false; message: string } {
  const refusal = jsonRefusal(text)
  if (refusal !== undefined) return { ok: false, message: refusal }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, message: (error as Error).message.replace(/^JSON Parse error: /, '') }
  }
}

function* compileMarked(value: unknown, marked: Marked): Slices<Compiled> {
  if (typeof value === 'string') return compileMarkedText(value, marked)
  if (typeof value !== 'object' || value === null) return { constant: true, value }
  if (Array.isArray(value)) {
    const items: Compiled[] = []
    for (const item of value) {
      if (items.length % segmentsPerSlice === segmentsPerSlice - 1) yield
      items.push(yield* compileMarked(item, marked))
    }
    if (items.every((item) => item.constant)) return { constant: true, value }
    const getters = items.map(getterOf)
    return { constant: false, get: (frame) => getters.map((get) => get(frame)) }
  }
  const members: { key: Compiled; value: Compiled }[] = []
  for (const [key, item] of Object.entries(value)) {
    if (members.length % segmentsPerSlice === segmentsPerSlice - 1) yield
    members.push({ key: compileMarkedText(key, marked), value: yield* compileMarked(item, marked) })
  }
  if (members.every((member) => member.key.constant && member.value.constant)) return { constant: true, value }
  const getters = members.map((member) => ({ key: getterOf(member.key), get: getterOf(member.value) }))
  return {
    constant: false,
    get: (frame) => {
      const result: Record<string, unknown> = {}
      for (const { key, get } of getters) setMember(result, filledText(key(frame), frame.run), get(frame))
      return result
    },
  }
}

function compileMarkedText(text: string, { mark, getters }: Marked): Compiled {
  if (!text.includes(mark)) return { constant: true, value: text }
  const whole = new RegExp(`^${mark}v(\\d+);$`, 'u').exec(text)
  const alone = whole ? getters[Number(whole[1])] : undefined
  if (alone) return { constant: false, get: (frame) => alone(frame) ?? null }
  const parts = text
    .split(new RegExp(`${mark}(\\d+);`, 'u'))
    .map((part, index) => (index % 2 === 0 ? part : (getters[Number(part)] ?? '')))
  return { constant: false, get: (frame) => joined(parts, frame) }
}

export function getterOf(compiled: Compiled): Getter {
  if (!compiled.constant) return compiled.get
  const { value } = compiled
  return () => value
}
