import type { Level } from '../domain/run/log.ts'
import type { TriggerKind } from '../domain/workflow/workflow.ts'

/** Entries of one workspace that a filter admits, beyond `after` in `order`, at most `limit`. */
export type LogQuery = {
  workspaceId: string
  filter: LogFilter
  order: 'asc' | 'desc'
  limit: number
  /** The `position` of the page before; undefined starts at the end that `order` names. */
  after: number | undefined
  /** The optional parts of the entries. */
  show: EntryShow
}

/** Undefined admits everything. Times are epoch milliseconds; ranges are inclusive; ids of nothing admit nothing. */
export type LogFilter = {
  workflowIds: readonly string[] | undefined
  /** With the folders below them. */
  folderIds: readonly string[] | undefined
  triggers: readonly TriggerKind[] | undefined
  level: Level | undefined
  startDate: number | undefined
  endDate: number | undefined
  executionId: string | undefined
  minDurationMs: number | undefined
  maxDurationMs: number | undefined
  minCost: number | undefined
  maxCost: number | undefined
  model: string | undefined
}

export type EntryShow = { details: boolean; finalOutput: boolean; traceSpans: boolean }

export type LogPage = {
  /** In list form, as JSON, with commas between them. */
  entries: string
  count: number
  /** JSON texts of the `RunFile`s of those runs that have files. */
  files: readonly string[]
  /** Where to go on. Null when there was nothing to go past. */
  position: number | null
  /**
   * Why the page ends here. `limit`: it is full, and (newest first) there is more. `size`: its text is long enough;
   * the rest of the page is behind `position`. `bound`: the search has looked at as much as one query may.
   * `last`: nothing more is recorded in this direction.
   */
  end: 'limit' | 'size' | 'bound' | 'last'
}

/** Counts of a workspace's entries over time: `count` buckets of `bucketMs` from `from` on, by when runs started. */
export type LogCountQuery = {
  workspaceId: string
  filter: LogFilter
  from: number
  bucketMs: number
  count: number
  /** The `position` of the part before; undefined begins with the newest entries. */
  before: number | undefined
}

/** The counts of one part of a query, one number per bucket. Parts are added up. */
export type LogCounts = {
  info: number[]
  error: number[]
  /** US dollars. */
  cost: number[]
  /** Where to go on; null when all is counted. */
  position: number | null
}
