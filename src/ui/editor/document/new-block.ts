import {
  cardWidth,
  clampInside,
  containerPadding,
  freePlace,
  type Size,
  type Sizes,
  sizeOfNew,
} from '../canvas/geometry.ts'
import {
  absolutePosition,
  type Block,
  type Document,
  handleOf,
  isContainer,
  isTrigger,
  type Params,
  type Point,
  portsOf,
  positionOf,
} from './document.ts'
import type { Edit } from './edit.ts'
import { freshId } from './fresh-id.ts'
import { placeInLine } from './make-room.ts'
import { parentOfEdge } from './wiring.ts'

/** Where a new block goes and what it connects to. */
export type Place = {
  /** Top left corner, in canvas coordinates. */
  point?: Point
  parentId?: string | null
  from?: { source: string; sourceHandle: string }
  onEdge?: string
}

/** `params`: those that a block has from the start. Then `label` is its name. */
export type NewBlock = { type: string; label: string; params?: Params }

/** The edits that add a block of a type, and the new block's id. */
export function newBlock(
  { type, label, params: given }: NewBlock,
  place: Place,
  document: Document,
  sizes: Sizes,
): { edits: Edit[]; id: string } {
  const id = freshId()
  const params = { ...startParams(type), ...given }
  const own = sizeOfNew({ type, params })
  const { parentId, position, moves } = placeOf(place, document, sizes, own)
  const block: Block = {
    ...{ id, type, name: given ? label : (startNames[type] ?? label), position, enabled: true, params },
    ...(parentId === null ? {} : { parentId }),
  }
  const edit: Edit = {
    ...{ kind: 'add', block, edgeId: freshId() },
    ...(place.from ? { from: place.from } : {}),
    ...(place.onEdge ? { onEdge: place.onEdge } : {}),
  }
  const edits: Edit[] = Object.keys(moves).length > 0 ? [{ kind: 'move', to: moves }, edit] : [edit]
  const first = isTrigger(block) ? loneStart(document) : undefined
  const [port] = portsOf(block)
  if (first && port)
    edits.push({ kind: 'connect', id: freshId(), source: id, sourceHandle: port.handle, target: first.id })
  return { edits, id }
}

function placeOf(place: Place, document: Document, sizes: Sizes, own: Size) {
  const { point, from, onEdge } = place
  if (onEdge) {
    const edge = document.edges.find(({ id }) => id === onEdge)
    const parent = edge && parentOfEdge(document, edge)
    const wanted = point && (parent ? relative(document, parent, point) : point)
    const inLine = placeInLine(document, sizes, onEdge, own, wanted ? { wanted } : {})
    if (inLine) return inLine
  }
  const source = from && document.blocks[from.source]
  if (source && point === undefined) {
    const size = sizes.get(source.id) ?? { width: cardWidth, height: 74 }
    if (isContainer(source) && from.sourceHandle.endsWith('-start-source')) {
      const wanted = { x: containerPadding.left, y: containerPadding.top }
      return { parentId: source.id, position: freePlace(document, sizes, source.id, wanted, own), moves: {} }
    }
    const parent = source.parentId ?? null
    const ports = portsOf(source).filter(({ kind }) => kind === 'branch')
    const at = ports.findIndex(({ handle }) => handle === from.sourceHandle)
    const drop = from.sourceHandle === 'error' ? 130 : Math.max(at, 0) * 110
    const wanted = { x: positionOf(source).x + size.width + 90, y: positionOf(source).y + drop }
    return { parentId: parent, position: freePlace(document, sizes, parent, wanted, own), moves: {} }
  }
  const parent = source ? parentOfNext(source, from.sourceHandle) : (place.parentId ?? null)
  const wanted = clampInside(relative(document, parent, point ?? { x: 0, y: 0 }), parent)
  return { parentId: parent, position: freePlace(document, sizes, parent, wanted, own), moves: {} }
}

/** The container of the block that an output port leads to. */
function parentOfNext(source: Block, handle: string): string | null {
  return isContainer(source) && handle.endsWith('-start-source') ? source.id : (source.parentId ?? null)
}

