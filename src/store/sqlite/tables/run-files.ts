import type { LogFiles } from '../../../domain/run/log.ts'
import type { Sql } from '../connection.ts'

/**
 * Finds the files of a workspace's entries. Call it with sequences in one order. It remembers the next entry that has
 * files, so it reads nothing for the entries before that one.
 */
export class RunFilesFinder {
  readonly #sql: Sql
  readonly #workspace: number
  readonly #select: string
  /** The next entry that has files; undefined before the first look, null when there is none. */
  #next: { sequence: number; files: string } | null | undefined
  readonly #isRising: boolean

  constructor(sql: Sql, workspace: number, order: 'asc' | 'desc') {
    this.#sql = sql
    this.#workspace = workspace
    this.#select = selectNext[order]
    this.#isRising = order === 'asc'
  }

  /** JSON text of the entry's files; undefined when it has none. */
  find(sequence: number): string | undefined {
    if (this.#next === undefined || (this.#next !== null && this.#isPast(this.#next.sequence, sequence))) {
      this.#next = this.#sql.get<{ sequence: number; files: string }>(this.#select, this.#workspace, sequence) ?? null
    }
    return this.#next?.sequence === sequence ? this.#next.files : undefined
  }

  #isPast(known: number, sequence: number): boolean {
    return this.#isRising ? known < sequence : known > sequence
  }
}

/** JSON text of the files of one entry; null when it has none. */
export function findRunFiles(sql: Sql, workspace: number, sequence: number): string | null {
  return new RunFilesFinder(sql, workspace, 'asc').find(sequence) ?? null
}

export function insertRunFiles(sql: Sql, workspace: number, sequence: number, { folder, text }: LogFiles): void {
  sql.run(insert, workspace, sequence, folder, text)
}

export function getFileUsage(sql: Sql, workspaceId: string): { files: number; bytes: number } {
  return sql.get<{ files: number; bytes: number }>(selectUsage, workspaceId)!
}

/** Folders of stored files whose log entries are gone. */
export function listGoneFiles(sql: Sql, limit: number): string[] {
  return sql.all<{ folder: string }>(selectGone, limit).map(({ folder }) => folder)
}

/** Call this after the files have been deleted. */
export function forgetGoneFiles(sql: Sql, folders: readonly string[]): void {
  for (const folder of folders) sql.run(deleteGone, folder)
}

/**
 * The statements that retention runs for a range of entries. An entry without a folder has no stored files, so its row
 * is deleted immediately; the other rows are marked until their folders have been deleted.
 */
export const retainRunFiles: readonly string[] = [
  'DELETE FROM run_files WHERE workspace = ? AND sequence BETWEEN ? AND ? AND folder IS NULL',
  'UPDATE run_files SET gone = 1 WHERE workspace = ? AND sequence BETWEEN ? AND ?',
]

const selectNext = {
  asc: `SELECT sequence, files FROM run_files WHERE workspace = ? AND sequence >= ? AND gone = 0
    ORDER BY sequence LIMIT 1`,
  desc: `SELECT sequence, files FROM run_files WHERE workspace = ? AND sequence <= ? AND gone = 0
    ORDER BY sequence DESC LIMIT 1`,
}
const insert = 'INSERT INTO run_files (workspace, sequence, folder, files) VALUES (?, ?, ?, ?)'
const selectUsage = `
  SELECT count(*) AS files, total(json_extract(f.value, '$.file.size')) AS bytes
  FROM workspaces w CROSS JOIN run_files r ON r.workspace = w.number CROSS JOIN json_each(r.files) f
  WHERE w.id = ? AND r.folder NOT NULL AND json_extract(f.value, '$.key') NOT NULL`
const selectGone = 'SELECT folder FROM run_files WHERE gone = 1 LIMIT ?'
const deleteGone = 'DELETE FROM run_files WHERE gone = 1 AND folder = ?'
