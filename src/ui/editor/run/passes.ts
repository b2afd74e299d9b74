import type { Pass } from './run-focus.ts'
import { type EarlierRun, entriesOf, type RunEntry, type RunState, shownEntry } from './run-state.ts'

/** The executions of one block in a run, in the order in which they started. */
export function passesOf(entries: readonly RunEntry[], blockId: string): RunEntry[] {
  return entries.filter((entry) => entry.blockId === blockId && entry.depth === 0)
}

/**
 * The pass of a block that is shown: the chosen one, or one in the iteration of the chosen one, or else the one that
 * its card represents.
 */
export function passOf(
  state: Pick<RunState, 'entries' | 'before' | 'executionId'>,
  blockId: string,
  chosen: Pass | undefined,
): RunEntry | undefined {
  const entries = entriesOf(state, blockId)
  const passes = passesOf(entries, blockId)
  const isOfRun = chosen !== undefined && chosen.executionId === runOf(state, entries)
  const own = isOfRun ? passes.find(({ spanId }) => spanId === chosen.spanId) : undefined
  if (own) return own
  const around = isOfRun ? passes.findLast(({ iterations }) => agree(iterations, chosen.iterations)) : undefined
  return around ?? shownEntry(entries, blockId) ?? passes.at(-1)
}

/** The id of the run that has these entries. */
export function runOf(
  { before, entries: own, executionId }: Pick<RunState, 'entries' | 'before' | 'executionId'>,
  entries: EarlierRun['entries'],
): string | undefined {
  return entries === own ? executionId : before?.executionId
}

/** Whether two places are in the same iteration of every loop and parallel that surrounds both. */
function agree(a: readonly number[], b: readonly number[]): boolean {
  const shared = Math.min(a.length, b.length)
  return shared > 0 && a.slice(0, shared).every((index, depth) => index === b[depth])
}

/** The entry on the canvas that contains an entry: itself, or the block that called its sub-workflow. */
export function entryOnCanvas(entries: readonly RunEntry[], entry: RunEntry): RunEntry | undefined {
  const known = new Map(entries.map((one) => [one.spanId, one]))
  let one: RunEntry | undefined = entry
  while (one && one.depth > 0) one = known.get(one.parentId ?? '')
  return one
}

/** The innermost pass that made a run fail, on the canvas: in a loop, the failed block of the failed iteration. */
export function failedPass({ entries, error }: Pick<RunState, 'entries' | 'error'>): RunEntry | undefined {
  const failed = entries.filter(({ status, depth }) => status === 'error' && depth === 0)
  let found = error?.blockId ? failed.findLast(({ blockId }) => blockId === error.blockId) : undefined
  // The ids of spans grow, so this ends.
  for (let inner = found; inner; inner = failed.find(({ parentId }) => parentId === inner?.spanId)) found = inner
  return found
}

/** The line of the code, or the branch of the condition, that an error names. */
export function placeOfError(message: string): { line: number | undefined; branch: string | undefined } {
  const line = /\(line (\d+)\)$/.exec(message)?.[1]
  const branch = /^The expression of branch "(.+?)" failed: /s.exec(message)?.[1]
  return { line: line === undefined ? undefined : Number(line), branch }
}
