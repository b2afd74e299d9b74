import type { Block, Finding, TriggerKind, WorkflowDocument } from '../domain/workflow.ts'
import type { BlockDefinition } from './block.ts'
import type { Registry } from './graph.ts'

/** What a run by hand can come to: one block alone, or all that lies behind a trigger; any of them when none is named. */
export type Reach = { only: string } | { trigger: TriggerKind | undefined }

/**
 * The draft with stand-ins that do nothing for the blocks that are faulty and that a run by hand cannot come to: whoever
 * builds a workflow tries out what is ready. It is compiled with the registry that comes with it. Undefined when a fault
 * lies in reach, or is not one block's.
 */
export function draftInReach(
  document: WorkflowDocument,
  findings: readonly Finding[],
  reach: Reach,
  registry: Registry,
): { document: WorkflowDocument; registry: Registry } | undefined {
  const errors = findings.filter(({ level }) => level === 'error')
  const faulty = new Set(errors.map(({ blockId }) => blockId))
  const { blocks, edges } = document
  const reached = 'only' in reach ? around(blocks, reach.only) : behindTriggers(document, reach.trigger, registry)
  const isOutside = (id: string | null) => id !== null && Object.hasOwn(blocks, id) && !reached.has(id)
  if (![...faulty].every(isOutside)) return undefined
  const gone = (block: Block) => parentsOf(blocks, block).some((id) => faulty.has(id))
  const standIns = new Map<string, BlockDefinition>()
  const standIn = registry.get('variables')
  if (!standIn) return undefined
  const kept = Object.entries(blocks).flatMap(([id, block]) => {
    if (gone(block)) return []
    if (!faulty.has(id)) return [[id, block] as const]
    // The name stays: a reference to it is to a block that has not run, and not a text. So does the type, for the trace.
    const type = `stand-in for ${block.type}`
    standIns.set(type, { ...standIn, type: block.type })
    return [[id, { ...block, type, params: {}, enabled: false }] as const]
  })
  const ids = new Set(kept.map(([id]) => id))
  const isWhole = (id: string) => ids.has(id) && !faulty.has(id)
  return {
    document: {
      ...document,
      blocks: Object.fromEntries(kept),
      edges: edges.filter(({ source, target }) => isWhole(source) && isWhole(target)),
      loops: onlyOf(document.loops, isWhole),
      parallels: onlyOf(document.parallels, isWhole),
    },
    registry: new Map([...registry, ...standIns]),
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

function behindTriggers(
  { blocks, edges }: WorkflowDocument,
  trigger: TriggerKind | undefined,
  registry: Registry,
): Set<string> {
  const targets = Map.groupBy(edges, ({ source }) => source)
  const reached = new Set<string>()
  const next = Object.keys(blocks).filter((id) => {
    const starts = registry.get(blocks[id]?.type ?? '')?.starts
    return starts !== undefined && (trigger === undefined || starts === trigger)
  })
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    if (reached.has(id)) continue
    reached.add(id)
    next.push(...(targets.get(id) ?? []).map(({ target }) => target))
  }
  return reached
}
