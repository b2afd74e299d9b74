// Long because it is one scanner, with the rules for the places where a value may stand.
import { normaliseName, segmentsOf } from '../../../domain/workflow/reference.ts'

export type Dialect = 'postgres' | 'mysql'

/** SQL with placeholders, and their values. `refused`: a reference that cannot become a value, as written. */
export type BoundSql = { sql: string; params: string[]; statements: number } | { refused: string }

type Binding = {
  dialect: Dialect
  /** Normalised names of blocks. A `<` before another name is an operator. */
  names: ReadonlySet<string>
  /** The number of placeholders in the SQL before this text. */
  before?: number
  /** The first words of the statement, when the text is the rest of one. */
  after?: string
}

/**
 * Replaces the references in a query with placeholders. Sim pastes values into the query, and an SQL block binds them.
 * Both are the same only where a reference stands for one value, so a reference in any other place is refused.
 */
export function bindReferences(query: string, binding: Binding): BoundSql {
  if (query.includes(mark)) return { refused: 'a private character' }
  return new Scanner(query, binding).scan()
}

type Token = { kind: 'word' | 'operator' | 'value' | 'name'; text: string }
/** `opener`: the two tokens before the bracket. */
type Bracket = { opener: readonly [Token | undefined, Token | undefined]; isQuery: boolean }

class Scanner {
  readonly #text: string
  readonly #sources: string[] = []
  readonly #known: boolean[] = []
  readonly #dialect: Dialect
  readonly #offset: number
  readonly #params: string[] = []
  readonly #brackets: Bracket[] = []
  #sql = ''
  #at = 0
  #mark = 0
  #last: Token | undefined
  #secondLast: Token | undefined
  #keyword: string | undefined
  #statements = 0
  #isBetween = false
  #refused: string | undefined

  constructor(query: string, { dialect, names, before = 0, after }: Binding) {
    this.#dialect = dialect
    this.#offset = before
    let text = ''
    for (const segment of segmentsOf(query)) {
      if (segment.kind === 'text') text += segment.text
      else {
        text += mark
        this.#sources.push(segment.source)
        this.#known.push(segment.kind === 'environment' || names.has(segment.name) || containers.has(segment.name))
      }
    }
    this.#text = text
    if (after === undefined) return
    this.#keyword = after
    this.#statements = 1
    this.#last = { kind: 'word', text: 'WHERE' }
  }

