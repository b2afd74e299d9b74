import type { LogFiles } from '../../domain/log.ts'
import type { Sql } from './connection.ts'

/** JSON texts of the files of a workspace's entries in a range of sequences, by sequence; nearly always none. */
export function runFilesBetween(sql: Sql, workspace: number, from: number, to: number): ReadonlyMap<number, string> {
  const rows = sql.all<{ sequence: number; files: string }>(selectBetween, workspace, from, to)
  return new Map(rows.map(({ sequence, files }) => [sequence, files]))
}

export function insertRunFiles(sql: Sql, workspace: number, sequence: number, { folder, text }: LogFiles): void {
  sql.run(insert, workspace, sequence, folder, text)
}

/** Folders of stored files whose log entries are gone. */
export function listGoneFiles(sql: Sql, limit: number): string[] {
  return sql.all<{ folder: string }>(selectGone, limit).map(({ folder }) => folder)
}

/** After they have been deleted. */
export function forgetGoneFiles(sql: Sql, folders: readonly string[]): void {
  for (const folder of folders) sql.run(deleteGone, folder)
}

/** What retention does with a range of entries: those whose files lie elsewhere have nothing left to delete. */
export const retainRunFiles: readonly string[] = [
  'DELETE FROM run_files WHERE workspace = ? AND sequence BETWEEN ? AND ? AND folder IS NULL',
  'UPDATE run_files SET gone = 1 WHERE workspace = ? AND sequence BETWEEN ? AND ?',
]

const selectBetween =
  'SELECT sequence, files FROM run_files WHERE workspace = ? AND sequence BETWEEN ? AND ? AND gone = 0'
const insert = 'INSERT INTO run_files (workspace, sequence, folder, files) VALUES (?, ?, ?, ?)'
const selectGone = 'SELECT folder FROM run_files WHERE gone = 1 LIMIT ?'
const deleteGone = 'DELETE FROM run_files WHERE gone = 1 AND folder = ?'
