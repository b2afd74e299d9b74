import { AppError } from '../../domain/errors.ts'
import type { Limit } from '../../domain/limits.ts'

/** Bodies up to this size are not counted, so that they are never refused and cost nothing. */
export const uncountedBytes = 65_536

const retryAfterS = 2
/** The memory of a value in parsed JSON, beyond its text. Measured: 60 bytes for a short text, 100 for an object. */
const valueBytes = 100

/**
 * Limits the memory of all request bodies together. A body counts with its bytes from their arrival, and with its
 * values before it is parsed, until its route calls `release`. A declared length does not count: a sender that declares
 * much and sends nothing would take it from others.
 *
 * A visitor may hold only as much as stays free for others, so that no visitor can shut the others out.
 */
export class BodyBudget {
  readonly #limit: Limit
  readonly #released: (bytes: number) => void
  readonly #held = new Map<Request, Held>()
  readonly #visitors = new Map<string, number>()
  #bytes = 0

  /** `released` is called with the bytes of each body that has ended. */
  constructor(limit: Limit, released: (bytes: number) => void = () => {}) {
    this.#limit = limit
    this.#released = released
  }

  /** The bytes of all bodies that count. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Counts bytes that arrived. Throws `OVERLOADED` when other bodies leave no room. A body that is alone always has
   * room, because its own limits apply.
   */
  add(request: Request, bytes: number, visitor?: string): void {
    const held = this.#held.get(request)
    const others = this.#bytes - (held?.bytes ?? 0)
    const after = this.#bytes + bytes
    const ofVisitor = visitor === undefined ? 0 : (this.#visitors.get(visitor) ?? 0) + bytes
    if (others > 0 && (after > this.#limit.max || ofVisitor > this.#limit.max - after)) throw this.#overloaded()
    if (held) held.bytes += bytes
    else this.#held.set(request, { bytes, visitor })
    if (visitor !== undefined) this.#visitors.set(visitor, ofVisitor)
    this.#bytes = after
  }

  /** Counts the values of JSON that is about to be parsed. Throws like `add`. */
  addValues(request: Request, values: number, visitor?: string): void {
    this.add(request, values * valueBytes, visitor)
  }

  /** Call this at the end of every request whose body was read. */
  release(request: Request): void {
    if (this.#held.size === 0) return
    const held = this.#held.get(request)
    if (held === undefined) return
    const { bytes, visitor } = held
    this.#held.delete(request)
    this.#bytes -= bytes
    if (visitor !== undefined) {
      const left = (this.#visitors.get(visitor) ?? 0) - bytes
      if (left > 0) this.#visitors.set(visitor, left)
      else this.#visitors.delete(visitor)
    }
    this.#released(bytes)
  }

  #overloaded(): AppError {
    const message =
      `The bodies of other requests leave too little of the ${this.#limit.max} bytes that ${this.#limit.setting} ` +
      'allows for all bodies. Try again in a moment.'
    return new AppError('OVERLOADED', message, { retryAfterS })
  }
}

type Held = { bytes: number; visitor: string | undefined }
