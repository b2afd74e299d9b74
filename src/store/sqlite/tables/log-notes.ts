import type { LogRow } from '../../../domain/run/log.ts'
import type { EntryNotes } from '../../../domain/run/log-entry.ts'
import { searchTextOf } from '../../search-text.ts'
import type { Sql } from '../connection.ts'

/** The notes of a log entry: JSON texts, null when there is none. */
export type LogNotes = { failure: string | null; labels: string | null }

export function insertLogNotes(sql: Sql, workspace: number, row: LogRow): void {
  const values = [row.failure, row.labels].map((value) => (value ? JSON.stringify(value) : null))
  sql.run(insert, workspace, row.sequence, ...values, searchTextOf(row))
}

const insert = 'INSERT INTO log_notes (workspace, sequence, failure, labels, search) VALUES (?, ?, ?, ?, ?)'

export function findLogNotes(sql: Sql, workspace: number, sequence: number): LogNotes {
  return sql.get<LogNotes>(select, workspace, sequence) ?? noNotes
}

const select = 'SELECT failure, labels FROM log_notes WHERE workspace = ? AND sequence = ?'
export const noNotes: LogNotes = { failure: null, labels: null }

/** The statement that retention runs for a range of entries. */
export const deleteLogNotes = 'DELETE FROM log_notes WHERE workspace = ? AND sequence BETWEEN ? AND ?'

/** The names of versions, each read once. Drafts have none. */
export class VersionNames {
  readonly #sql: Sql
  readonly #names = new Map<string, string | null>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  find(workflow: number, version: number): EntryNotes['versionName'] {
    if (version <= 0) return null
    const key = `${workflow} ${version}`
    let name = this.#names.get(key)
    if (name === undefined) {
      name = this.#sql.get<{ name: string | null }>(selectName, workflow, version)?.name ?? null
      this.#names.set(key, name)
    }
    return name
  }
}

const selectName = 'SELECT name FROM deployments WHERE workflow = ? AND version = ?'
