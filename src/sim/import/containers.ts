import { type SimBlock, type SimContainer, type SimDocument, textOf } from '../sim-document.ts'
import type { MappedBlock } from './mapping.ts'

/** The container of each inner block, by block ID. Skips containers that are missing or form a cycle. */
export function parentsOf(document: SimDocument): { parents: Map<string, string>; notes: string[] } {
  const { blocks } = document
  const wanted = new Map<string, string>()
  const notes: string[] = []
  for (const [id, { parentId, name, type }] of blocks) {
    if (parentId === undefined || type === 'note') continue
    if (isContainer(blocks.get(parentId)) && parentId !== id) wanted.set(id, parentId)
    else notes.push(`"${name || id}" was inside a loop or parallel that is not in the file. It is now outside.`)
  }
  for (const [kind, containers] of [
    ['loop', document.loops],
    ['parallel', document.parallels],
  ] as const) {
    for (const { id, nodes } of containers.values()) {
      if (blocks.get(id)?.type !== kind) continue
      for (const node of nodes) {
        const inner = blocks.get(node)
        if (inner && inner.type !== 'note' && node !== id && !wanted.has(node)) wanted.set(node, id)
      }
    }
  }
  const parents = withoutCycles(wanted)
  for (const id of wanted.keys()) {
    if (parents.has(id)) continue
    notes.push(`"${blocks.get(id)?.name || id}" was inside itself in the file. It is now outside.`)
  }
  return { parents, notes }
}

/** Each block is visited once. */
function withoutCycles(wanted: ReadonlyMap<string, string>): Map<string, string> {
  const parents = new Map<string, string>()
  const settled = new Set<string>()
  for (const first of wanted.keys()) {
    const path = new Set<string>()
    for (let id: string | undefined = first; id !== undefined && !settled.has(id); ) {
      path.add(id)
      const parent = wanted.get(id)
      if (parent !== undefined && !path.has(parent)) parents.set(id, parent)
      id = parent !== undefined && path.has(parent) ? undefined : parent
    }
    for (const id of path) settled.add(id)
  }
  return parents
}

function isContainer(block: SimBlock | undefined): boolean {
  return block?.type === 'loop' || block?.type === 'parallel'
}

/** In Sim, the result of an iteration is a list with the outputs of all its blocks; here, it is the last output. */
export function containerMapping(type: string): MappedBlock {
  return {
    type,
    params: {},
    output: (path) => {
      const isFirstOfIteration = path[0] === 'results' && typeof path[1] === 'number' && path[2] === 0
      return isFirstOfIteration ? [...path.slice(0, 2), ...path.slice(3)] : path
    },
    notes: [
      'Each result is now the output of the last block inside. In Sim, it was a list of the outputs of all blocks.',
    ],
  }
}

/** The inner blocks in the order of the file. */
export function inOrder(ids: readonly string[], listed: readonly string[]): string[] {
  const inside = new Set(ids)
  return [...new Set([...listed.filter((id) => inside.has(id)), ...ids])]
}

const loopTypes = new Set(['for', 'forEach', 'while', 'doWhile'])

/** The settings of a loop, from its entry in the file or from its block. `kept`: settings of the other loop types. */
export function loopOf(block: SimBlock, entry: SimContainer | undefined): Settings {
  const { data } = block
  const settings = entry?.settings ?? {}
  const wanted = textOf(settings['loopType']) || textOf(data['loopType'])
  const loopType = loopTypes.has(wanted) ? wanted : 'for'
  const iterations = settings['iterations'] ?? data['count']
  const items = nonEmpty(settings['forEachItems']) ?? nonEmpty(data['collection'])
  const whileText = textOf(settings['whileCondition']) || textOf(data['whileCondition'])
  const doWhileText = textOf(settings['doWhileCondition']) || textOf(data['doWhileCondition'])
  const condition = loopType === 'doWhile' ? doWhileText || whileText : whileText || doWhileText
  const all = {
    for: { iterations: iterations ?? 5 },
    forEach: items === undefined ? {} : { forEachItems: items },
    while: { condition },
    doWhile: { condition },
  }
  const kept = {
    ...(loopType !== 'forEach' && items !== undefined ? { collection: items } : {}),
    ...(loopType !== 'for' && iterations !== undefined ? { count: iterations } : {}),
    ...(loopType !== 'while' && loopType !== 'doWhile' && condition !== '' ? { whileCondition: condition } : {}),
    ...(loopType === 'while' && doWhileText !== '' && whileText !== '' ? { doWhileCondition: doWhileText } : {}),
    ...(loopType === 'doWhile' && doWhileText !== '' && whileText !== '' ? { whileCondition: whileText } : {}),
  }
  return {
    settings: { loopType, ...all[loopType as keyof typeof all], ...onErrorOf(settings) },
    kept,
    unknown: othersIn(settings, loopMembers),
  }
}

export function parallelOf(block: SimBlock, entry: SimContainer | undefined): Settings {
  const { data } = block
  const settings = entry?.settings ?? {}
  const items = nonEmpty(settings['distribution']) ?? nonEmpty(data['collection'])
  const wanted = textOf(settings['parallelType']) || textOf(data['parallelType'])
  const parallelType = wanted === 'collection' || (wanted === '' && items !== undefined) ? 'collection' : 'count'
  const count = settings['count'] ?? data['count']
  const concurrency = settings['batchSize'] ?? data['batchSize'] ?? settings['concurrency']
  const kept = {
    ...(parallelType === 'count' && items !== undefined ? { collection: items } : {}),
    ...(parallelType === 'collection' && count !== undefined ? { count } : {}),
  }
  const ours = parallelType === 'count' ? { count: count ?? 5 } : items === undefined ? {} : { distribution: items }
  const atOnce = concurrency === undefined ? {} : { concurrency }
  const unknown = othersIn(settings, parallelMembers)
  return { settings: { parallelType, ...ours, ...atOnce, ...onErrorOf(settings) }, kept, unknown }
}

const loopMembers = new Set([
  ...[
    'id',
    'nodes',
    'enabled',
    'locked',
    'loopType',
    'iterations',
    'forEachItems',
    'whileCondition',
    'doWhileCondition',
  ],
  'onError',
])
const parallelMembers = new Set([
  ...[
    'id',
    'nodes',
    'enabled',
    'locked',
    'parallelType',
    'distribution',
    'count',
    'batchSize',
    'concurrency',
    'onError',
  ],
])

/** The settings of a container that this import does not know. */
function othersIn(settings: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !known.has(name)))
}

/** `kept`: settings of another kind of container. `unknown`: those that the import does not know. */
export type Settings = {
  settings: Record<string, unknown>
  kept: Record<string, unknown>
  unknown: Record<string, unknown>
}

/** Only files that we exported have this setting. */
function onErrorOf(settings: Readonly<Record<string, unknown>>): { onError?: unknown } {
  const { onError } = settings
  return onError === 'stop' || onError === 'continue' ? { onError } : {}
}

function nonEmpty(value: unknown): unknown {
  return value === '' || value === null ? undefined : value
}
