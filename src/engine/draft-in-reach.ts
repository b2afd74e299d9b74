import type { Block, Finding, TriggerKind, WorkflowDocument } from '../domain/workflow.ts'
import type { BlockDefinition } from './block.ts'
import type { Registry } from './graph.ts'

/**
 * What a run by hand can come to: one block alone; or all that lies behind a trigger, any of them when none is named, and
 * the blocks that it is to go on from or to end with.
 */
export type Reach = { only: string } | { trigger: TriggerKind | undefined; through: readonly string[] }

export type DraftInReach = {
  document: WorkflowDocument
  /** What it is compiled with. */
  registry: Registry
  reached: ReadonlySet<string>
  /** Ids of the blocks that do nothing here. */
  standIns: ReadonlySet<string>
}

/**
 * The draft with stand-ins that do nothing for the blocks that are faulty and that a run by hand cannot come to: whoever
 * builds a workflow tries out what is ready. Undefined when a fault lies in reach, or is not one block's.
 */
export function draftInReach(
  document: WorkflowDocument,
  findings: readonly Finding[],
  reach: Reach,
  registry: Registry,
): DraftInReach | undefined {
  const errors = findings.filter(({ level }) => level === 'error')
  const faulty = new Set(errors.map(({ blockId }) => blockId))
  const { blocks, edges } = document
  const reached = 'only' in reach ? around(blocks, reach.only) : onTheWay(document, reach, registry)
  const isOutside = (id: string | null) => id !== null && Object.hasOwn(blocks, id) && !reached.has(id)
  const definition = registry.get('variables')
  if (!definition || ![...faulty].every(isOutside)) return undefined
  const standIns = new Set<string>()
  const definitions = new Map<string, BlockDefinition>()
  const all = Object.entries(blocks).map(([id, block]) => {
    if (![id, ...parentsOf(blocks, block)].some((each) => faulty.has(each))) return [id, block] as const
    standIns.add(id)
    // The name stays: a reference to it is to a block that has not run, and not a text. So does the type, for the trace.
    const type = `stand-in for ${block.type}`
    definitions.set(type, { ...definition, type: block.type })
    return [id, { ...block, type, params: {}, enabled: false, parentId: null }] as const
  })
  const isWhole = (id: string) => !standIns.has(id)
  return {
    document: {
      ...document,
      blocks: Object.fromEntries(all),
      edges: edges.filter(({ source, target }) => isWhole(source) && isWhole(target)),
      loops: onlyOf(document.loops, isWhole),
      parallels: onlyOf(document.parallels, isWhole),
    },
    registry: new Map([...registry, ...definitions]),
    reached,
    standIns,
  }
}

function onlyOf<Value>(entries: Record<string, Value> | undefined, isKept: (id: string) => boolean) {
  return Object.fromEntries(Object.entries(entries ?? {}).filter(([id]) => isKept(id)))
}

/** A block, those that it stands in, and those that stand in it. */
function around(blocks: WorkflowDocument['blocks'], blockId: string): Set<string> {
  const block = blocks[blockId]
  const inside = Object.entries(blocks).filter(([, each]) => parentsOf(blocks, each).includes(blockId))
  return new Set([blockId, ...(block ? parentsOf(blocks, block) : []), ...inside.map(([id]) => id)])
}

/** Ids of the containers around a block, the innermost first. */
function parentsOf(blocks: WorkflowDocument['blocks'], { parentId }: Block): string[] {
  const parents: string[] = []
  for (let id = parentId; id && !parents.includes(id); id = blocks[id]?.parentId) parents.push(id)
  return parents
}

function onTheWay(
  { blocks, edges }: WorkflowDocument,
  { trigger, through }: Extract<Reach, { trigger: unknown }>,
  registry: Registry,
): Set<string> {
  const targets = Map.groupBy(edges, ({ source }) => source)
  const reached = new Set<string>()
  const triggers = Object.keys(blocks).filter((id) => {
    const starts = registry.get(blocks[id]?.type ?? '')?.starts
    return starts !== undefined && (trigger === undefined || starts === trigger)
  })
  const next = [...triggers, ...through.flatMap((id) => [...around(blocks, id)])]
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    if (reached.has(id)) continue
    reached.add(id)
    next.push(...(targets.get(id) ?? []).map(({ target }) => target))
  }
  return reached
}
