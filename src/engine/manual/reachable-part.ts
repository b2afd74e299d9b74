import type { Finding, StartKind, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { BlockDefinition } from '../block.ts'
import type { Registry } from '../compile/graph.ts'

/**
 * The blocks that a manual run can reach: one block alone; or all blocks after a trigger (after any trigger if none is
 * given) and after the blocks in `through`, at which the run continues or ends.
 */
export type Reach = { only: string } | { trigger: StartKind | undefined; through: readonly string[] }

export type ReachablePart = {
  document: WorkflowDocument
  /** The registry to compile `document` with. */
  registry: Registry
  reached: ReadonlySet<string>
  /** Ids of the blocks that were replaced. */
  standIns: ReadonlySet<string>
}

/**
 * Replaces faulty blocks that a manual run cannot reach by stand-ins that do nothing, so that authors can try the
 * finished part of a draft. Undefined when a reachable block has an error, or an error belongs to no block.
 */
export function reachablePart(
  document: WorkflowDocument,
  findings: readonly Finding[],
  reach: Reach,
  registry: Registry,
): ReachablePart | undefined {
  const errors = findings.filter(({ level }) => level === 'error')
  const faulty = new Set(errors.map(({ blockId }) => blockId))
  const { blocks, edges } = document
  const reached = 'only' in reach ? around(blocks, reach.only) : behindTriggers(document, reach, registry)
  const isUnreachable = (id: string | null) => id !== null && Object.hasOwn(blocks, id) && !reached.has(id)
  const definition = registry.get('variables')
  if (!definition || ![...faulty].every(isUnreachable)) return undefined
  const standIns = new Set<string>()
  const definitions = new Map<string, BlockDefinition>()
  const isFaulty = withContainers(blocks, (id) => faulty.has(id))
  const all = Object.entries(blocks).map(([id, block]) => {
    if (!isFaulty(id)) return [id, block] as const
    standIns.add(id)
    // The name stays, so that references to it stay references and are null. The type stays, for the trace.
    const type = `stand-in for ${block.type}`
    definitions.set(type, { ...definition, type: block.type })
    return [id, { ...block, type, params: {}, enabled: false, parentId: null }] as const
  })
  const isUnchanged = (id: string) => !standIns.has(id)
  return {
    document: {
      ...document,
      blocks: Object.fromEntries(all),
      edges: edges.filter(({ source, target }) => isUnchanged(source) && isUnchanged(target)),
      loops: onlyOf(document.loops, isUnchanged),
      parallels: onlyOf(document.parallels, isUnchanged),
    },
    registry: new Map([...registry, ...definitions]),
    reached,
    standIns,
  }
}

function onlyOf<Value>(entries: Record<string, Value> | undefined, isIncluded: (id: string) => boolean) {
  return Object.fromEntries(Object.entries(entries ?? {}).filter(([id]) => isIncluded(id)))
}

/** The ids of a block, of its containers, and of the blocks inside it. */
function around(blocks: WorkflowDocument['blocks'], blockId: string): Set<string> {
  const isInside = withContainers(blocks, (id) => id === blockId)
  return new Set([...parentsOf(blocks, blockId), blockId, ...Object.keys(blocks).filter(isInside)])
}

/** The ids of the containers around a block, innermost first. */
function parentsOf(blocks: WorkflowDocument['blocks'], blockId: string): Set<string> {
  const parents = new Set<string>()
  for (let id = parentOf(blocks, blockId); id && !parents.has(id); id = parentOf(blocks, id)) parents.add(id)
  return parents
}

function parentOf(blocks: WorkflowDocument['blocks'], id: string): string | null | undefined {
  return Object.hasOwn(blocks, id) ? blocks[id]?.parentId : undefined
}

/** Whether `test` holds for a block or one of the containers around it. Tests each block once. */
function withContainers(blocks: WorkflowDocument['blocks'], test: (id: string) => boolean): (id: string) => boolean {
  const known = new Map<string, boolean>()
  return (blockId) => {
    const chain: string[] = []
    let id: string | null | undefined = blockId
    let holds = false
    for (; id && !holds && !known.has(id); id = parentOf(blocks, id)) {
      // Containers that form a cycle end the walk here.
      known.set(id, false)
      chain.push(id)
      holds = test(id)
    }
    holds ||= id ? (known.get(id) ?? false) : false
    for (const each of chain) known.set(each, holds)
    return holds
  }
}

function behindTriggers(
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
    for (const { target } of targets.get(id) ?? []) next.push(target)
  }
  return reached
}
