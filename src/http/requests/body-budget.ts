import { AppError } from '../../domain/errors.ts'
import type { Limit } from '../../domain/limits.ts'

/** Bodies up to this size are not counted, so that they are never refused and cost nothing. */
export const uncountedBytes = 65_536

const retryAfterS = 2

/**
 * Limits the memory of all request bodies together. A body counts from the arrival of its bytes until its route calls
 * `release`. A declared length does not count: a sender that declares much and sends nothing would take it from others.
 */
export class BodyBudget {
  readonly #limit: Limit
  readonly #held = new Map<Request, number>()
  #bytes = 0

  constructor(limit: Limit) {
    this.#limit = limit
  }

  /** The bytes of all bodies that count. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Counts bytes that arrived. Throws `OVERLOADED` when other bodies leave no room. A body that is alone always has
   * room, because its own limits apply.
   */
  add(request: Request, bytes: number): void {
    const before = this.#held.get(request) ?? 0
    const others = this.#bytes - before
    if (others > 0 && this.#bytes + bytes > this.#limit.max) {
      const message =
        `The bodies of other requests leave too little of the ${this.#limit.max} bytes that ${this.#limit.setting} ` +
        'allows for all bodies. Try again in a moment.'
      throw new AppError('OVERLOADED', message, { retryAfterS })
    }
    this.#held.set(request, before + bytes)
    this.#bytes += bytes
  }

  /** Call this at the end of every request whose body was read. */
  release(request: Request): void {
    if (this.#held.size === 0) return
    const bytes = this.#held.get(request)
    if (bytes === undefined) return
    this.#held.delete(request)
    this.#bytes -= bytes
  }
}
