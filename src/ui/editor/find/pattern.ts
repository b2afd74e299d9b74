/**
 * Regular expressions that run in linear time. The page's own `RegExp` may take minutes for a pattern such as
 * `(a+)+b`, and nothing can interrupt it; the page's policy allows no workers. A pattern is compiled to a program of
 * steps, which `pattern-search.ts` follows on all paths at once. Look-around and back-references need more than that
 * and are refused.
 */
export type Step =
  | { do: 'char'; test: (code: number) => boolean }
  | { do: 'split'; first: number; second: number }
  | { do: 'jump'; to: number }
  | { do: 'save'; slot: number }
  | { do: 'assert'; kind: Assertion }
  | { do: 'match' }
export type Assertion = 'start' | 'end' | 'boundary' | 'inside'

export type Program = readonly Step[]

/** A pattern that cannot be read. The message is for people. */
export class PatternError extends Error {}

/** Compiles a pattern. It ignores case. `isWord`: it must match whole words. */
export function compilePattern(source: string, isWord = false): Program {
  if (source.length > patternCharsMax) throw new PatternError(`A pattern has at most ${patternCharsMax} characters.`)
  const tree = new Reader(source).read()
  const steps: Step[] = []
  const boundary: Tree = { is: 'assert', kind: 'boundary' }
  const whole: Tree = { is: 'group', slot: 0, inner: tree }
  emit(isWord ? { is: 'all', parts: [boundary, whole, boundary] } : whole, steps)
  push(steps, { do: 'match' })
  return steps
}

export const patternCharsMax = 300
/** Counted repetitions are written out, so a short pattern can have many steps. */
const stepsMax = 2_000
const groupsMax = 9
const depthMax = 50

type Tree =
  | { is: 'char'; test: (code: number) => boolean }
  | { is: 'assert'; kind: Assertion }
  | { is: 'all'; parts: Tree[] }
  | { is: 'any'; parts: Tree[] }
  | { is: 'group'; slot: number; inner: Tree }
  | { is: 'repeat'; inner: Tree; least: number; most: number; isLazy: boolean }

function push(steps: Step[], step: Step): number {
  if (steps.length >= stepsMax) throw new PatternError('This pattern is too complex.')
  return steps.push(step) - 1
}

function emit(tree: Tree, steps: Step[]): void {
  switch (tree.is) {
    case 'char':
      push(steps, { do: 'char', test: tree.test })
      return
    case 'assert':
      push(steps, { do: 'assert', kind: tree.kind })
      return
    case 'all':
      for (const part of tree.parts) emit(part, steps)
      return
    case 'any':
      emitAny(tree.parts, steps)
      return
    case 'group':
      push(steps, { do: 'save', slot: tree.slot * 2 })
      emit(tree.inner, steps)
      push(steps, { do: 'save', slot: tree.slot * 2 + 1 })
      return
    case 'repeat':
      emitRepeat(tree, steps)
  }
}

function emitAny([first, ...rest]: readonly Tree[], steps: Step[]): void {
  if (!first) return
  if (rest.length === 0) {
    emit(first, steps)
    return
  }
  const split = push(steps, { do: 'split', first: steps.length + 1, second: 0 })
  emit(first, steps)
  const jump = push(steps, { do: 'jump', to: 0 })
  steps[split] = { do: 'split', first: split + 1, second: steps.length }
  emitAny(rest, steps)
  steps[jump] = { do: 'jump', to: steps.length }
}

function emitRepeat({ inner, least, most, isLazy }: Extract<Tree, { is: 'repeat' }>, steps: Step[]): void {
  for (let count = 0; count < least; count += 1) emit(inner, steps)
  const split = (into: number, past: number): Step =>
    isLazy ? { do: 'split', first: past, second: into } : { do: 'split', first: into, second: past }
  if (most === Number.POSITIVE_INFINITY) {
    const at = push(steps, split(0, 0))
    emit(inner, steps)
    push(steps, { do: 'jump', to: at })
    steps[at] = split(at + 1, steps.length)
    return
  }
  const splits: number[] = []
  for (let count = least; count < most; count += 1) {
    splits.push(push(steps, split(0, 0)))
    emit(inner, steps)
  }
  for (const at of splits) steps[at] = split(at + 1, steps.length)
}

/** Reads a pattern by recursive descent. */
class Reader {
  readonly #source: string
  #at = 0
  #groups = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  read(): Tree {
    const tree = this.#alternatives()
    if (this.#at < this.#source.length) throw new PatternError('A “)” has no “(”.')
    return tree
  }

