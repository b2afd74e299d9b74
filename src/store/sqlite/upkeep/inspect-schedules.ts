import { Database } from 'bun:sqlite'

/** The state of the schedules of an installation. Times are epoch milliseconds. */
export type SchedulesState = {
  schedules: number
  /** When the next one is due; null when none is. */
  dueAt: number | null
}

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
