import type { Statement } from './statements.ts'

/** A place in a query: both begin at 1. A server may know only the line. */
export type Position = { line: number; column?: number }

/** The place of a character of a statement, counted from 1, in the whole query. */
export function positionIn(
  { query, offset, text }: Pick<Statement, 'query' | 'offset' | 'text'>,
  character: number,
): Position {
  // PostgreSQL counts characters, and JavaScript counts UTF-16 units.
  const before = query.slice(0, offset) + [...text].slice(0, Math.max(0, character - 1)).join('')
  const lines = before.split('\n')
  return { line: lines.length, column: [...lines.at(-1)!].length + 1 }
}

/** The place in the whole query of a line of a statement, counted from 1. */
export function lineIn({ query, offset }: Pick<Statement, 'query' | 'offset'>, line: number): Position {
  return { line: query.slice(0, offset).split('\n').length + line - 1 }
}

/** Names the statement in which an error is. */
export function placed(message: string, { number }: Pick<Statement, 'number'>, total: number, at?: Position): string {
  const statement = total > 1 ? `Statement ${number}` : 'The query'
  const place = at === undefined ? '' : ` at line ${at.line}${at.column === undefined ? '' : `, column ${at.column}`}`
  return `${statement} failed${place}: ${message}`
}
