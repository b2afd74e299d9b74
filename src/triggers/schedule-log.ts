import type { ScheduleRow } from '../domain/schedule/schedule.ts'
import type { ScheduleOutcome } from './schedule-decision.ts'

export type ScheduleLogger = {
  debug(message: string, facts: Record<string, unknown>): void
  warn(message: string, facts: Record<string, unknown>): void
}

/** Logs why a due time started no run. Due times that started one, or wait, are not logged. */
export function logOutcome(logger: ScheduleLogger, row: ScheduleRow, dueAt: number, outcome: ScheduleOutcome): void {
  if (outcome === 'started' || outcome === 'waiting') return
  const { level, message } = skips[outcome]
  logger[level](message, { workflowId: row.workflowId, dueAt: new Date(dueAt).toISOString() })
}

const skips = {
  overlap: { level: 'debug', message: 'a due time was skipped: an earlier run is still going' },
  missed: { level: 'debug', message: 'due times were skipped: they passed while the service could not run them' },
  rate: { level: 'warn', message: "a due time was skipped: the owner's rate limit is used up" },
  limit: { level: 'debug', message: 'a due time was skipped: the limits of the workflow allow no further run now' },
  usage: { level: 'warn', message: "a due time was skipped: the owner's usage limit for the month is used up" },
} as const
