import { Database } from 'bun:sqlite'

/** What `millrace doctor` learns of a database. `problems` is empty when every page is in order. */
export type Inspection = { problems: readonly string[]; schemaVersion: number; bytes: number }

/** More problems than this tell nobody more. */
const problemsMax = 20

/** Reads every page of a database, also while a service has it open, and changes nothing. Throws what SQLite throws. */
export function inspectDatabase(path: string): Inspection {
  const database = new Database(path, { readonly: true, strict: true })
  try {
    database.run('PRAGMA busy_timeout = 5000')
    const single = <Value>(text: string) => Object.values(database.prepare(text).get() as Record<string, Value>)[0]!
    const rows = database.prepare(`PRAGMA quick_check(${problemsMax})`).all() as { quick_check: string }[]
    return {
      problems: rows.map((row) => row.quick_check).filter((text) => text !== 'ok'),
      schemaVersion: single<number>('PRAGMA user_version'),
      bytes: single<number>('PRAGMA page_count') * single<number>('PRAGMA page_size'),
    }
  } finally {
    database.close()
  }
}
