import { isObject } from '../../domain/run/input.ts'
import type { Slices } from '../../domain/slices.ts'
import type { Block, BlockOrigin, Edge, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { objectOf } from '../sim-document.ts'
import { elseIdOf, simFormOf } from './block-values.ts'
import { simReferences, type Translate } from './references.ts'
import { subBlocksOf } from './sub-blocks.ts'
import { simToolsOf } from './tools.ts'

/** The sub-block `millrace` of a block: see `Native`. `origin: null` says that the block has no origin. */
export type Additions = {
  type?: string
  params: Readonly<Record<string, unknown>>
  without?: readonly string[]
  origin?: BlockOrigin | null
}

/** The member `state` of an export. */
export function* buildExport(
  document: WorkflowDocument,
  additions: ReadonlyMap<string, Additions>,
): Slices<Record<string, unknown>> {
  const isWhole = (id: string) => additions.get(id)?.type !== undefined
  const parts = partsOf(document, isWhole)
  const absorbed = new Set([...parts.values()].flatMap((list) => list.map(({ id }) => id)))
  const translate = simReferences(document, (id) => !isWhole(id))
  const blocks: [string, unknown][] = []
  for (const block of Object.values(document.blocks)) {
    if (absorbed.has(block.id)) continue
    const added = additions.get(block.id)
    const writing = { added, parts: parts.get(block.id) ?? [], translate, document }
    blocks.push([block.id, yield* blockOf(block, writing)])
    yield
  }
  const values = document.origin?.values ?? {}
  const lostNotes = objectOf(values['notes'])
  for (const { id, text, position, width, height, color } of Object.values(document.notes ?? {})) {
    const subBlocks = subBlocksOf({ ...objectOf(lostNotes[id]), content: text, color })
    const data = { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) }
    blocks.push([id, { ...{ id, type: 'note', name: 'Note', position, enabled: true }, subBlocks, outputs: {}, data }])
  }
  const { folder, limits } = document
  const millrace = { ...(folder === undefined ? {} : { folder }), ...(limits === undefined ? {} : { limits }) }
  return {
    blocks: Object.fromEntries(blocks),
    edges: [...document.edges.flatMap((edge) => edgeOf(edge, { document, absorbed, isWhole })), ...lostEdges(document)],
    loops: { ...objectOf(values['loops']), ...(yield* containersOf(document, 'loop', translate)) },
    parallels: { ...objectOf(values['parallels']), ...(yield* containersOf(document, 'parallel', translate)) },
    variables: Object.fromEntries(
      Object.entries(document.variables ?? {}).map(([name, { type = 'plain', value }]) => [
        name,
        { id: name, name, type, value: value ?? null },
      ]),
    ),
    metadata: {
      name: document.name,
      ...(document.description === undefined ? {} : { description: document.description }),
      ...(Object.keys(millrace).length > 0 ? { millrace } : {}),
    },
  }
}

type Writing = {
  added: Additions | undefined
  parts: readonly Block[]
  translate: Translate
  document: WorkflowDocument
}

function* blockOf(block: Block, { added, parts, translate, document }: Writing): Slices<Record<string, unknown>> {
  const { id, name, enabled = true, parentId, position = { x: 0, y: 0 } } = block
  const inside = parentId ? { parentId, extent: 'parent' } : {}
  const facts = { id, name, position, enabled, outputs: {} }
  const millrace = added === undefined ? {} : { millrace: added }
  const original = block.params?.['original']
  if (block.type === 'placeholder' && isObject(original) && added === undefined) {
    const { parentId: _, extent: __, ...data } = objectOf(original['data'])
    const hasData = 'data' in original || parentId
    return { ...original, ...facts, ...(hasData ? { data: { ...data, ...inside } } : {}) }
  }
  const form = simFormOf(block)
  if (!form || added?.type !== undefined) {
    const whole: Additions = { type: block.type, params: block.params ?? {}, origin: block.origin ?? null }
    const data = { ...inside, ...containerData(block, document) }
    return { ...facts, type: form?.type ?? block.type, subBlocks: subBlocksOf({ millrace: whole }), data }
  }
  const values = { ...form.values }
  if (block.type === 'agent') Object.assign(values, simToolsOf(block, parts))
  if (block.type === 'approval' && parts.length > 0) {
    values['notification'] = parts.map(({ params }) => params?.['original'])
  }
  const { retry, ...kept } = objectOf(yield* translate(values))
  return {
    ...{ ...facts, type: form.type, ...(isObject(retry) ? { retry } : {}) },
    subBlocks: subBlocksOf({ ...kept, ...millrace }),
    data: { ...inside, ...containerData(block, document) },
  }
}

