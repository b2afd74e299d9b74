/**
 * Thrown when an expression must be evaluated in the sandbox, with its limits of time and memory: it would take too
 * long in the service's own thread, or uses something that the subset does not have.
 */
export class NotNative extends Error {}

/**
 * The work that one evaluation may still do, in units of about 20 ns. Each operation draws on it according to the size
 * of what it reads and produces, before it starts. Throws `NotNative` when the work is used up.
 */
export class Work {
  left = 0

  take(units: number): void {
    this.left -= units
    if (!(this.left >= 0)) throw new NotNative()
  }

  /** For an operation that reads or produces this many characters. */
  chars(count: number): void {
    // The length of an expression limits the number of its operations, so short texts need not be counted.
    if (!(count < charsFree)) this.take(count / charsPerUnit)
  }

  /** For an operation that reads everything in these values, however deeply it is nested. */
  read(value: unknown): void {
    if (typeof value === 'string') this.chars(value.length)
    else if (Array.isArray(value)) {
      this.take(1 + value.length)
      for (const item of value) this.read(item)
    } else if (typeof value === 'object' && value !== null) {
      this.take(1)
      for (const key in value) {
        this.take(memberUnits + key.length / charsPerUnit)
        this.read((value as Record<string, unknown>)[key])
      }
    }
  }

  /** For an operation that lists the members of a value, but does not read them. */
  list(value: unknown): void {
    // JavaScriptCore converts each index and each character to a text.
    if (typeof value === 'string' || Array.isArray(value)) this.take(value.length * indexUnits)
    else if (typeof value === 'object' && value !== null) for (const _ in value) this.take(memberUnits)
  }
}

/** Texts with letters outside Latin-1 take 2 to 4 ns per character in most operations; other texts a tenth of it. */
const charsPerUnit = 8
const charsFree = 64
const memberUnits = 3
const indexUnits = 25
