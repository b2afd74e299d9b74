import { AppError, messageOf } from '../../domain/errors.ts'
import type { Write } from '../../domain/write.ts'
import { append } from './append.ts'
import { walBytesOf } from './checkpoints.ts'
import type { Connection, Sql } from './connection.ts'
import { failureOf, unavailable } from './failures.ts'
import { decodeGroup } from './group.ts'
import {
  hasJournal,
  type JournalContent,
  type JournalRecord,
  journalForm,
  readJournal,
  setJournalAside,
} from './journal-file.ts'

/**
 * How far the database has come in the journal. `generation` 0: there is no journal, all that it held is in the database.
 * It changes in the transaction that takes records in, so each is taken in once, whoever does it and whatever crashes.
 */
export type JournalMark = { generation: number; position: number }

/** What was taken in: `walBytes` is what that added to the WAL, an estimate; `lost` are writes that the database refused. */
export type Taken = { walBytes: number; lost: string[] }

export type IntakeOptions = {
  databasePath: string
  /** Whether this process is the service, which alone writes to the journal. Another may be doing so now, if not. */
  own: boolean
  /** A transaction whose commit need not be flushed: the journal has what it writes. */
  write(connection: Connection, run: () => void): void
}

/**
 * Takes records of the journal into the database. In the service it is handed them while they are written. Before that, and in
 * other processes, it looks for what a process that died has left.
 */
export class Intake {
  readonly #options: IntakeOptions
  #generation = 0
  /** Records of this generation that the database does not have yet. */
  #held: JournalRecord[] = []
  /** Whether what an earlier process left has been looked for. */
  #isRecovered = false
  #refusal: AppError | undefined
  #taken: Taken = { walBytes: 0, lost: [] }

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  /** Why the database must not be opened: a newer program wrote what is left. Known after the first `take`. */
  get refusal(): AppError | undefined {
    return this.#refusal
  }

  /** Whether there may be something to take in; cheap. */
  get isDue(): boolean {
    const { own, databasePath } = this.#options
    return this.#held.length > 0 || (!this.#isRecovered && (own || hasJournal(databasePath)))
  }

  /** Records that are on disk in the journal. */
  hold(records: readonly JournalRecord[]): void {
    this.#held.push(...records)
  }

  /** All that is due. Throws what the database throws; then nothing is lost, and the next call tries again. */
  take(connection: Connection): void {
    if (!this.isDue) return
    if (!this.#isRecovered) {
      this.#recover(connection)
      // Only the service can know that nobody writes to the journal meanwhile.
      this.#isRecovered = this.#options.own
    }
    while (this.#held.length > 0) {
      const batch = batchOf(this.#held)
      this.#apply(connection, this.#generation, batch)
      this.#held = this.#held.slice(batch.length)
    }
  }

  /** What `take` has done since the last time. */
  report(): Taken {
    const taken = this.#taken
    this.#taken = { walBytes: 0, lost: [] }
    return taken
  }

  /** Begins a generation, in a transaction of the caller's that is flushed. */
  begin(sql: Sql, generation: number): void {
    writeMark(sql, { generation, position: 0 })
  }

  /** When `begin` is on disk. */
  begun(generation: number): void {
    this.#generation = generation
  }

  /**
   * A commit of its own for whoever has everything flushed that was taken in. It has to change something: SQLite leaves a
   * page alone that would be as it was, and a commit without a page flushes nothing.
   */
  touch(sql: Sql): void {
    sql.run(countFlush)
  }

  /** Says, when all was taken in, that the next start need not look. */
  end(connection: Connection): void {
    if (this.#generation === 0) return
    const generation = this.#generation
    this.#options.write(connection, () => {
      if (readMark(connection).generation === generation) writeMark(connection, { generation: 0, position: 0 })
    })
    this.#generation = 0
  }

  #recover(connection: Connection): void {
    const mark = readMark(connection)
    if (mark.generation === 0) return
    const content = this.#content(mark)
    this.#refusal = content.form > journalForm ? unavailable(newerJournal(content.form)) : undefined
    if (this.#refusal) throw this.#refusal
    const { own } = this.#options
    const [gap] = content.missing
    // Where somebody else may be writing, what lies behind a gap is not the next yet.
    for (
      let left = own || !gap ? content.records : content.records.filter(({ position }) => position < gap.from);
      left.length > 0;
    ) {
      const batch = batchOf(left)
      this.#apply(connection, mark.generation, batch)
      left = left.slice(batch.length)
    }
    if (own && (content.isGone || gap)) this.#setAside(connection, mark.generation, content)
  }

