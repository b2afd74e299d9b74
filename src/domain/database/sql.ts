/** Statements for databases that users choose. `databases/` runs them. */

export const sqlEngines = ['postgres', 'mysql', 'sqlite'] as const
export type SqlEngine = (typeof sqlEngines)[number]

export const sqlModes = ['rows', 'one', 'execute', 'transaction'] as const
export type SqlMode = (typeof sqlModes)[number]

export type SqlRequest = {
  /** The name of a credential of the kind `sql`. */
  credential: string
  query: string
  params: readonly unknown[]
  mode: SqlMode
  /** More rows are not read. */
  maxRows: number
  timeoutMs: number
  /** The database refuses statements that change something. */
  isReadOnly?: boolean
}

export type SqlColumn = { name: string; type: string }

export type SqlResult = {
  rows: Record<string, unknown>[]
  columns: SqlColumn[]
  /** The rows that were changed; for statements that only read, the rows that were read. */
  count: number
  /** There are more rows than those that were read. */
  hasMore: boolean
}
