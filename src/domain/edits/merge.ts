import { alignNames } from './align-names.ts'
import {
  applyChanges,
  type Change,
  changesBetween,
  type EditedDocument,
  edgesByKey,
  isCollection,
  type Members,
  valueAt,
} from './change.ts'
import { mergeRows } from './merge-rows.ts'
import { repair } from './repair.ts'
import { isRecord, own, sameValue } from './same-value.ts'

/**
 * A value that two people changed differently. Undefined: it was removed. A block or note that one of them removed and
 * the other one changed is one conflict, with the path of the whole. `isList`: the values are lists that are merged
 * already, except for the rows that both changed.
 */
export type Conflict = { path: readonly string[]; base: unknown; mine: unknown; theirs: unknown; isList?: true }

export type Merge<Doc> = {
  /** Mine with everything of theirs that contradicts none of my changes. */
  document: Doc
  conflicts: Conflict[]
}

/**
 * Merges two documents that were made from the same one, in time n log n at most. Changes of different values are both
 * kept. The same value with two new values is a conflict, except a position: mine stays. Lists are merged row by row.
 * Blocks that were renamed keep their references. Of two new blocks with the same name, mine gets another one. `tidy`
 * applies the rules of the caller's documents to the result.
 */
export function merge<Doc extends EditedDocument>(
  original: { base: Doc; mine: Doc; theirs: Doc },
  tidy: (document: Doc) => Doc = (document) => document,
): Merge<Doc> {
  const { base, mine, theirs } = alignNames(original)
  const changes = changesBetween(base, theirs)
  if (changes.length === 0) return { document: mine, conflicts: [] }
  const conflicts = new Map<string, Conflict>()
  const lists: Change[] = []
  const conflict = (path: readonly string[]) => {
    const [was, is, will] = [base, mine, theirs].map((document) => valueAt(document, path))
    const merged = path[2] === 'params' ? mergeRows({ base: was, mine: is, theirs: will }) : undefined
    if (merged) lists.push({ path, before: is, after: merged.mine })
    if (merged && sameValue(merged.mine, merged.theirs)) return
    const values = merged ? { ...merged, isList: true as const } : { mine: is, theirs: will }
    conflicts.set(JSON.stringify(path), { path, base: was, ...values })
  }
  const sides = { base, mine, theirs }
  const taken = changes.filter((change) => change.path[0] !== 'edges' && isTaken(change, sides, conflict))
  // A block of mine that they removed stays with its connections until the conflict is resolved.
  const kept = new Set([...conflicts.values()].flatMap(({ path: [kind, id = ''] }) => (kind === 'blocks' ? [id] : [])))
  const isOfKept = ({ path }: Change) => path[0] !== 'edges' && path.length === 2 && kept.has(path[1] ?? '')
  const edges = changes.filter(({ path, before, after }) => {
    if (path[0] !== 'edges') return false
    const { source = '', target = '' } = (before ?? after) as { source?: string; target?: string }
    if (after === undefined) return !(kept.has(source) || kept.has(target))
    // Both made a block with the same ID, so their line does not belong to mine.
    return ![source, target].some((id) => kept.has(id) && !own(base.blocks, id))
  })
  const merged = applyChanges(mine, [...taken.filter((change) => !isOfKept(change)), ...lists, ...edges])
  const there = edgesByKey(mine.edges)
  const added = new Set(edges.flatMap(({ path: [, key = ''], after }) => (after && !there.has(key) ? [key] : [])))
  return { document: tidy(repair(merged, added)), conflicts: [...conflicts.values()] }
}

type Sides = { base: EditedDocument; mine: EditedDocument; theirs: EditedDocument }

