import type { Level, RunStatus } from '../domain/run/log.ts'
import type { TriggerKind } from '../domain/workflow/workflow.ts'

/** Requests up to `limit` entries of one workspace that match a filter, in `order`, starting after `after`. */
export type LogQuery = {
  workspaceId: string
  filter: LogFilter
  order: 'asc' | 'desc'
  limit: number
  /** The `position` of the previous page; undefined for the first page. */
  after: LogPosition | undefined
  /** The optional parts of the entries. */
  show: EntryShow
}

/**
 * A place in the log, in one order: one or two safe integers, of which the last is the sequence of an entry. Each store
 * also accepts the positions of the other, so that cursors stay valid when an installation moves.
 */
export type LogPosition = readonly number[]

/** An undefined member admits all entries; an unknown ID admits none. Times are epoch ms; ranges are inclusive. */
export type LogFilter = {
  workflowIds: readonly string[] | undefined
  /** Includes their subfolders. */
  folderIds: readonly string[] | undefined
  triggers: readonly TriggerKind[] | undefined
  level: Level | undefined
  statuses: readonly RunStatus[] | undefined
  startDate: number | undefined
  endDate: number | undefined
  executionId: string | undefined
  minDurationMs: number | undefined
  maxDurationMs: number | undefined
  minCost: number | undefined
  maxCost: number | undefined
  model: string | undefined
  /** Part of an error, label, workflow name or ID, in upper or lower case. */
  search: string | undefined
  /** Pairs of a name and a text; an entry must have all of them. */
  labels: readonly (readonly [name: string, text: string])[] | undefined
}

/** `failure`: why the run failed, as `error`. `isV2`: in the shape of `/api/v2`. */
export type EntryShow = {
  details: boolean
  finalOutput: boolean
  traceSpans: boolean
  failure: boolean
  isV2?: boolean
}

export type LogPage = {
  /** The entries as JSON, separated by commas. */
  entries: string
  count: number
  /** The `RunFile`s of each run that has files, as JSON text. */
  files: readonly string[]
  /** Where the next page starts; null when nothing was read. */
  position: LogPosition | null
  /**
   * Why the page ends. `limit`: it is full and, newest first, there are more entries. `size`: its text is long enough;
   * the rest starts after `position`. `bound`: the search has reached its limit of time or rows. `last`: there are no
   * more entries in this direction.
   */
  end: 'limit' | 'size' | 'bound' | 'last'
}

/** Requests counts of a workspace's entries by start time: `count` buckets of `bucketMs`, starting at `from`. */
export type LogCountQuery = {
  workspaceId: string
  filter: LogFilter
  from: number
  bucketMs: number
  count: number
  /** The `position` of the previous part, a sequence; undefined for the first part, which has the newest entries. */
  before: number | undefined
}

/** The counts of one part of a query, one number per bucket. The caller adds up the parts. */
export type LogCounts = {
  success: number[]
  error: number[]
  cancelled: number[]
  /** US dollars. */
  cost: number[]
  /** Where the next part starts; null when everything is counted. */
  position: number | null
}
