import type { SqlColumn } from '../../domain/database/sql.ts'
import type { OutboundMemory } from '../../domain/outbound-request.ts'
import type { Statement } from './statements.ts'

/** The result of one statement. */
export type StatementResult = {
  columns: SqlColumn[]
  rows: Record<string, unknown>[]
  /** Undefined for a statement that changes nothing. */
  changed: number | undefined
  hasMore: boolean
}

export type StatementBounds = {
  /** Undefined: all rows are read, and none is kept. */
  maxRows: number | undefined
  /** Bytes of all replies. */
  bytesMax: number
  /** Values in all rows. */
  valuesMax: number
  memory: OutboundMemory
}

/** A connection to a database. It runs one statement at a time. Rejections are `DatabaseError`s. */
export interface SqlConnection {
  /** False after an error that leaves it in an unknown state. */
  readonly isUsable: boolean
  begin(isReadOnly: boolean): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  run(statement: Statement, bounds: StatementBounds): Promise<StatementResult>
  /** Asks the server to stop what it does. If it does not, the connection is closed, and `run` rejects. */
  cancel(): void
  close(): void
}
