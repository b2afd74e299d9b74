import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { sealedKinds } from '../../account-store.ts'
import { migrations } from '../migrations/migrations.ts'
import { applicationId, unfinishedMoveId } from '../open.ts'
import { selectSealHeads } from '../tables/environment.ts'
import { selectSealedDocuments, selectSealedSample } from '../tables/sealed-documents.ts'
import { countSealedText, tableOfSealed } from '../tables/sealed-values.ts'

/** The result of checking a database. `problems` is empty when every page is in order. */
export type Inspection = {
  problems: readonly string[]
  schemaVersion: number
  /** Whether a newer version of this program wrote the database. */
  tooNew: boolean
  /** Whether the database belongs to another program, or to none. */
  foreign: boolean
  /** Whether `millrace move` has not completed it. */
  unfinished: boolean
  bytes: number
}

/** The maximum number of reported problems. */
const problemsMax = 20

/**
 * Reads every page of a database, also while a service has it open, and changes nothing. `thorough` also compares
 * indexes with their tables, which takes several times as long. Throws SQLite's error when the file cannot be read at
 * all.
 */
export function inspectDatabase(path: string, { thorough = false }: { thorough?: boolean } = {}): Inspection {
  const database = new Database(path, { readonly: true, strict: true })
  try {
    database.run('PRAGMA busy_timeout = 5000')
    const single = <Value>(text: string) => Object.values(database.prepare(text).get() as Record<string, Value>)[0]!
    const check = thorough ? 'integrity_check' : 'quick_check'
    const rows = database.prepare(`PRAGMA ${check}(${problemsMax})`).all() as Record<string, string>[]
    const schemaVersion = single<number>('PRAGMA user_version')
    const id = single<number>('PRAGMA application_id')
    return {
      problems: rows
        .flatMap((row) => row[check]!.split('\n'))
        .filter((line) => line !== 'ok' && !line.startsWith('***')),
      schemaVersion,
      tooNew: schemaVersion > migrations.length,
      foreign: id !== applicationId && id !== unfinishedMoveId,
      unfinished: id === unfinishedMoveId,
      bytes: single<number>('PRAGMA page_count') * single<number>('PRAGMA page_size'),
    }
  } finally {
    database.close()
  }
}

/**
 * The distinct first bytes of everything that is stored encrypted: they identify the key. Empty for a database that has
 * nothing encrypted, or cannot be read (`inspectDatabase` reports that).
 */
export function sealHeadsIn(path: string, length: number): Uint8Array[] {
  let database: Database | undefined
  try {
    database = new Database(path, { readonly: true, strict: true })
    const rows = database.prepare(selectSealHeads(tablesOf(database))).all(length)
    return (rows as { head: Uint8Array }[]).map(({ head }) => head)
  } catch {
    return []
  } finally {
    database?.close()
  }
}

/** Before the first start after an update, a database may lack the newest tables. */
function tablesOf(database: Database): (name: string) => boolean {
  const rows = database.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[]
  const names = new Set(rows.map(({ name }) => name))
  return (name) => names.has(name)
}

/** A sample of the documents with sealed secrets, as JSON. Empty when the database cannot be read. */
export function sealedDocumentsIn(path: string): string[] {
  let database: Database | undefined
  try {
    database = new Database(path, { readonly: true, strict: true })
    const rows = database.prepare(selectSealedSample).all()
    return (rows as { document: string }[]).map(({ document }) => document)
  } catch {
    return []
  } finally {
    database?.close()
  }
}

/** All of them, one after the other. */
export function* allSealedDocumentsIn(path: string): Generator<string> {
  if (!existsSync(path)) return
  const database = new Database(path, { readonly: true, strict: true })
  try {
    for (const row of database.prepare(selectSealedDocuments).iterate()) yield (row as { document: string }).document
  } finally {
    database.close()
  }
}

/** How many sealed values, apart from documents, do not begin with a head. Reads them all. */
export function countSealedOtherwiseIn(path: string, head: Uint8Array): number {
  if (!existsSync(path)) return 0
  const database = new Database(path, { readonly: true, strict: true })
  try {
    const hasTable = tablesOf(database)
    const kinds = sealedKinds.filter((kind) => hasTable(tableOfSealed(kind)))
    return kinds.reduce((sum, kind) => {
      const row = database.prepare(countSealedText(kind)).get(head.length, head) as { count: number }
      return sum + row.count
    }, 0)
  } finally {
    database.close()
  }
}