  scan(): BoundSql {
    if (this.#sources.length === 0 && !this.#text.includes(';')) {
      return { sql: this.#text, params: [], statements: 1 }
    }
    while (this.#at < this.#text.length && this.#refused === undefined) this.#step()
    for (const segment of segmentsOf(this.#sql)) {
      // The text around a placeholder may look like a reference.
      if (segment.kind !== 'text') this.#refused ??= segment.source
    }
    if (this.#refused !== undefined) return { refused: this.#refused }
    return { sql: this.#sql, params: this.#params, statements: this.#statements }
  }

  #step(): void {
    const space = this.#match(/\s+/uy)
    const comment = space === undefined ? this.#endOfComment() : undefined
    if (space !== undefined) this.#copy(space.length)
    else if (comment !== undefined) this.#comment(comment)
    else if (this.#text[this.#at] === ';') {
      this.#copy(1)
      this.#keyword = undefined
      this.#last = undefined
    } else {
      if (this.#keyword === undefined) {
        this.#keyword = (this.#match(/[\p{L}_]+/uy) ?? '').toUpperCase()
        this.#statements += 1
      }
      this.#token()
    }
  }

  #token(): void {
    const isMysql = this.#dialect === 'mysql'
    const character = this.#text[this.#at]!
    const dollar = isMysql ? undefined : this.#match(/\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy)
    const word = this.#match(/[\p{L}_][\p{L}\p{N}_$]*/uy)
    const number = this.#match(/\d[\w.]*/uy)
    if (character === mark) this.#reference()
    else if (character === "'" || (character === '"' && isMysql)) this.#string(character, 0)
    else if (!isMysql && /[eE]/.test(character) && this.#text[this.#at + 1] === "'") this.#string("'", 1)
    else if (character === (isMysql ? '`' : '"')) this.#piece(this.#endOf(character, this.#at + 1), 'name')
    // MySQL runs the text of such comments.
    else if (isMysql && this.#text.startsWith('/*', this.#at)) this.#piece(this.#endOf('*/', this.#at + 2), 'value')
    else if (dollar !== undefined) this.#piece(this.#endOf(dollar, this.#at + dollar.length), 'value')
    else if (word !== undefined) this.#word(word)
    else if (number !== undefined) this.#piece(this.#at + number.length, 'value')
    else this.#operator(character)
  }

  #reference(): void {
    const index = this.#mark
    if (!this.#known[index]) {
      // With a space, it cannot be read as a reference.
      this.#mark += 1
      this.#sql += `< ${this.#sources[index]!.slice(1)}`
      this.#at += 1
      this.#push({ kind: 'value', text: '' })
      return
    }
    const before = this.#text[this.#at - 1] ?? ' '
    const after = this.#text.slice(this.#at + 1, this.#at + 100)
    const touches = /[\p{L}\p{N}_.$"'`\uE000]/u
    const isAlone = !touches.test(before) && !touches.test(after[0] ?? ' ') && !/^\s*\(/.test(after)
    if (!isAlone || !this.#mayBeValue(after)) {
      this.#refuse()
      return
    }
    this.#bind(this.#takeSource())
    this.#at += 1
  }

  /** Whether a reference without quotes can only be a value here, and no name, list or part of the query. */
  #mayBeValue(after: string): boolean {
    const { kind, text } = this.#last ?? { kind: 'name', text: '' }
    if (kind === 'word') return valueWords.has(text) || (text === 'AND' && this.#isBetween)
    if (kind !== 'operator') return false
    const bracket = this.#brackets.at(-1)
    if (text === '(' || text === '[') {
      return isValueList(bracket) && (!isWord(bracket?.opener[1], 'IN') || /^\s*,/.test(after))
    }
    if (text === ',') return bracket !== undefined && !bracket.isQuery && isValueList(bracket)
    if (text === '*') return this.#secondLast?.kind !== 'operator' && !isWord(this.#secondLast, 'SELECT')
    return valueOperators.has(text)
  }

  /** `prefix`: characters before the quote. */
  #string(quote: string, prefix: number): void {
    const hasEscapes = this.#dialect === 'mysql' || prefix > 0
    const start = this.#at + prefix + 1
    const end = this.#endOfString(start, quote, hasEscapes)
    const inner = this.#text.slice(start, end - 1)
    if (!inner.includes(mark)) {
      this.#piece(end, 'value')
      return
    }
    const isClosed = this.#text[end - 1] === quote && end > start
    if (!isClosed || (hasEscapes && inner.includes('\\')) || !this.#mayBeString()) {
      this.#refuse()
      return
    }
    const value = inner.replaceAll(quote + quote, quote).replaceAll(mark, () => this.#takeSource())
    this.#at = end
    this.#bind(value)
  }

  #mayBeString(): boolean {
    if (!this.#last) return false
    const { kind, text } = this.#last
    if (kind === 'word') return valueWords.has(text) || stringWords.has(text)
    if (kind !== 'operator') return false
    return ['(', '[', ',', '*'].includes(text) || valueOperators.has(text)
  }

  #bind(value: string): void {
    const mayHaveValues = statementsWithValues.has(this.#keyword ?? '')
    if (!mayHaveValues || this.#params.length === paramsMax) {
      this.#refuse(value)
      return
    }
    if (isWord(this.#last, 'AND')) this.#isBetween = false
    this.#params.push(value)
    this.#sql += this.#dialect === 'postgres' ? `$${this.#offset + this.#params.length}` : '?'
    this.#push({ kind: 'value', text: '' })
  }

  #comment(end: number): void {
    const comment = this.#text.slice(this.#at, end)
    if (!comment.includes(mark)) {
      this.#copy(comment.length)
      return
    }
    this.#mark += comment.split(mark).length - 1
    this.#sql += ' '
    this.#at = end
  }

  #endOfComment(): number | undefined {
    const isMysql = this.#dialect === 'mysql'
    const start = this.#match(isMysql ? /--(?=\s|$)|#|\/\*(?!M?!)/uy : /--|\/\*/uy)
    if (start === '--' || start === '#') {
      const end = this.#text.indexOf('\n', this.#at)
      return end === -1 ? this.#text.length : end
    }
    if (start !== '/*') return undefined
    if (isMysql) return this.#endOf('*/', this.#at + 2)
    const marks = /\/\*|\*\//g
    marks.lastIndex = this.#at
    let depth = 0
    for (let found = marks.exec(this.#text); found; found = marks.exec(this.#text)) {
      depth += found[0] === '/*' ? 1 : -1
      if (depth === 0) return marks.lastIndex
    }
    return this.#text.length
  }

  #endOfString(start: number, quote: string, hasEscapes: boolean): number {
    for (let at = start; at < this.#text.length; at += 1) {
      if (hasEscapes && this.#text[at] === '\\') at += 1
      else if (this.#text[at] === quote) {
        if (this.#text[at + 1] !== quote) return at + 1
        at += 1
      }
    }
    return this.#text.length
  }

  #endOf(text: string, from: number): number {
    const end = this.#text.indexOf(text, from)
    return end === -1 ? this.#text.length : end + text.length
  }

  /** Text that cannot contain placeholders. */
  #piece(end: number, kind: 'value' | 'name'): void {
    if (this.#text.slice(this.#at, end).includes(mark)) {
      this.#refuse()
      return
    }
    this.#copy(end - this.#at)
    this.#push({ kind, text: '' })
  }

  #word(word: string): void {
    this.#copy(word.length)
    const text = word.toUpperCase()
    if (text === 'BETWEEN') this.#isBetween = true
    this.#push({ kind: 'word', text })
    if (text === 'AND') this.#isBetween = this.#isBetween && this.#text.slice(this.#at).trimStart()[0] === mark
  }

  #operator(character: string): void {
    const isPlaceholder = character === (this.#dialect === 'mysql' ? '?' : '$')
    if (isPlaceholder && this.#sources.length > 0) {
      this.#refuse(character)
      return
    }
    if (character === '(' || character === '[') {
      const rest = this.#text.slice(this.#at + 1, this.#at + 100)
      this.#brackets.push({
        opener: [this.#secondLast, this.#last],
        isQuery: /^\s*(?:select|with)\b/i.test(rest),
      })
    } else if (character === ')' || character === ']') this.#brackets.pop()
    this.#copy(character.length)
    this.#push({ kind: character === ')' || character === ']' ? 'value' : 'operator', text: character })
  }

  #push(token: Token): void {
    this.#secondLast = this.#last
    this.#last = token
  }

  #copy(length: number): void {
    this.#sql += this.#text.slice(this.#at, this.#at + length)
    this.#at += length
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.[0]
  }

  #takeSource(): string {
    this.#mark += 1
    return this.#sources[this.#mark - 1] ?? ''
  }

  #refuse(source = this.#sources[this.#mark] ?? ''): void {
    this.#refused = source
  }
}