  #alternatives(): Tree {
    this.#depth += 1
    if (this.#depth > depthMax) throw new PatternError('This pattern is too complex.')
    const parts = [this.#sequence()]
    while (this.#take('|')) parts.push(this.#sequence())
    this.#depth -= 1
    return parts.length === 1 ? parts[0]! : { is: 'any', parts }
  }

  #sequence(): Tree {
    const parts: Tree[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#next())) parts.push(this.#repeated())
    return { is: 'all', parts }
  }

  #repeated(): Tree {
    const inner = this.#single()
    const range = this.#range()
    if (!range) return inner
    if (inner.is === 'assert') throw new PatternError('Nothing can be repeated there.')
    const tree: Tree = { is: 'repeat', inner, ...range, isLazy: this.#take('?') }
    if (this.#range()) throw new PatternError('Nothing can be repeated there.')
    return tree
  }

  #range(): { least: number; most: number } | undefined {
    if (this.#take('*')) return { least: 0, most: Number.POSITIVE_INFINITY }
    if (this.#take('+')) return { least: 1, most: Number.POSITIVE_INFINITY }
    if (this.#take('?')) return { least: 0, most: 1 }
    const counted = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(this.#source.slice(this.#at, this.#at + 12))
    if (!counted) return undefined
    this.#at += counted[0].length
    const least = Number(counted[1])
    const most = counted[3] ? Number(counted[3]) : counted[2] ? Number.POSITIVE_INFINITY : least
    if (most < least) throw new PatternError(`In “${counted[0]}”, the larger number comes second.`)
    return { least, most }
  }

  #single(): Tree {
    const char = this.#source[this.#at++]!
    if (char === '(') return this.#group()
    if (char === '[') return { is: 'char', test: this.#set() }
    if (char === '.') return { is: 'char', test: (code) => code !== lineFeed && code !== carriageReturn }
    if (char === '^') return { is: 'assert', kind: 'start' }
    if (char === '$') return { is: 'assert', kind: 'end' }
    if ('*+?'.includes(char)) throw new PatternError(`Nothing comes before “${char}”. Write “\\${char}” to find it.`)
    if (char !== '\\') return { is: 'char', test: equals(char) }
    const escaped = this.#source[this.#at++]
    if (escaped === undefined) throw new PatternError('A “\\” is at the end. Write “\\\\” to find it.')
    if (escaped === 'b') return { is: 'assert', kind: 'boundary' }
    if (escaped === 'B') return { is: 'assert', kind: 'inside' }
    return { is: 'char', test: classes[escaped] ?? equals(this.#named(escaped)) }
  }

  #group(): Tree {
    let slot: number | undefined
    if (this.#take('?')) {
      if (!this.#take(':')) throw new PatternError('Groups that begin with “(?” are not supported, except “(?:”.')
    } else {
      this.#groups += 1
      if (this.#groups > groupsMax) throw new PatternError(`A pattern has at most ${groupsMax} groups.`)
      slot = this.#groups
    }
    const inner = this.#alternatives()
    if (!this.#take(')')) throw new PatternError('A “(” has no “)”. Write “\\(” to find it.')
    return slot === undefined ? inner : { is: 'group', slot, inner }
  }

  /** A set of characters, after its `[`. */
  #set(): (code: number) => boolean {
    const isNegated = this.#take('^')
    const tests: ((code: number) => boolean)[] = []
    while (!this.#take(']')) {
      const from = this.#member()
      if (typeof from === 'function') {
        tests.push(from)
        continue
      }
      const isRange = this.#next() === '-' && ![']', undefined].includes(this.#source[this.#at + 1])
      if (!isRange) {
        tests.push(equals(from))
        continue
      }
      this.#at += 1
      const to = this.#member()
      if (typeof to === 'function' || to < from) throw new PatternError('A range in “[…]” is not valid.')
      const [low, high] = [from.charCodeAt(0), to.charCodeAt(0)]
      tests.push((code) => anyCase(code, (one) => one >= low && one <= high))
    }
    return (code) => tests.some((test) => test(code)) !== isNegated
  }

  #member(): string | ((code: number) => boolean) {
    const char = this.#source[this.#at++]
    if (char === undefined) throw new PatternError('A “[” has no “]”. Write “\\[” to find it.')
    if (char !== '\\') return char
    const escaped = this.#source[this.#at++]
    if (escaped === undefined) throw new PatternError('A “[” has no “]”. Write “\\[” to find it.')
    return classes[escaped] ?? this.#named(escaped)
  }

  #named(escaped: string): string {
    const known = { n: '\n', t: '\t', r: '\r' }[escaped]
    if (known !== undefined) return known
    if (escaped === 'u') {
      const hex = /^[\dA-Fa-f]{4}/.exec(this.#source.slice(this.#at))?.[0]
      if (hex === undefined) throw new PatternError('After “\\u” come four hexadecimal digits.')
      this.#at += 4
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    if (/\d/.test(escaped)) throw new PatternError('Back-references are not supported.')
    if (/[A-Za-z]/.test(escaped)) throw new PatternError(`“\\${escaped}” is not supported.`)
    return escaped
  }

  #next(): string {
    return this.#source[this.#at] ?? ''
  }

  #take(char: string): boolean {
    if (this.#next() !== char) return false
    this.#at += 1
    return true
  }
}

const lineFeed = 10
const carriageReturn = 13

/** Whether a character is part of a word. */
export function isWordCode(code: number): boolean {
  const isAscii = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
  return isAscii || (code > 127 && /[\p{L}\p{N}]/u.test(String.fromCharCode(code)))
}

const isDigit = (code: number) => code >= 48 && code <= 57
const isSpace = (code: number) => /\s/.test(String.fromCharCode(code))

const classes: Readonly<Record<string, ((code: number) => boolean) | undefined>> = {
  d: isDigit,
  D: (code) => !isDigit(code),
  w: isWordCode,
  W: (code) => !isWordCode(code),
  s: isSpace,
  S: (code) => !isSpace(code),
}

function equals(char: string): (code: number) => boolean {
  const wanted = new Set([char, char.toLowerCase(), char.toUpperCase()].filter(({ length }) => length === 1))
  const codes = [...wanted].map((one) => one.charCodeAt(0))
  return (code) => codes.includes(code)
}

function anyCase(code: number, test: (code: number) => boolean): boolean {
  if (test(code)) return true
  const char = String.fromCharCode(code)
  return test(char.toLowerCase().charCodeAt(0)) || test(char.toUpperCase().charCodeAt(0))
}
