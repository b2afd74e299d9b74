import { messageOf } from '../../../domain/errors.ts'
import type { Write } from '../../../domain/run/write.ts'
import type { Connection, Sql } from '../connection.ts'
import { failureOf, unavailable } from '../failures.ts'
import { append } from '../writes/append.ts'
import {
  hasLegacyJournal,
  keepLegacyJournal,
  type LegacyContent,
  type LegacyRecord,
  legacyFormat,
  readLegacyJournal,
  removeLegacyJournal,
} from './files.ts'
import { decodeLegacyRecord } from './records.ts'

// Legacy: this folder may be removed one version after the journal.

/**
 * The position up to which the database contains its journal. Generation 0: the database needs no journal. The mark
 * changes in the transaction that imports records, so every record is imported exactly once, even after a crash.
 */
export type LegacyMark = { generation: number; position: number }

/** The SQL that makes a database, or a copy of it, independent of a journal. */
export const forgetLegacyJournal = "UPDATE marks SET value = 0 WHERE name = 'journal-generation'"

/** The process that imports. Only the service, which holds the lock of the data directory, may remove the files. */
export type JournalImporter = 'service' | 'command'

export type ImportOptions = {
  databasePath: string
  /**
   * Whether this process is the service, which holds the lock of the data directory. Only the service completes the
   * import and removes the files: while a command runs, an earlier version may still be writing to them.
   */
  isService: boolean
}

/**
 * Imports the journal of an earlier version, which acknowledged runs when they were in a journal in front of the
 * database. Returns a text for each part that could not be imported; damaged files are kept under other names. When it
 * throws, nothing has changed.
 */
export function importLegacyJournal(connection: Connection, { databasePath, isService }: ImportOptions): string[] {
  if (!isService && !hasLegacyJournal(databasePath)) return []
  const mark = readLegacyMark(connection)
  if (mark.generation === 0) {
    if (isService) removeLegacyJournal(databasePath)
    return []
  }
  const content = read(databasePath, mark)
  if (content.format > legacyFormat) throw unavailable(unknownFormat(content.format))
  if (!isService) {
    // A record that seems damaged may be one that the other process is writing.
    const end = content.missing[0]?.from ?? Number.POSITIVE_INFINITY
    const records = content.records.filter(({ position }) => position < end)
    return connection.write(() => importRecords(connection, databasePath, mark.generation, records))
  }
  const lost = content.isGone || content.missing.length > 0 ? keepDamaged(databasePath, mark.generation, content) : []
  const refused = connection.write(() => {
    const refused = importRecords(connection, databasePath, mark.generation, content.records)
    connection.run(forgetLegacyJournal)
    return refused
  })
  removeLegacyJournal(databasePath)
  return [...lost, ...refused]
}

export function readLegacyMark(sql: Pick<Sql, 'all'>): LegacyMark {
  const rows = sql.all<{ name: string; value: number }>(
    "SELECT name, value FROM marks WHERE name IN ('journal', 'journal-generation')",
  )
  const markNamed = (name: string) => rows.find((row) => row.name === name)?.value ?? 0
  return { generation: markNamed('journal-generation'), position: markNamed('journal') }
}

function read(databasePath: string, { generation, position }: LegacyMark): LegacyContent {
  try {
    return readLegacyJournal(databasePath, generation, position)
  } catch (error) {
    throw unavailable(`The journal of an earlier version cannot be read (${messageOf(error)}). ${readAdvice}`, error)
  }
}

function keepDamaged(databasePath: string, generation: number, { missing, isGone }: LegacyContent): string[] {
  const copies = keepLegacyJournal(databasePath, generation)
  const where = copies.length === 0 ? '' : `. The files are kept as ${copies.join(' and ')}`
  if (isGone) return [journalIsGone + where]
  return missing.map(({ from, to }) => `${rangeOf(from, to)} of the journal: damaged${where}`)
}

export function rangeOf(from: number, to: number): string {
  return from === to ? `record ${from}` : `records ${from} to ${to}`
}

/** Returns a text for each write that failed. One failure must not stop the others. */
function importRecords(sql: Sql, path: string, generation: number, records: readonly LegacyRecord[]): string[] {
  const mark = readLegacyMark(sql)
  // Another process may have imported some of the records.
  const next = mark.generation === generation ? records.filter(({ position }) => position > mark.position) : []
  const lost = next.flatMap((record) => importRecord(sql, path, record))
  if (next.length > 0) sql.run("UPDATE marks SET value = ? WHERE name = 'journal'", next.at(-1)!.position)
  return lost
}

function importRecord(sql: Sql, path: string, { position, text }: LegacyRecord): string[] {
  let writes: Write[]
  try {
    writes = decodeLegacyRecord(text)
  } catch (error) {
    return [`record ${position} of the journal: ${messageOf(error)}`]
  }
  return writes.flatMap((write) => {
    sql.run('SAVEPOINT one')
    try {
      append(sql, [write])
      sql.run('RELEASE one')
      return []
    } catch (error) {
      if (failureOf(error, path)) throw error
      sql.run('ROLLBACK TO one')
      sql.run('RELEASE one')
      return [`${write.kind === 'log' ? write.row.executionId : write.kind}: ${messageOf(error)}`]
    }
  })
}

const journalIsGone =
  'the runs that were acknowledged last: millrace.journal-a and -b do not contain them. The files were damaged or ' +
  'removed, or belong to another installation'
const unknownFormat = (format: number) =>
  `The journal (millrace.journal-a and -b) has format ${format}, which this version cannot read, and holds runs that are ` +
  'not in the database yet. Start the version that wrote it and stop it again: this imports them'
const readAdvice = 'Check that millrace.journal-a and millrace.journal-b are files this user can read, and start again'
