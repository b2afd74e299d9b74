import type { Clock } from '../../domain/clock.ts'
import type { FirstPoll, PollAnswer, Validators } from '../../domain/poll/answer.ts'
import type { PollPlace, PollRow } from '../../domain/poll/poll.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { Store } from '../../store/store.ts'
import type { PollTurnsOptions } from './poll-turns.ts'

/** The request of a poll. `origin`: whose polls are limited together. */
export type PollSource = {
  origin: string
  first: FirstPoll
  send(validators: Validators, signal: AbortSignal): Promise<PollAnswer>
}

/** The part of a poll's row that a commit sets. */
export type PollResult = Pick<PollRow, 'dueAt' | 'state' | 'polledAt' | 'succeededAt' | 'failures' | 'error'>

/** See `Jobs.acceptPolled`. */
export type AcceptPolled = (starts: {
  poll: PollPlace
  starts: readonly { hash?: string; request: PolledRequest }[]
  known: readonly string[]
  whole: PollResult
  part: PollResult
  admit(): boolean
}) => Promise<{ taken: number; started: readonly string[]; isFull: boolean } | undefined>

/** The request for the run of a new item. */
export type PolledRequest = {
  workflowId: string
  workspaceId: string
  version: number
  trigger: 'poll' | 'rss'
  input: TriggerInput
}

/** How a poll ended. `late`: milliseconds between its due time and its request. */
export type PollReport = {
  row: PollRow
  outcome: 'new' | 'unchanged' | 'failed' | 'refused'
  started: number
  late: number
}

export type PollerOptions<Account> = {
  store: Pick<Store, 'listDuePolls' | 'listPolls' | 'findSeen' | 'notePolls'>
  clock: Clock
  /** 0 ≤ n < 1. */
  random(): number
  /** Undefined when the version or its trigger does not exist any more. */
  sourceOf(row: PollRow): Promise<PollSource | undefined>
  accept: AcceptPolled
  limits: {
    account(ownerId: string): Account | Promise<Account>
    isWithinUsage(account: Account): boolean
    take(kind: 'async', account: Account): { allowed: boolean }
  }
  turns: PollTurnsOptions
  onPolled(report: PollReport): void
  /** Called when polls cannot proceed. They are tried again some seconds later. */
  onTrouble(error: unknown): void
  /** Polls in memory, those that are due first. */
  windowMax?: number
  /** Whether this process polls: only one does. True when absent. */
  isLeader?(): boolean
}
