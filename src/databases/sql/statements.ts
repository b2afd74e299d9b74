import { DatabaseError } from '../../domain/database/database.ts'
import type { SqlEngine, SqlMode } from '../../domain/database/sql.ts'

/** One statement of a query. */
export type Statement = {
  text: string
  /** The query that it is a part of, and where in it, for positions in errors. */
  query: string
  offset: number
  /** From 1. */
  number: number
  /** The first word in upper case; empty if the statement begins with something else. */
  keyword: string
  /** The values for its placeholders, in order. */
  values: readonly unknown[]
}

/**
 * Splits a query at semicolons, but not at those in strings, names and comments. Each statement gets the values for its
 * own placeholders: servers refuse values that a statement does not use. Throws `DatabaseError`.
 */
export function statementsOf(query: string, params: readonly unknown[], engine: SqlEngine): Statement[] {
  const parts = partsOf(query, engine)
  if (parts.length === 0) throw invalid('The query has no statement.')
  const texts = engine === 'postgres' ? numbered(parts, params) : inOrder(parts, params)
  return texts.map((each, index) => ({ ...each, query, number: index + 1 }))
}

type Unplaced = Omit<Statement, 'query' | 'number'>
type Placeholder = { start: number; end: number; number: number }
type Part = { text: string; offset: number; keyword: string; placeholders: Placeholder[] }

/** `$1`, `$2`: any number of statements may use the same value. */
function numbered(parts: readonly Part[], params: readonly unknown[]): Unplaced[] {
  let highest = 0
  const statements = parts.map(({ text, offset, keyword, placeholders }) => {
    const numbers: number[] = []
    let rewritten = ''
    let from = 0
    for (const { start, end, number } of placeholders) {
      if (number < 1 || number > params.length) throw missing(`$${number}`, params.length)
      highest = Math.max(highest, number)
      const known = numbers.indexOf(number)
      const place = known === -1 ? numbers.push(number) : known + 1
      // A query of one statement stays as it is, so that positions in errors fit.
      rewritten += text.slice(from, start) + (parts.length === 1 ? text.slice(start, end) : `$${place}`)
      from = end
    }
    rewritten += text.slice(from)
    const values = parts.length === 1 ? params : numbers.map((number) => params[number - 1])
    return { text: rewritten, offset, keyword, values }
  })
  if (highest < params.length) throw unused(`$${params.length}`, highest)
  return statements
}

/** `?`: each takes the next value. */
function inOrder(parts: readonly Part[], params: readonly unknown[]): Unplaced[] {
  const total = parts.reduce((sum, { placeholders }) => sum + placeholders.length, 0)
  if (total !== params.length) {
    const counts = `The query has ${total} placeholder${total === 1 ? '' : 's'} (?), and params has ${params.length}`
    throw invalid(`${counts} value${params.length === 1 ? '' : 's'}. There must be one value for each placeholder.`)
  }
  let next = 0
  return parts.map(({ text, offset, keyword, placeholders }) => {
    const values = params.slice(next, next + placeholders.length)
    next += placeholders.length
    return { text, offset, keyword, values }
  })
}

function partsOf(query: string, engine: SqlEngine): Part[] {
  const parts: Part[] = []
  let start = 0
  let placeholders: Placeholder[] = []
  let keyword = ''
  let hasContent = false
  const end = (at: number) => {
    if (hasContent) {
      const whole = query.slice(start, at)
      const text = whole.trimStart()
      const cut = whole.length - text.length
      const moved = placeholders.map((each) => ({ ...each, start: each.start - cut, end: each.end - cut }))
      parts.push({ text: text.trimEnd(), offset: start + cut, keyword, placeholders: moved })
    }
    start = at + 1
    placeholders = []
    keyword = ''
    hasContent = false
  }
  const pattern = patterns[engine]
  pattern.lastIndex = 0
  for (let match = pattern.exec(query); match; match = pattern.exec(query)) {
    const { comment, word, dollar, nested, place } = match.groups as Record<string, string | undefined>
    if (nested !== undefined) pattern.lastIndex = endOfComment(query, match.index)
    if (dollar !== undefined) pattern.lastIndex = endOfDollarText(query, match.index, dollar)
    if (match[0] === ';') end(match.index)
    else if (comment === undefined && nested === undefined) {
      if (!hasContent) keyword = (word ?? '').toUpperCase()
      hasContent = true
      if (place !== undefined) {
        const number = engine === 'postgres' ? Number(place.slice(1)) : 0
        const from = match.index - start
        placeholders.push({ start: from, end: from + place.length, number })
      }
    }
  }
  end(query.length)
  return parts
}

/** Comments of PostgreSQL contain others. */
function endOfComment(query: string, start: number): number {
  const marks = /\/\*|\*\//g
  marks.lastIndex = start
  let depth = 0
  for (let mark = marks.exec(query); mark; mark = marks.exec(query)) {
    depth += mark[0] === '/*' ? 1 : -1
    if (depth === 0) return marks.lastIndex
  }
  return query.length
}

function endOfDollarText(query: string, start: number, delimiter: string): number {
  const end = query.indexOf(delimiter, start + delimiter.length)
  return end === -1 ? query.length : end + delimiter.length
}

/**
 * The pieces of a query; everything else counts as one character each. Unclosed pieces reach to the end. A doubled
 * quote in a string counts as the end of one and the start of another. No part can fail after it has begun, so that
 * matching takes linear time.
 */
