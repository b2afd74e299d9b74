import type { ErrorDetail } from '../domain/errors.ts'
import { isObject } from '../domain/run/input.ts'
import { FreeTexts } from './import/free-texts.ts'
import { findExcess } from './sim-size.ts'

/** A workflow of Sim as its export file describes it. The mapper of a block's type reads the block's content. */
export type SimDocument = {
  name: string | undefined
  description: string | undefined
  /** By the name of the member in the file. Edges use this name. */
  blocks: ReadonlyMap<string, SimBlock>
  /** How many blocks of a list had the IDs of others, and have new ones here. */
  renumbered: number
  edges: readonly SimEdge[]
  /** The edges by their source. */
  outgoing: ReadonlyMap<string, readonly SimEdge[]>
  loops: ReadonlyMap<string, SimContainer>
  parallels: ReadonlyMap<string, SimContainer>
  variables: readonly SimVariable[]
  /** Members of our documents that Sim's format does not have, in files that we exported. */
  extras: Readonly<Record<string, unknown>>
}

export type SimBlock = {
  id: string
  type: string
  name: string
  position: { x: number; y: number }
  enabled: boolean
  /** True for a block of a service that starts runs. */
  triggerMode: boolean
  /**
   * The values of the sub-blocks, by ID. The types of sub-blocks are ignored, because many exports have wrong types.
   * Null and empty texts count as absent.
   */
  values: ReadonlyMap<string, unknown>
  /** Settings of containers and their inner blocks: `loopType`, `count`, `collection`, `width`, … */
  data: Readonly<Record<string, unknown>>
  parentId: string | undefined
  /** The block as it is in the file. */
  original: Readonly<Record<string, unknown>>
}

export type SimEdge = {
  id: string | undefined
  source: string
  target: string
  sourceHandle: string | undefined
  targetHandle: string | undefined
}

/** A loop or parallel. `settings`: all its members, such as `loopType` and `iterations`. */
export type SimContainer = { id: string; nodes: readonly string[]; settings: Readonly<Record<string, unknown>> }

export type SimVariable = { id: string; name: string; type: string; value: unknown }

/** A tool of an agent. `params`: the values that the author has set. The model sets the others. */
export type SimTool = {
  type: string
  title: string
  /** The operation of a service's block, such as `send`. */
  operation: string | undefined
  toolId: string | undefined
  params: Readonly<Record<string, unknown>>
  /** The tool as it is in the file. */
  original: Readonly<Record<string, unknown>>
}

export type SimReading = { document: SimDocument } | { details: ErrorDetail[] }

/**
 * Reads an export file. Current files have the workflow in `state`; older files have it at the top. Members of a wrong
 * type count as absent, unless the file has no blocks at all.
 */
export function readSimDocument(value: unknown): SimReading {
  const excess = findExcess(value)
  if (excess !== undefined) return { details: [{ path: '', message: excess }] }
  const found = stateOf(value)
  if (!found) {
    const message =
      'This is not a workflow exported from Sim: it has no object "state.blocks". ' +
      'Export the workflow in Sim again, or unpack the archive first.'
    return { details: [{ path: 'state.blocks', message }] }
  }
  const { state, outer } = found
  const metadata = objectOf(state['metadata'])
  const outerMetadata = objectOf(outer['metadata'])
  const workflow = objectOf(outer['workflow'])
  const firstText = (member: string) =>
    [metadata, outerMetadata, workflow, state, outer, objectOf(value)]
      .map((each) => textOf(each[member]))
      .find((text) => text.trim())
  const edges = edgesOf(state['edges'])
  return {
    document: {
      name: firstText('name')?.trim(),
      description: firstText('description'),
      blocks: blocksOf(state['blocks']),
      renumbered: renumberedIn(state['blocks']),
      edges,
      outgoing: bySource(edges),
      loops: containersOf(state['loops']),
      parallels: containersOf(state['parallels']),
      variables: variablesOf(state['variables'] ?? outer['variables']),
      extras: extrasOf(objectOf(metadata['millrace'])),
    },
  }
}

/** Reads an entry of an agent's tools. */
export function readSimTool(value: unknown): SimTool | undefined {
  if (!isObject(value)) return undefined
  const operation = textOf(value['operation']) || textOf(objectOf(value['params'])['operation'])
  return {
    type: textOf(value['type']),
    title: textOf(value['title']) || textOf(value['name']),
    operation: operation || undefined,
    toolId: textOf(value['toolId']) || undefined,
    params: objectOf(value['params']),
    original: value,
  }
}

/** The object with `blocks`, which files have in different places. Undefined if the value is not a workflow of Sim. */
export function simStateIn(value: unknown): Record<string, unknown> | undefined {
  return stateOf(value)?.state
}

