import type { MovedTable, Row } from './tables.ts'

/** The contents of an installation that does not change as long as this is open. */
export interface MoveSource {
  /**
   * Batches of the rows of a table in the order of its key; with `after`, only those of a higher sequence. A table with
   * `bySequence` has all rows of a sequence in one batch.
   */
  rows(table: MovedTable, after?: number): AsyncIterable<readonly Row[]>
  count(table: MovedTable): Promise<number>
  /** The highest number that was ever used in each of `numberedTables`. */
  highestNumbers(): Promise<Readonly<Record<string, number>>>
  /** The first bytes of sealed values, and documents that contain sealed values: they show which keys are needed. */
  sealed(headBytes: number): Promise<{ heads: Uint8Array[]; documents: string[] }>
}

/** An installation in the making: no service can open it before `finish`. */
export interface MoveTarget {
  /** Facts that the move has noted, by name. */
  note(name: string): Promise<string | undefined>
  setNote(name: string, value: string): Promise<void>
  /** Adds all rows of a table and sets a note, in one transaction. */
  addAll(table: MovedTable, batches: AsyncIterable<readonly Row[]>, note: Note): Promise<void>
  /** The same for some rows of a table with `bySequence`, which follow those before. */
  addSome(table: MovedTable, rows: readonly Row[], note: Note): Promise<void>
  /** The rows as they are now. */
  read<Result>(work: (rows: Pick<MoveSource, 'rows'>) => Promise<Result>): Promise<Result>
  /** Completes the installation: from now on, a service can open it. */
  finish(highestNumbers: Readonly<Record<string, number>>): Promise<void>
  /** Removes everything that was moved so far. */
  clear(): Promise<void>
}

export type Note = { name: string; value: string }
