import type { ScheduleRule } from '../schedule/schedule.ts'

/** The kinds of triggers that look at a list elsewhere. */
export const pollKinds = ['poll', 'rss', 'email'] as const
export type PollKind = (typeof pollKinds)[number]

/**
 * A poll that a version registers when it becomes active. `identity`: a digest of what is polled. A poll keeps its
 * memory when a new version registers the same identity for the same block, and forgets everything otherwise. `rule`:
 * when it is due; null for a kind that is not due by the clock. `firstAt`: when it is due while it remembers nothing.
 */
export type NewPoll = {
  blockId: string
  kind: PollKind
  identity: string
  rule: ScheduleRule | null
  dueAt: number | null
  firstAt: number | null
}

/** How the latest polls went. Times are epoch milliseconds. */
export type PollOutcome = {
  /** When it was polled last; null: never. */
  polledAt: number | null
  /** When a poll succeeded last; null: never. */
  succeededAt: number | null
  /** How many polls failed since then. */
  failures: number
  /** Why the last one failed, without secrets; null when it did not. */
  error: string | null
}

/**
 * A registered poll. `number`: never used for another one. `revision`: rises with each commit and each registration, so
 * that only one of two commits that begin from the same memory succeeds. `state`: what the kind of poll keeps, as text;
 * null before the first poll.
 */
export type PollRow = PollOutcome & {
  number: number
  workflowId: string
  workspaceId: string
  /** The account that owns the workspace. */
  ownerId: string
  blockId: string
  kind: PollKind
  /** The active version. */
  version: number
  rule: ScheduleRule | null
  dueAt: number | null
  revision: number
  state: string | null
  /** When an item last started a run; null: never. */
  startedAt: number | null
  /** Runs that its items started. */
  started: number
}

/** The poll as it was read; a change of it is refused when the store has another revision. */
export type PollPlace = Pick<PollRow, 'number' | 'revision'>

/**
 * The result of a poll that has seen something new. The store commits it together with the jobs that the new items
 * start, or refuses everything. `seen`: hashes of items, all of which count as seen from now on, in the order in which
 * they are forgotten: the last ones stay longest. The store keeps at least those of this commit, and the latest
 * `seenMax` altogether.
 */
export type PollCommit = PollPlace &
  PollOutcome & {
    dueAt: number | null
    state: string | null
    seen: readonly string[]
  }

/**
 * The result of a poll that has seen nothing new, or failed. It starts nothing and keeps the revision. When it is lost,
 * the poll only happens again.
 */
export type PollNote = Omit<PollCommit, 'seen'>

/** How many seen items the store keeps for one poll, besides those of its last commit. */
export const seenMax = 10_000