/** The object with `blocks`: `state`, `data.workflow.state` and `data.state` of API responses, or the file itself. */
function stateOf(value: unknown): { state: Record<string, unknown>; outer: Record<string, unknown> } | undefined {
  if (!isObject(value)) return undefined
  const data = objectOf(value['data'])
  const outers = [value, data, objectOf(data['workflow']), objectOf(value['workflow'])]
  for (const outer of outers) {
    for (const state of [objectOf(outer['state']), outer]) {
      if (isObject(state['blocks']) || Array.isArray(state['blocks'])) return { state, outer }
    }
  }
  return undefined
}

function blocksOf(value: unknown): Map<string, SimBlock> {
  const entries = Array.isArray(value) ? listedBlocks(value) : Object.entries(objectOf(value))
  return new Map(entries.map(([id, block]) => [id, blockOf(id, objectOf(block))]))
}

/** The first block of an ID keeps it, so that no block replaces another one. */
function listedBlocks(list: readonly unknown[]): [id: string, block: unknown][] {
  const ids = new FreeTexts(list.map((block) => textOf(objectOf(block)['id'])))
  const firsts = new Set<string>()
  return list.map((block) => {
    const id = textOf(objectOf(block)['id'])
    const isFirst = id !== '' && !firsts.has(id)
    firsts.add(id)
    return [isFirst ? id : ids.free(id || 'block', (number) => `${id || 'block'}-${number}`), block]
  })
}

function renumberedIn(blocks: unknown): number {
  const ids = Array.isArray(blocks)
    ? blocks.map((block) => textOf(objectOf(block)['id'])).filter((id) => id !== '')
    : []
  return ids.length - new Set(ids).size
}

function blockOf(id: string, original: Record<string, unknown>): SimBlock {
  const data = objectOf(original['data'])
  const position = objectOf(original['position'])
  return {
    id,
    type: textOf(original['type']),
    name: textOf(original['name']),
    position: { x: numberOf(position['x']), y: numberOf(position['y']) },
    enabled: original['enabled'] !== false,
    triggerMode: original['triggerMode'] === true,
    values: valuesOf(original['subBlocks']),
    data,
    parentId: textOf(data['parentId']) || textOf(original['parentId']) || undefined,
    original,
  }
}

/** Current files have `{ id, type, value }` for each sub-block; older ones, and those written by hand, the value. */
function valuesOf(subBlocks: unknown): Map<string, unknown> {
  const values = Object.entries(objectOf(subBlocks)).map(([id, subBlock]): [string, unknown] => {
    return [id, isWrapper(subBlock, id) ? subBlock['value'] : subBlock]
  })
  return new Map(values.filter(([, value]) => value !== null && value !== undefined && value !== ''))
}

/** An object with other members than those of a wrapper is a value itself, such as a schema. */
function isWrapper(subBlock: unknown, id: string): subBlock is Record<string, unknown> {
  if (!isObject(subBlock)) return false
  if (Object.hasOwn(subBlock, 'value') || subBlock['id'] === id) return true
  return Object.keys(subBlock).every((name) => name === 'id' || name === 'type')
}

function edgesOf(value: unknown): SimEdge[] {
  if (!Array.isArray(value)) return []
  return value.map((edge) => {
    const { id, source, target, sourceHandle, targetHandle } = objectOf(edge)
    return {
      id: textOf(id) || undefined,
      source: textOf(source),
      target: textOf(target),
      sourceHandle: textOf(sourceHandle) || undefined,
      targetHandle: textOf(targetHandle) || undefined,
    }
  })
}

function containersOf(value: unknown): Map<string, SimContainer> {
  return new Map(
    Object.entries(objectOf(value)).map(([id, container]) => {
      const settings = objectOf(container)
      const nodes: unknown[] = Array.isArray(settings['nodes']) ? settings['nodes'] : []
      return [id, { id, nodes: nodes.filter((node) => typeof node === 'string'), settings }]
    }),
  )
}

function bySource(edges: readonly SimEdge[]): Map<string, SimEdge[]> {
  const outgoing = new Map<string, SimEdge[]>()
  for (const edge of edges) {
    const list = outgoing.get(edge.source)
    if (list) list.push(edge)
    else outgoing.set(edge.source, [edge])
  }
  return outgoing
}

/** Current files have an object with variables by ID, and older files have a list. */
function variablesOf(value: unknown): SimVariable[] {
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((variable, index) => [`variable-${index + 1}`, variable])
    : Object.entries(objectOf(value))
  return entries.map(([key, variable]) => {
    if (!isObject(variable)) return { id: key, name: key, type: 'plain', value: variable }
    const { id, name, type } = variable
    return {
      id: textOf(id) || key,
      name: textOf(name) || key,
      type: textOf(type) || 'plain',
      value: variable['value'] ?? null,
    }
  })
}

function extrasOf({ folder, limits }: Record<string, unknown>): Record<string, unknown> {
  return { ...(folder === undefined ? {} : { folder }), ...(limits === undefined ? {} : { limits }) }
}

export function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

/** A text, or a number or boolean as text. Anything else is an empty text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
