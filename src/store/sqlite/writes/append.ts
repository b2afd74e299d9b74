import type { Refusal } from '../../../domain/run/claim.ts'
import type { LogRow } from '../../../domain/run/log.ts'
import type { Write } from '../../../domain/run/write.ts'
import { writeEvaluation } from '../alerts/evaluations.ts'
import type { Sql } from '../connection.ts'
import { commitPoll } from '../polls/poll-rows.ts'
import { keepTurn } from './chats.ts'
import { claimOf, claimRequest, releaseRequest, takeStep } from './claims.ts'
import { endJob, insertJob, insertStep, replaceInput, startJob, suspendJob } from './jobs.ts'
import { appendLogs } from './logs.ts'
import { insertPauseEvent } from './pause-events.ts'
import { pauseJob } from './pauses.ts'

/** The hot path: writes one group. Returns which writes were refused; undefined when none was. */
export function append(sql: Sql, writes: readonly Write[]): readonly Refusal[] | undefined {
  const rows: LogRow[] = []
  const refusals: Refusal[] = []
  let ended: ReadonlySet<string> | undefined
  for (const [index, write] of writes.entries()) {
    if (write.kind === 'log') {
      rows.push(write.row)
      if (write.row.createdAt !== null) {
        endJob(sql, write.row.executionId, write.output, write.row.endedAt)
        if (write.row.level === 'error') releaseRequest(sql, write.row.executionId)
      }
      if (write.claim) claimRequest(sql, write.row, write.claim)
    } else if (write.kind === 'job') {
      const refused = write.claim && claimOf(sql, write.row, write.claim)
      ended ??= endedIn(writes)
      if (refused) refusals.push({ index, ...refused })
      else if (!ended.has(write.row.executionId)) insertJob(sql, write.row)
    } else if (write.kind === 'job-input') {
      if (!replaceInput(sql, write)) refusals.push({ index, executionId: null })
    } else if (write.kind === 'schedule') {
      if (!takeStep(sql, write.step)) refusals.push({ index, executionId: null })
    } else if (write.kind === 'poll') {
      if (!commitPoll(sql, write.poll, write.jobs.length)) refusals.push({ index, executionId: null })
      else for (const job of write.jobs) insertJob(sql, job)
    } else if (write.kind === 'job-start') {
      startJob(sql, write.executionId, write.at)
      if (write.event) insertPauseEvent(sql, write.executionId, write.event)
    } else if (write.kind === 'job-event') insertPauseEvent(sql, write.executionId, write.event)
    else if (write.kind === 'alerts') {
      if (!writeEvaluation(sql, write.evaluation)) refusals.push({ index, executionId: null })
    } else if (write.kind === 'job-wait') suspendJob(sql, write.executionId, write.at)
    else if (write.kind === 'job-step') insertStep(sql, write)
    else if (write.kind === 'job-pause') {
      if (!pauseJob(sql, write)) refusals.push({ index, executionId: null })
      else if (write.event) insertPauseEvent(sql, write.executionId, write.event)
    } else keepTurn(sql, write)
  }
  if (rows.length > 0) appendLogs(sql, rows)
  return refusals.length > 0 ? refusals : undefined
}

/** Runs that end in the group that accepts them. They need not become jobs. */
function endedIn(writes: readonly Write[]): ReadonlySet<string> {
  return new Set(writes.flatMap((write) => (write.kind === 'log' ? write.row.executionId : [])))
}
