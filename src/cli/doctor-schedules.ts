import { inspectSchedules } from '../store/sqlite/inspect-schedules.ts'
import { databasePath } from '../store/sqlite/open.ts'
import type { Diagnosis } from './doctor.ts'
import { count } from './size.ts'

/** A due time is decided when it comes; one that is so late waits for something that is wrong. */
const lateMs = 5 * 60_000

/** Whether workflows run when they are due. Nothing to say when none has a schedule. `isServed`: a service is running. */
export function examineSchedules(folder: string, now: number, isServed: boolean): Diagnosis[] {
  const check = 'schedules'
  const found = inspectSchedules(databasePath(folder))
  if (!found || found.schedules === 0) return []
  const { schedules, dueAt } = found
  const next = dueAt === null ? 'none is due any more' : `the next is due at ${new Date(dueAt).toISOString()}`
  if (!isServed || dueAt === null || dueAt > now - lateMs) {
    return [{ check, state: 'ok', message: `${count(schedules, 'schedule')}; ${next}.` }]
  }
  const message = `${count(schedules, 'schedule')}; one has been due since ${new Date(dueAt).toISOString()}.`
  const advice = 'The service runs and does not start it: look for "schedules stand still" in its log.'
  return [{ check, state: 'warning', message, advice }]
}
