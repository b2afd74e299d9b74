import { cardWidth, containerPadding, freePlace, type Size, type Sizes, sizeOfNew } from '../canvas/geometry.ts'
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

/** Where a new block goes and what it connects to. */
export type Place = {
  /** Top left corner, in canvas coordinates. */
  point?: Point
  parentId?: string | null
  from?: { source: string; sourceHandle: string }
  onEdge?: string
}

/** The edit that adds a block of a type, and the new block's id. */
export function newBlock(
  { type, label }: { type: string; label: string },
  place: Place,
  document: Document,
  sizes: Sizes,
): { edit: Edit; id: string } {
  const id = freshId()
  const params = startParams(type)
  const { parentId, position } = placeOf(place, document, sizes, sizeOfNew({ type, params }))
  const block: Block = {
    ...{ id, type, name: startNames[type] ?? label, position, enabled: true, params },
    ...(parentId === null ? {} : { parentId }),
  }
  const edit: Edit = {
    ...{ kind: 'add', block, edgeId: freshId() },
    ...(place.from ? { from: place.from } : {}),
    ...(place.onEdge ? { onEdge: place.onEdge } : {}),
  }
  return { edit, id }
}

function placeOf({ point, parentId, from, onEdge }: Place, document: Document, sizes: Sizes, own: Size) {
  const edge = document.edges.find(({ id }) => id === onEdge)
  const start = from ?? (edge && { source: edge.source, sourceHandle: handleOf(document, edge) })
  const source = start && document.blocks[start.source]
  if (source && point === undefined) {
    const size = sizes.get(source.id) ?? { width: cardWidth, height: 74 }
    if (isContainer(source) && start.sourceHandle.endsWith('-start-source')) {
      const wanted = { x: containerPadding.left, y: containerPadding.top }
      return { parentId: source.id, position: freePlace(document, sizes, source.id, wanted, own) }
    }
    const parent = source.parentId ?? null
    const ports = portsOf(source).filter(({ kind }) => kind === 'branch')
    const at = ports.findIndex(({ handle }) => handle === start.sourceHandle)
    const drop = start.sourceHandle === 'error' ? 130 : Math.max(at, 0) * 110
    const wanted = { x: positionOf(source).x + size.width + 90, y: positionOf(source).y + drop }
    return { parentId: parent, position: freePlace(document, sizes, parent, wanted, own) }
  }
  const parent = source ? (source.parentId ?? null) : (parentId ?? null)
  const origin = parent === null ? { x: 0, y: 0 } : absolutePosition(document, parent)
  const wanted = { x: (point?.x ?? 0) - origin.x, y: (point?.y ?? 0) - origin.y }
  return { parentId: parent, position: freePlace(document, sizes, parent, wanted, own) }
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
const startNames: Readonly<Record<string, string>> = { api_trigger: 'Start', api: 'Request' }

/** The initial parameters of a new block. */
function startParams(type: string): Params {
  return structuredClone(starts[type] ?? {})
}

const starts: Readonly<Record<string, Params>> = {
  api_trigger: { inputFormat: [] },
  manual_trigger: { inputFormat: [] },
  schedule: { cron: '0 9 * * 1-5' },
  webhook_trigger: {},
  api: { method: 'GET', url: '' },
  function: { code: 'return null' },
  condition: { conditions: [{ id: 'yes', expression: '' }] },
  router: { provider: 'openai', model: '', prompt: '', routes: [{ id: 'first', description: '' }] },
  agent: { provider: 'openai', model: '', userPrompt: '' },
  variables: { assign: [] },
  wait: { ms: 1000 },
  response: { data: {} },
}
