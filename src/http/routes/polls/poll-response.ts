import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { type PollRow, pollKinds } from '../../../domain/poll/poll.ts'
import { isoTime, listOf, maybe, Time } from '../../responses/schema-parts.ts'

export const Poll = t.Object({
  blockId: t.String(),
  kind: oneOf(pollKinds, { description: 'What the trigger looks at: a list, a feed or a mailbox.' }),
  lastPollAt: maybe(Time),
  lastSuccessAt: maybe(Time),
  nextPollAt: maybe(Time),
  failures: t.Integer({ description: 'Polls that have failed since the last one that succeeded.' }),
  error: maybe(t.String({ description: 'Why the last poll failed, or why it ignored items or let them wait.' })),
  startedRuns: t.Integer({ description: 'Runs that new items have started.' }),
  lastStartAt: maybe(Time),
})
export const PollList = listOf(Poll)

export function pollResponse(row: PollRow): Static<typeof Poll> {
  const time = (at: number | null) => (at === null ? null : isoTime(at))
  return {
    blockId: row.blockId,
    kind: row.kind,
    lastPollAt: time(row.polledAt),
    lastSuccessAt: time(row.succeededAt),
    nextPollAt: time(row.dueAt),
    failures: row.failures,
    error: row.error,
    startedRuns: row.started,
    lastStartAt: time(row.startedAt),
  }
}