/** The arguments of a function, or the values of a row. */
function isValueList(bracket: Bracket | undefined): boolean {
  if (!bracket) return false
  const [before, opener] = bracket.opener
  if (isWord(before, 'INTO') || isWord(before, 'TABLE')) return false
  if (opener?.kind === 'word') return !clauseWords.has(opener.text)
  return opener?.kind === 'operator' && (opener.text === ',' || valueOperators.has(opener.text))
}

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text
}

/** Stands for a reference while the text is scanned. */
const mark = '\uE000'
const paramsMax = 10_000
const containers = new Set(['variable', 'loop', 'parallel'])
const valueOperators = new Set(['=', '<', '>', '+', '-', '/', '%', '|', '~'])
/** A value follows these words. */
const valueWords = new Set(['LIKE', 'ILIKE', 'BETWEEN', 'LIMIT', 'OFFSET', 'THEN', 'ELSE', 'REGEXP', 'RLIKE'])
/** A value or something else follows these. A text in quotes is a value. */
const stringWords = new Set(
  ['AND', 'OR', 'NOT', 'WHERE', 'ON', 'HAVING', 'SELECT', 'DISTINCT', 'CASE', 'WHEN', 'RETURNING'].concat('IN'),
)
/** No value follows a bracket after these, or perhaps a condition or a query. */
const clauseWords = new Set(
  ['WHERE', 'AND', 'OR', 'ON', 'NOT', 'FROM', 'JOIN', 'HAVING', 'AS', 'USING', 'OVER', 'BY', 'SELECT', 'WHEN'].concat([
    'INTO',
    'TABLE',
    'EXISTS',
    'UNION',
    'ALL',
    'DISTINCT',
    'CASE',
    'WITH',
    'SET',
    'UPDATE',
    'CONFLICT',
  ]),
)
/** Other statements cannot have placeholders. */
const statementsWithValues = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH', 'REPLACE', 'MERGE', 'VALUES'])

/** The names that references in a workflow can have. */
export function referenceNames(blocks: Iterable<{ name: string; type: string }>): Set<string> {
  return new Set(Array.from(blocks, ({ name, type }) => normaliseName(name === '' ? type : name)))
}
