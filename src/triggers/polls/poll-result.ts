import type { PollRow } from '../../domain/poll/poll.ts'
import type { PollResult } from './poller-options.ts'

/** The part of a row that a commit or a note sets. */
export function resultOf({ dueAt, state, polledAt, succeededAt, failures, error }: PollRow): PollResult {
  return { dueAt, state, polledAt, succeededAt, failures, error }
}

export function shortened(text: string): string {
  return text.length > errorCharsMax ? `${text.slice(0, errorCharsMax)}…` : text
}

const errorCharsMax = 1_000

export const beyondUsage =
  'The owner of the workspace has reached the usage limit for this month. New items wait until the next month.'

export function beyondLimits(count: number): string {
  const items = count === 1 ? '1 new item waits' : `${count} new items wait`
  return `${items}, because the limits of the workspace or the workflow allow no further run now.`
}