/** Whether a change of theirs goes into my document. Reports a conflict when it contradicts a change of mine. */
function isTaken(
  { path, before, after }: Change,
  { base, mine, theirs }: Sides,
  conflict: (path: readonly string[]) => void,
): boolean {
  const [collection = '', id = '', member] = path
  const isContainer = collection === 'loops' || collection === 'parallels'
  const gone = isContainer && !own(mine.blocks, id) && own(base.blocks, id) ? ['blocks', id] : goneAt(path, mine)
  if (gone) {
    // They changed something inside what I removed.
    if (!isPlacement(path) && valueAt(theirs, gone) !== undefined) conflict(gone)
    return false
  }
  const current = valueAt(mine, path)
  if (sameValue(current, after)) return false
  if (isPlacement(path)) {
    const isMoved = collection === 'blocks' && parentOf(theirs, id) !== parentOf(base, id)
    // A position is relative to the container, so a block that they moved into another one has their position.
    return sameValue(current, before) || (isMoved && parentOf(mine, id) === parentOf(base, id))
  }
  const isWhole = member === undefined && (collection === 'blocks' || collection === 'notes')
  if (isWhole ? sameWithoutPlace(current, before) && sameSettings(mine, base, id) : sameValue(current, before))
    return true
  if (isContainer && member === undefined && after === undefined) {
    // The settings go with their block.
    if (own(mine.blocks, id)) conflict(['blocks', id])
    return false
  }
  conflict(path)
  return false
}

/** The path of the value that contains this one and that does not exist in the document; undefined when it exists. */
function goneAt(path: readonly string[], document: EditedDocument): readonly string[] | undefined {
  for (let depth = 1; depth < path.length; depth += 1) {
    const outer = path.slice(0, depth)
    const value = valueAt(document, outer)
    if (value === undefined && isCollection(outer)) return undefined
    if (!isRecord(value)) return outer
  }
  return undefined
}

function isPlacement([collection, , member]: readonly string[]): boolean {
  if (collection === 'notes') return member === 'position' || member === 'width' || member === 'height'
  return collection === 'blocks' && member === 'position'
}

function parentOf({ blocks }: EditedDocument, id: string): string | null {
  return own(blocks, id)?.parentId ?? null
}

function sameWithoutPlace(a: unknown, b: unknown): boolean {
  return sameValue(withoutPlace(a), withoutPlace(b))
}

function withoutPlace(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { position: _p, width: _w, height: _h, ...rest } = value
  return rest
}

/** Whether two documents have the same settings for a loop or parallel. */
function sameSettings(a: EditedDocument, b: EditedDocument, id: string): boolean {
  return (
    sameValue(settingsOf(own(a.loops, id)), settingsOf(own(b.loops, id))) &&
    sameValue(settingsOf(own(a.parallels, id)), settingsOf(own(b.parallels, id)))
  )
}

function settingsOf(entry: object | undefined): unknown {
  if (!entry) return undefined
  const { nodes: _, ...settings } = entry as Members
  return settings
}

/**
 * The changes that take their side of conflicts in my document. The name of a block is not among them: references
 * follow a new name, so it is an edit of its own.
 */
export function changesToTheirs<Doc extends EditedDocument>(
  conflicts: readonly Conflict[],
  mine: Doc,
  theirs: Doc,
): Change[] {
  const chosen = new Set(conflicts.flatMap(({ path: [kind, id = ''] }) => (kind === 'blocks' ? [id] : [])))
  const whole = conflicts.flatMap(({ path, isList, theirs: list }): Change[] => {
    const change = { path, before: valueAt(mine, path), after: isList ? list : valueAt(theirs, path) }
    const [kind, id = ''] = path
    if (kind !== 'blocks' || path.length > 2) return [change]
    const settings = (['loops', 'parallels'] as const).map((list) => {
      return { path: [list, id], before: own(mine[list], id), after: own(theirs[list], id) }
    })
    return [change, ...settings.filter(({ before, after }) => before !== after)]
  })
  const isRestored = (id: string) => chosen.has(id) && !own(mine.blocks, id)
  const there = edgesByKey(mine.edges)
  const edges = [...edgesByKey(theirs.edges)].flatMap(([key, edge]): Change[] =>
    !there.has(key) && (isRestored(edge.source) || isRestored(edge.target))
      ? [{ path: ['edges', key], before: undefined, after: edge }]
      : [],
  )
  return [...whole, ...edges]
}
