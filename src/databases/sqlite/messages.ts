import type { SqlColumn } from '../../domain/database/sql.ts'

/** The word on the command line with which this program becomes a process for one SQLite file. */
export const sqliteWord = '--sqlite'

/** Requests and replies are lines of JSON. The process answers each request, in order. */
export type SqliteRequest =
  | { type: 'open'; path: string }
  | { type: 'begin'; isReadOnly: boolean }
  | { type: 'commit' | 'rollback' }
  | { type: 'run'; text: string; values: readonly unknown[]; maxRows?: number; bytesMax: number; valuesMax: number }

export type SqliteReply =
  | { ok: true; result?: SqliteResult }
  /** `excess`: a bound that the rows exceed. `offset`: of the error in the bytes of the statement. */
  | { ok: false; message: string; code?: string; offset?: number; excess?: 'bytes' | 'values' }

export type SqliteResult = {
  columns: SqlColumn[]
  rows: Record<string, unknown>[]
  changed: number | null
  hasMore: boolean
}