/** Sim reads the settings of a container from its block. */
function containerData({ id, type, origin }: Block, { loops, parallels }: WorkflowDocument): Record<string, unknown> {
  const { collection, count, whileCondition, doWhileCondition } = origin?.values ?? {}
  const kept = { collection, count, whileCondition, doWhileCondition }
  if (type === 'loop') {
    const { loopType, iterations, forEachItems, condition } = loops?.[id] ?? { loopType: 'for' }
    const own = loopType === 'doWhile' ? { doWhileCondition: condition } : { whileCondition: condition }
    const items = loopType === 'forEach' ? { collection: forEachItems } : {}
    const times = loopType === 'for' ? { count: iterations } : {}
    return plain({ loopType, ...kept, ...(condition === undefined ? {} : own), ...items, ...times })
  }
  if (type !== 'parallel') return {}
  const { parallelType, count: times, distribution, concurrency } = parallels?.[id] ?? { parallelType: 'count' }
  const ours = parallelType === 'count' ? { count: times } : { collection: distribution }
  return plain({ parallelType, ...kept, ...ours, batchSize: concurrency })
}

function* containersOf(
  document: WorkflowDocument,
  type: 'loop' | 'parallel',
  translate: Translate,
): Slices<Record<string, unknown>> {
  const entries: Record<string, object> = (type === 'loop' ? document.loops : document.parallels) ?? {}
  const containers: [string, unknown][] = []
  for (const [id, entry] of Object.entries(entries)) {
    const { condition, concurrency, ...settings } = objectOf(yield* translate(entry))
    const block = document.blocks[id]
    const data = block ? containerData(block, document) : {}
    const { whileCondition, doWhileCondition } = data
    const conditions = condition === undefined ? {} : plain({ whileCondition, doWhileCondition })
    const batch = concurrency === undefined ? {} : { batchSize: concurrency }
    containers.push([id, { ...settings, ...conditions, ...batch }])
  }
  return Object.fromEntries(containers)
}

/** The placeholders that an import made of parts of a block, by block. An export makes them parts again. */
function partsOf({ blocks, edges }: WorkflowDocument, isWhole: (id: string) => boolean): Map<string, Block[]> {
  const touching = new Map<string, Edge[]>()
  for (const edge of edges) {
    for (const end of [edge.source, edge.target]) {
      const list = touching.get(end)
      if (list) list.push(edge)
      else touching.set(end, [edge])
    }
  }
  const parts = new Map<string, Block[]>()
  for (const block of Object.values(blocks)) {
    const { part, of } = block.origin?.values ?? {}
    if (block.type !== 'placeholder' || typeof of !== 'string' || isWhole(of) || isWhole(block.id)) continue
    const owner = Object.hasOwn(blocks, of) ? blocks[of] : undefined
    const ends = touching.get(block.id) ?? []
    const isTool = part === 'tool' && owner?.type === 'agent' && ends.length === 0
    const isNotification =
      part === 'notification' && owner?.type === 'approval' && ends.length === 1 && ends[0]?.sourceHandle === 'notify'
    if (!isTool && !isNotification) continue
    const list = parts.get(of)
    if (list) list.push(block)
    else parts.set(of, [block])
  }
  return parts
}

type Connecting = {
  document: WorkflowDocument
  absorbed: ReadonlySet<string>
  isWhole: (id: string) => boolean
}

function edgeOf(edge: Edge, { document, absorbed, isWhole }: Connecting): Record<string, unknown>[] {
  if (absorbed.has(edge.target) || absorbed.has(edge.source)) return []
  const block = Object.hasOwn(document.blocks, edge.source) ? document.blocks[edge.source] : undefined
  if (!block || isWhole(block.id)) return [plain(edge)]
  const isElse = block.type === 'condition' && edge.sourceHandle === 'condition-else'
  const isOldRouter = block.type === 'router' && block.origin?.type === 'router' && edge.sourceHandle !== 'error'
  const handle = isElse ? `condition-${elseIdOf(block)}` : isOldRouter ? 'source' : edge.sourceHandle
  return [plain({ ...edge, sourceHandle: handle })]
}

function lostEdges({ origin }: WorkflowDocument): Record<string, unknown>[] {
  const edges = origin?.values?.['edges']
  return Array.isArray(edges) ? edges.filter(isObject) : []
}

function plain(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
