import type { WorkflowResponse } from '../../../http/responses/workflow-schemas.ts'

/**
 * The edited document: the server's own type without the members that the service adds to responses. Webhook
 * subscriptions are edited on their own screen.
 */
export type Document = Omit<
  WorkflowResponse,
  'id' | 'workspaceId' | 'createdAt' | 'updatedAt' | 'revision' | 'webhooks'
>
export type Block = Document['blocks'][string]
export type Edge = Document['edges'][number]
export type Loop = NonNullable<Document['loops']>[string]
export type Parallel = NonNullable<Document['parallels']>[string]
export type Note = NonNullable<Document['notes']>[string]
export type Variables = NonNullable<Document['variables']>
export type Limits = NonNullable<Document['limits']>
export type Exposure = NonNullable<Document['mcp']>
export type Point = { x: number; y: number }
export type Params = Record<string, unknown>

/** The handles of a container: into its body and out of it. */
export const containerHandles = {
  loop: { start: 'loop-start-source', end: 'loop-end-source' },
  parallel: { start: 'parallel-start-source', end: 'parallel-end-source' },
} as const

export function isContainer({ type }: Pick<Block, 'type'>): boolean {
  return type === 'loop' || type === 'parallel'
}

const triggerTypes = new Set([
  ...['api_trigger', 'manual_trigger', 'schedule', 'webhook_trigger', 'chat_trigger', 'form_trigger'],
  ...['poll_trigger', 'rss_trigger', 'email_trigger', 'event_trigger'],
])

export function isTrigger({ type }: Pick<Block, 'type'>): boolean {
  return triggerTypes.has(type)
}

/** The declared fields of a trigger: its input format, or the fields of its form. */
export function formatOf({ type, params }: Pick<Block, 'type' | 'params'>): unknown {
  return params?.[type === 'form_trigger' ? 'fields' : 'inputFormat']
}

export function positionOf({ position }: Pick<Block, 'position'>): Point {
  return position ?? { x: 0, y: 0 }
}

export function childrenOf(document: Document, parentId: string | null): Block[] {
  return Object.values(document.blocks).filter((block) => (block.parentId ?? null) === parentId)
}

/** The children of every block and, by null, the outermost blocks. */
export function childrenByParent(document: Document): Map<string | null, Block[]> {
  return Map.groupBy(Object.values(document.blocks), ({ parentId }) => parentId ?? null)
}

/** Blocks and, for containers, everything inside them. */
export function withInner(document: Document, ids: Iterable<string>): Set<string> {
  const children = childrenByParent(document)
  const found = new Set<string>()
  const add = (id: string) => {
    if (found.has(id) || !document.blocks[id]) return
    found.add(id)
    for (const child of children.get(id) ?? []) add(child.id)
  }
  for (const id of ids) add(id)
  return found
}

/** The position on the canvas. Positions of inner blocks are relative to their container. */
export function absolutePosition(document: Document, id: string): Point {
  const point = { x: 0, y: 0 }
  for (let at: Block | undefined = document.blocks[id], depth = 0; at && depth < depthMax; depth += 1) {
    const { x, y } = positionOf(at)
    point.x += x
    point.y += y
    at = at.parentId ? document.blocks[at.parentId] : undefined
  }
  return point
}

/** Maximum nesting of containers. An invalid document may contain a cycle. */
const depthMax = 50

/** An output port of a block, in drawing order. `handle` is the name that edges use; `label` is for people. */
export type Port = { handle: string; label: string; kind: 'source' | 'branch' | 'error' | 'start' }

export function portsOf(block: Pick<Block, 'type' | 'params'>): Port[] {
  if (block.type === 'loop' || block.type === 'parallel') {
    const { start, end } = containerHandles[block.type]
    return [{ handle: start, label: 'Start', kind: 'start' }, { handle: end, label: 'Then', kind: 'source' }, errorPort]
  }
  if (block.type === 'condition') {
    const ids = idsOf(block.params?.['conditions'])
    return [...ids.map((id) => branch(`condition-${id}`, id)), branch('condition-else', 'else')]
  }
  if (block.type === 'router') return idsOf(block.params?.['routes']).map((id) => branch(`router-${id}`, id))
  const source: Port = { handle: 'source', label: 'Then', kind: 'source' }
  if (block.type === 'approval' || block.type === 'wait_for_call') {
    return [source, branch('notify', 'notify'), branch('expired', 'expired'), errorPort]
  }
  if (block.type === 'guardrails') return [source, branch('failed', 'failed'), errorPort]
  return isTrigger(block) ? [source] : [source, errorPort]
}

const errorPort: Port = { handle: 'error', label: 'error', kind: 'error' }

function branch(handle: string, label: string): Port {
  return { handle, label, kind: 'branch' }
}

function idsOf(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.map((entry: { id?: unknown } | null) => String(entry?.id ?? ''))
}

/** The explicit handle that an edge leaves by. */
export function handleOf(document: Document, edge: Pick<Edge, 'source' | 'target' | 'sourceHandle'>): string {
  const source = document.blocks[edge.source]
  const written = edge.sourceHandle || undefined
  if (!source || (source.type !== 'loop' && source.type !== 'parallel')) return written ?? 'source'
  const { start, end } = containerHandles[source.type]
  if (document.blocks[edge.target]?.parentId === source.id) return start
  return written === undefined || written === 'source' || written.endsWith('-end-source') ? end : written
}

/** The normalised form of a block name. References ignore case and spaces. */
export function normaliseName(name: string): string {
  return name.toLowerCase().replaceAll(/\s+/g, '')
}

/** A name that no block uses yet, with the next free number: `API`, `API 2`; after `Loop 5`, `Loop 6`. */
export function freeName(document: Document, wanted: string): string {
  return new FreeNames(document).take(wanted)
}

/** Names for many new blocks of a document, each one free. */
export class FreeNames {
  readonly #taken: Set<string>
  /** By stem and number: a later number, before which all are taken. Otherwise equal names would count from 2 each. */
  readonly #skips = new Map<string, Map<number, number>>()

  constructor({ blocks }: Document) {
    this.#taken = new Set(Object.values(blocks).map(({ name }) => normaliseName(name)))
  }

  take(wanted: string): string {
    const name = this.#taken.has(normaliseName(wanted)) ? this.#numbered(wanted) : wanted
    this.#taken.add(normaliseName(name))
    return name
  }

  #numbered(wanted: string): string {
    const [, stem = wanted, own = '1'] = /^(.*?)\s+(\d{1,9})$/.exec(wanted) ?? []
    const skips = this.#skips.get(stem) ?? new Map<number, number>()
    this.#skips.set(stem, skips)
    const passed: number[] = []
    let number = Number(own) + 1
    while (this.#taken.has(normaliseName(`${stem} ${number}`))) {
      passed.push(number)
      number = skips.get(number) ?? number + 1
    }
    for (const each of passed) skips.set(each, number)
    return `${stem} ${number}`
  }
}

/** The selected block, or the trigger. `Tab` stops on the canvas only there. */
export function homeOf(document: Document, selected: ReadonlySet<string>): string | undefined {
  return [...selected].find((id) => document.blocks[id]) ?? firstBlock(document)
}

export function firstBlock({ blocks }: Document): string | undefined {
  const all = Object.values(blocks)
  return (all.find(isTrigger) ?? all[0])?.id
}
