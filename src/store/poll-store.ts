import type { PollKind, PollNote, PollPlace, PollRow } from '../domain/poll/poll.ts'

/**
 * The part of the port for polls. `deploy`, `activate` and `undeploy` register them and remove them; an `append` of a
 * `poll` write commits what one has found, together with the jobs that its new items start.
 */
export interface PollStore {
  /** Up to `limit` polls in order of due time. `after`: the last one of the previous page. */
  listDuePolls(limit: number, after?: Pick<PollRow, 'dueAt' | 'number'>): Promise<PollRow[]>
  /** Up to `limit` polls of a kind, by number. `after`: the last number of the previous page. */
  listPollsOfKind(kind: PollKind, limit: number, after?: number): Promise<PollRow[]>
  /** The polls of a workflow's active version. */
  listPolls(workflowId: string): Promise<PollRow[]>
  /** Makes a poll due, unless it is not due by the clock. False when there is no such poll. */
  makePollDue(workflowId: string, blockId: string, at: number): Promise<boolean>
  /** The given hashes that the poll has seen; undefined when the poll has changed since it was read. */
  findSeen(poll: PollPlace, hashes: readonly string[]): Promise<string[] | undefined>
  /** Stores the results of polls that have seen nothing new. Skips polls that have changed since they were read. */
  notePolls(notes: readonly PollNote[]): Promise<void>
}