/** A point of the canvas in the coordinates of a container. */
function relative(document: Document, parentId: string | null, { x, y }: Point): Point {
  const origin = parentId === null ? { x: 0, y: 0 } : absolutePosition(document, parentId)
  return { x: x - origin.x, y: y - origin.y }
}

/**
 * The output port that a new block continues from: the selected block's, the start of an empty selected container, or
 * that of the only trigger as long as it leads nowhere.
 */
export function nextPort(
  document: Document,
  selected: Block | undefined,
): { source: string; sourceHandle: string } | undefined {
  if (selected) {
    const start = portsOf(selected).find(({ kind }) => kind === 'start')
    const isEmpty = start && !Object.values(document.blocks).some(({ parentId }) => parentId === selected.id)
    return isEmpty ? { source: selected.id, sourceHandle: start.handle } : openPort(document, selected)
  }
  const [trigger, ...others] = Object.values(document.blocks).filter(isTrigger)
  if (!trigger || others.length > 0 || document.edges.some(({ source }) => source === trigger.id)) return undefined
  return openPort(document, trigger)
}

/** The only outermost block without an incoming line, in a workflow without triggers: the first trigger leads to it. */
export function loneStart(document: Document): Block | undefined {
  const blocks = Object.values(document.blocks)
  if (blocks.some(isTrigger)) return undefined
  const targets = new Set(document.edges.map(({ target }) => target))
  const [first, ...others] = blocks.filter(({ id, parentId }) => !parentId && !targets.has(id))
  return others.length > 0 ? undefined : first
}

/** The output port that the next block most likely continues from: the first unconnected one. */
export function openPort(document: Document, block: Block): { source: string; sourceHandle: string } | undefined {
  const used = new Set(
    document.edges.filter(({ source }) => source === block.id).map((edge) => handleOf(document, edge)),
  )
  const ports = portsOf(block).filter(({ kind }) => kind !== 'error' && kind !== 'start')
  const port = ports.find(({ handle }) => !used.has(handle)) ?? ports[0]
  return port && block.type !== 'response' ? { source: block.id, sourceHandle: port.handle } : undefined
}

/** Whether a block of this type can be added. A workflow has at most one trigger of each type. */
export function canAdd(document: Document, type: string): boolean {
  return !isTrigger({ type }) || !Object.values(document.blocks).some((block) => block.type === type)
}

/**
 * Initial names that differ from the label. A block named `api` would hide the trigger, because references to the
 * trigger also start with `<api.`.
 */
const startNames: Readonly<Record<string, string>> = {
  api_trigger: 'Start',
  webhook_trigger: 'Webhook',
  event_trigger: 'Event',
  api: 'Request',
}

/** The initial parameters of a new block. */
export function startParams(type: string): Params {
  return structuredClone(starts[type] ?? {})
}

const starts: Readonly<Record<string, Params>> = {
  api_trigger: { inputFormat: [] },
  manual_trigger: { inputFormat: [] },
  schedule: { cron: '0 9 * * 1-5' },
  webhook_trigger: {},
  poll_trigger: { request: { url: '' }, items: '', id: 'id', everyMs: 300_000 },
  rss_trigger: { url: '', everyMs: 900_000 },
  form_trigger: { title: 'New form', fields: [{ name: 'name', type: 'string', label: 'Your name', required: true }] },
  event_trigger: { events: ['run.failed'], workflows: 'all' },
  api: { method: 'GET', url: '' },
  operation: { connector: '', operation: '' },
  mcp: { server: '', tool: '' },
  data: { operation: 'csv_parse', input: '' },
  function: { code: 'return null' },
  condition: { conditions: [{ id: 'yes', expression: '' }] },
  router: { provider: 'openai', model: '', prompt: '', routes: [{ id: 'first', description: '' }] },
  agent: { provider: 'openai', model: '', userPrompt: '' },
  evaluator: {
    ...{ provider: 'openai', model: '', content: '' },
    metrics: [{ name: 'quality', description: '', range: { min: 0, max: 10 } }],
  },
  guardrails: { input: '', checks: ['pii'] },
  variables: { assign: [] },
  store: { operation: 'get', key: '' },
  wait: { ms: 1000 },
  approval: { title: 'Please approve' },
  response: { data: {} },
}
