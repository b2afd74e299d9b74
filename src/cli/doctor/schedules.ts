import type { SchedulesState } from '../../store/inspection.ts'
import { count } from '../support/size.ts'
import type { Diagnosis } from './diagnosis.ts'

/** The service decides a due time immediately, so a longer delay indicates a fault. */
const lateMs = 5 * 60_000

/** Checks whether schedules run on time. Reports nothing without schedules. `isServed`: whether the service runs. */
export function examineSchedules(found: SchedulesState | undefined, now: number, isServed: boolean): Diagnosis[] {
  const check = 'schedules'
  if (!found || found.schedules === 0) return []
  const { schedules, dueAt } = found
  const next = dueAt === null ? 'no run is due' : `the next run is due at ${new Date(dueAt).toISOString()}`
  if (!isServed || dueAt === null || dueAt > now - lateMs) {
    return [{ check, state: 'ok', message: `${count(schedules, 'schedule')}; ${next}.` }]
  }
  const message = `${count(schedules, 'schedule')}; a run has been due since ${new Date(dueAt).toISOString()}.`
  const advice = 'The service is running but did not start it. Look for "the scheduler cannot continue" in its log.'
  return [{ check, state: 'warning', message, advice }]
}
