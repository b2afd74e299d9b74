import { type ErrorDetail, problemsError } from '../../domain/errors.ts'
import { readTime } from '../../domain/text/iso-time.ts'

/**
 * Reads a request's query. Invalid values are collected, one detail per parameter, and `assertValid` throws them all at
 * once. Unknown parameters are ignored.
 */
export class Parameters {
  readonly #values: URLSearchParams
  readonly #problems = new Map<string, ErrorDetail>()

  constructor(url: string) {
    const start = url.indexOf('?')
    this.#values = new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
  }

  text(name: string): string | undefined {
    const [value, ...others] = this.#values.getAll(name)
    if (others.length > 0) return this.#refuse(name, 'must be given once')
    return value === '' ? this.#refuse(name, 'is empty; leave it out instead') : value
  }

  /** Split at commas, trimmed. Undefined when absent. */
  list(name: string): string[] | undefined {
    const values = this.#values.getAll(name)
    if (values.length === 0) return undefined
    const items = values.flatMap((value) => value.split(',')).map((item) => item.trim())
    const named = items.filter((item) => item !== '')
    return named.length === 0 ? this.#refuse(name, 'is empty; leave it out instead') : named
  }

  oneOf<const Names extends readonly string[]>(name: string, names: Names): Names[number] | undefined {
    const value = this.text(name)
    if (value === undefined || names.includes(value)) return value
    return this.#refuse(name, `must be ${either(names)}, not ${quoted(value)}`)
  }

  listOf<const Names extends readonly string[]>(name: string, names: Names): Names[number][] | undefined {
    const items = this.list(name)
    const wrong = items?.find((item) => !names.includes(item))
    return wrong === undefined ? items : this.#refuse(name, `may hold ${either(names)}, not ${quoted(wrong)}`)
  }

  /** At most `charsMax` characters. */
  shortText(name: string, charsMax: number): string | undefined {
    const value = this.text(name)
    if (value === undefined || value.length <= charsMax) return value
    return this.#refuse(name, `must have ${charsMax} characters or fewer`)
  }

  /** Every value, each in the form `name:text`. */
  pairs(name: string, most: number): (readonly [string, string])[] | undefined {
    const values = this.#values.getAll(name)
    if (values.length === 0) return undefined
    if (values.length > most) return this.#refuse(name, `may be given ${most} times at most`)
    const pairs = values.map((value) => {
      const [first = '', ...rest] = value.split(':')
      return [first, rest.join(':')] as const
    })
    const wrong = values.find((value, index) => !value.includes(':') || pairs[index]![0] === '')
    return wrong === undefined
      ? pairs
      : this.#refuse(name, `must be a name and a text, as in key:value, not ${quoted(wrong)}`)
  }

  whole(name: string, minimum: number, maximum: number): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    if (number >= minimum && number <= maximum) return number
    return this.#refuse(name, `must be a whole number from ${minimum} to ${maximum}, not ${quoted(value)}`)
  }

  /** A non-negative number in any JSON notation. */
  number(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const number = /^\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/.test(value) ? Number(value) : Number.NaN
    return !Number.isFinite(number) ? this.#refuse(name, `must be a number of 0 or more, not ${quoted(value)}`) : number
  }

  flag(name: string): boolean {
    const value = this.text(name)
    if (value === undefined || value === 'false' || value === '0') return false
    if (value === 'true' || value === '1') return true
    return this.#refuse(name, `must be true, false, 1 or 0, not ${quoted(value)}`) ?? false
  }

  /** Epoch milliseconds of an RFC 3339 time. A time without a zone is UTC; a date means its first instant. */
  time(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const time = readTime(value)
    if (time !== undefined) return time
    return this.#refuse(name, `must be a time such as 2025-01-31T08:00:00Z, or a date, not ${quoted(value)}`)
  }

  missing(name: string, message: string): void {
    this.#refuse(name, message)
  }

  /** A required text. When absent or empty, it is refused with `message`, and the result is an empty text. */
  required(name: string, complaint: string): string {
    if (this.#values.getAll(name).join('') === '') this.#refuse(name, complaint)
    return this.text(name) ?? ''
  }

  assertValid(): void {
    if (this.#problems.size === 0) return
    const details = [...this.#problems.values()]
    throw problemsError('INVALID_PARAMETERS', details)
  }

  #refuse(name: string, complaint: string): undefined {
    if (!this.#problems.has(name)) this.#problems.set(name, { path: name, message: `${name} ${complaint}.` })
    return undefined
  }
}

function either(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), names.at(-1)].filter((part) => part !== '').join(' or ')
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 57).toWellFormed()}...` : value)
}
