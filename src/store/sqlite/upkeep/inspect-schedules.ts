import { Database } from 'bun:sqlite'
import type { SchedulesState } from '../../inspection.ts'

/** Undefined for a database that cannot be read or is not ours (`inspectDatabase` reports that). */
export function inspectSchedules(path: string): SchedulesState | undefined {
  let database: Database | undefined
  try {
    database = new Database(path, { readonly: true, strict: true })
    const select = 'SELECT count(*) AS schedules, min(due_at) AS dueAt FROM schedules'
    return database.query<SchedulesState, []>(select).get() ?? undefined
  } catch {
    return undefined
  } finally {
    database?.close()
  }
}
