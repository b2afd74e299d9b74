import type {
  EntryOutcome,
  EntryPage,
  EntryQuery,
  EntryRequest,
  EntryRow,
  EntryScope,
} from '../../domain/entry/entry.ts'

/** The part of the port for entries: what workflows keep between their runs. Expired entries are not found. */
export interface EntryStore {
  /**
   * Changes entries one after the other, in one transaction. Returns an outcome for each request: a change that is not
   * possible does not prevent the others. `bytesMax`: of the entries of one workspace.
   */
  changeEntries(requests: readonly EntryRequest[], bytesMax: number): Promise<EntryOutcome[]>
  /** The entries at these keys, in the order of the requests. */
  readEntries(keys: readonly EntryKey[]): Promise<(EntryRow | null)[]>
  listEntries(query: EntryQuery): Promise<EntryPage>
  /** Bytes of all entries of a workspace, with the expired ones that were not deleted yet. */
  getEntryBytes(workspaceId: string): Promise<number>
  /**
   * Deletes some of the entries that expired or whose workflow was deleted before a time, and forgets changes of runs
   * that have ended. Call it again until it returns true: then there is nothing more to do.
   */
  cleanEntries(bounds: EntryUpkeep): Promise<boolean>
}

export type EntryKey = EntryScope & { key: string; now: number }

export type EntryUpkeep = {
  now: number
  /** Entries of workflows that were deleted before this time; absent: they stay for now. */
  workflowsDeletedBefore?: number
  /** Changes are remembered at least since this time: their run may become an asynchronous one. */
  changesBefore: number
}

/** Rows that one step of the upkeep deletes or examines. */
export const entryStepRows = 1_000
/** Expired entries that a change deletes when the workspace has no room. */
export const expiredAtOnceMax = 5_000