const quoted = (quote: string) => `${quote}[^${quote}]*(?:${quote}|$)`
const escaped = (quote: string) => `${quote}(?:[^${quote}\\\\]+|\\\\[^]?)*(?:${quote}|$)`
const dashes = '(?<comment>--[^\\n]*)'
const block = '\\/\\*[^]*?(?:\\*\\/|$)'
const rest = '[^\\s;]'

const patterns: Readonly<Record<SqlEngine, RegExp>> = {
  postgres: new RegExp(
    [
      ...[dashes, '(?<nested>\\/\\*)', `[eE]${escaped("'")}`, quoted("'"), quoted('"')],
      // In a name such as a$1, the dollar sign is a part of the name.
      ...['(?<word>[\\p{L}_][\\p{L}\\p{N}_$]*)', '(?<place>\\$\\d{1,6})'],
      ...['(?<dollar>\\$(?:[\\p{L}_][\\p{L}\\p{N}_]*)?\\$)', ';', rest],
    ].join('|'),
    'gu',
  ),
  mysql: new RegExp(
    [
      // MySQL runs what is in /*! … */.
      ...['(?<comment>--(?=\\s|$)[^\\n]*|#[^\\n]*|\\/\\*(?!M?!)[^]*?(?:\\*\\/|$))', block],
      ...[escaped("'"), escaped('"'), quoted('`'), '(?<word>[\\p{L}_][\\p{L}\\p{N}_$]*)', '(?<place>\\?)', ';', rest],
    ].join('|'),
    'gu',
  ),
  sqlite: new RegExp(
    [
      ...[`(?<comment>--[^\\n]*|${block})`, quoted("'"), quoted('"'), quoted('`'), '\\[[^\\]]*(?:\\]|$)'],
      ...['(?<word>[\\p{L}_][\\p{L}\\p{N}_$]*)', '(?<place>\\?)', ';', rest],
    ].join('|'),
    'gu',
  ),
}

/**
 * Throws when statements do not fit the mode. A statement that begins or ends a transaction by itself would break `all
 * or nothing`, or leave a transaction open on a connection that others use.
 */
export function checkStatements(statements: readonly Statement[], mode: SqlMode, engine: SqlEngine): void {
  if (mode !== 'transaction' && statements.length > 1) {
    throw invalid(`The query has ${statements.length} statements. Several statements need the mode "transaction".`)
  }
  for (const [index, { keyword, text }] of statements.entries()) {
    const which = statements.length === 1 ? 'The statement' : `Statement ${index + 1}`
    if (transactionKeywords.has(keyword)) {
      throw invalid(`${which} (${keyword}) begins or ends a transaction. Use the mode "transaction" without it.`)
    }
    if (engine === 'sqlite' && sqliteRefused.has(keyword)) {
      throw invalid(`${which} (${keyword}) is not allowed: a query reads and changes one database file only.`)
    }
    const mayCommit = engine === 'mysql' && !mysqlTransactional.has(keyword) && !text.startsWith('(')
    if (mode === 'transaction' && mayCommit) {
      throw invalid(
        `${which}${keyword === '' ? '' : ` (${keyword})`} cannot be part of a transaction: MySQL would commit before ` +
          `it. A transaction can have ${[...mysqlTransactional].join(', ')}.`,
      )
    }
  }
}

/**
 * Throws when a statement does something else than read, such as changing a setting of the server. A statement that
 * begins like one that reads can change rows, too: the database refuses it, because its transaction is read only.
 */
export function checkReading(statements: readonly Statement[]): void {
  const other = statements.find(({ keyword, text }) => !readingKeywords.has(keyword) && !text.startsWith('('))
  if (other)
    throw invalid(`${other.keyword === '' ? 'The statement' : other.keyword} is not allowed: a query may only read.`)
}

/** Whether a connection may be used again after a statement: it has changed no setting of its session. */
export function leavesSessionAlone({ keyword }: Statement): boolean {
  return sessionSafe.has(keyword)
}

const transactionKeywords = new Set(
  ['BEGIN', 'START', 'COMMIT', 'END', 'ROLLBACK', 'ABORT', 'SAVEPOINT', 'RELEASE', 'PREPARE'].concat('XA'),
)
const sqliteRefused = new Set(['ATTACH', 'DETACH', 'PRAGMA', 'VACUUM'])
const mysqlTransactional = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'WITH', 'VALUES', 'TABLE'])
const readingKeywords = new Set(['SELECT', 'WITH', 'VALUES', 'TABLE', 'SHOW', 'EXPLAIN', 'DESCRIBE'])
const sessionSafe = new Set([...mysqlTransactional, 'MERGE', 'SHOW', 'EXPLAIN', 'DESCRIBE', 'CREATE', 'ALTER', 'DROP'])

const invalid = (message: string) => new DatabaseError('INVALID_QUERY', message)

function missing(name: string, length: number): DatabaseError {
  return invalid(`The query has the placeholder ${name}, and params has ${length} value${length === 1 ? '' : 's'}.`)
}

function unused(name: string, highest: number): DatabaseError {
  const used = highest === 0 ? 'The query has no placeholders' : `The highest placeholder of the query is $${highest}`
  return invalid(`${used}, but params has a value for ${name}.`)
}