  /** What could be read is on disk in the database before the files go, and the database asks for them no more when they are gone. */
  #setAside(connection: Connection, generation: number, { missing }: JournalContent): void {
    const { databasePath } = this.#options
    connection.write(() => this.touch(connection))
    const kept = this.#reading(() => setJournalAside(databasePath, generation))
    connection.write(() => writeMark(connection, { generation: 0, position: 0 }))
    const where = kept.length === 0 ? '' : `. They are kept as ${kept.join(' and ')}`
    if (missing.length === 0) this.#taken.lost.push(journalIsGone + where)
    for (const { from, to } of missing) this.#taken.lost.push(journalIsDamaged(from, to) + where)
  }

  #content({ generation, position }: JournalMark): JournalContent {
    return this.#reading(() => readJournal(this.#options.databasePath, generation, position))
  }

  /** What is wrong with the files of the journal, in words for whoever can do something about it. */
  #reading<Result>(read: () => Result): Result {
    try {
      return read()
    } catch (error) {
      if (error instanceof AppError || failureOf(error, this.#options.databasePath)) throw error
      throw unavailable(`${messageOf(error)}. ${unreadableAdvice}`, error)
    }
  }

  #apply(connection: Connection, generation: number, records: readonly JournalRecord[]): void {
    const { databasePath, write } = this.#options
    try {
      write(connection, () =>
        this.#applyWith(connection, generation, records, (sql, next) => {
          const writes = next.flatMap(({ text }) => decodeGroup(text))
          append(sql, writes)
          return writes
        }),
      )
    } catch (error) {
      if (failureOf(error, databasePath)) throw error
      // Something among them is refused, which was acknowledged all the same: the rest must not share its fate.
      const lost: string[] = []
      write(connection, () =>
        this.#applyWith(connection, generation, records, (sql, next) => {
          const writes = next.flatMap((record) => decodeEach(record, lost))
          lost.push(...appendEach(sql, writes, databasePath))
          return writes
        }),
      )
      this.#taken.lost.push(...lost)
    }
  }

  #applyWith(
    connection: Connection,
    generation: number,
    records: readonly JournalRecord[],
    appendTo: (sql: Sql, records: readonly JournalRecord[]) => readonly Write[],
  ): void {
    const mark = readMark(connection)
    // Another process may have taken some of them in.
    const next = mark.generation === generation ? records.filter(({ position }) => position > mark.position) : []
    if (next.length === 0) return
    const writes = appendTo(connection, next)
    writeMark(connection, { generation, position: next.at(-1)!.position })
    this.#taken.walBytes += walBytesOf(writes)
  }
}

/** A record that says nothing to this program must not keep it from all that comes. */
function decodeEach({ position, text }: JournalRecord, lost: string[]): Write[] {
  try {
    return decodeGroup(text)
  } catch (error) {
    lost.push(`record ${position} of the journal: ${messageOf(error)}`)
    return []
  }
}

/** What could not be written, in words. */
function appendEach(sql: Sql, writes: readonly Write[], path: string): string[] {
  const lost: string[] = []
  for (const write of writes) {
    sql.run('SAVEPOINT one')
    try {
      append(sql, [write])
    } catch (error) {
      if (failureOf(error, path)) throw error
      sql.run('ROLLBACK TO one')
      lost.push(`${nameOf(write)}: ${messageOf(error)}`)
    }
    sql.run('RELEASE one')
  }
  return lost
}

function nameOf(write: Write): string {
  return write.kind === 'log' ? write.row.executionId : write.kind
}

const journalIsGone =
  'what was acknowledged last before the process died: millrace.journal-a and -b do not hold it. They were damaged, taken ' +
  'away, or are those of another installation'
const journalIsDamaged = (from: number, to: number) =>
  `${from === to ? `record ${from}` : `records ${from} to ${to}`} of the journal, acknowledged before the process died: ` +
  'millrace.journal-a and -b are damaged there. All that can be read behind it was taken in'
const newerJournal = (form: number) =>
  `The journal (millrace.journal-a and -b) was written by a newer Millrace (form ${form}; this one knows up to ${journalForm}) ` +
  'and holds runs that the database does not have yet. Start that version: it takes them in. Or, to go without them, move both files away'
const unreadableAdvice =
  'The journal (millrace.journal-a and -b) cannot be read. Put right what stands in its place, or start the service again'

/** What one transaction takes in of records. */
function batchOf(records: readonly JournalRecord[]): readonly JournalRecord[] {
  let chars = 0
  const end = records.findIndex(({ text }) => {
    chars += text.length
    return chars >= batchCharsMax
  })
  return end < 0 ? records : records.slice(0, end + 1)
}

/** Some 800 runs. */
const batchCharsMax = 1_048_576

export function readMark(sql: Pick<Sql, 'all'>): JournalMark {
  const rows = sql.all<{ name: string; value: number }>(selectMark)
  const valueFor = (name: string) => rows.find((row) => row.name === name)?.value ?? 0
  return { generation: valueFor('journal-generation'), position: valueFor('journal') }
}

function writeMark(sql: Sql, { generation, position }: JournalMark): void {
  sql.run(upsertMark, 'journal-generation', generation)
  sql.run(upsertMark, 'journal', position)
}

/** Of a database that follows a journal. */
export const selectGeneration = "SELECT value FROM marks WHERE name = 'journal-generation' AND value > 0"
export const forgetGeneration = "UPDATE marks SET value = 0 WHERE name = 'journal-generation'"

const selectMark = "SELECT name, value FROM marks WHERE name IN ('journal', 'journal-generation')"
const countFlush =
  "INSERT INTO marks (name, value) VALUES ('journal-flushes', 1) ON CONFLICT DO UPDATE SET value = value + 1"
const upsertMark = 'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value'
