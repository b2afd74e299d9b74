import { AppError } from '../domain/errors.ts'

type Waiting<Request, Outcome> = { request: Request; resolve(outcome: Outcome): void; reject(error: unknown): void }

/**
 * Collects requests while the previous group is on its way, so that many callers share one commit. A single request
 * waits for one turn of the event loop.
 */
export class Groups<Request, Outcome> {
  readonly #send: (requests: readonly Request[]) => Promise<readonly Outcome[]>
  readonly #sizeOf: (request: Request) => number
  #waiting: Waiting<Request, Outcome>[] = []
  #size = 0
  #underWay: Promise<void> | undefined

  /** `sizeOf`: the characters of a request. */
  constructor(
    send: (requests: readonly Request[]) => Promise<readonly Outcome[]>,
    sizeOf: (request: Request) => number = () => 0,
  ) {
    this.#send = send
    this.#sizeOf = sizeOf
  }

  /** Rejects with `OVERLOADED` when too many requests wait, and with what `send` rejects with. */
  ask(request: Request): Promise<Outcome> {
    const size = this.#sizeOf(request)
    if (this.#waiting.length >= waitingMax || (this.#size > 0 && this.#size + size > waitingCharsMax)) {
      const message = `${this.#waiting.length} changes of entries wait for the disk. Try again in a moment.`
      return Promise.reject(new AppError('OVERLOADED', message, { retryAfterS: 1 }))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      this.#size += size
      if (!this.#underWay && this.#waiting.length === 1) setImmediate(() => this.#dispatch())
    })
  }

  /** Resolves when everything that waits now is settled. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#underWay) {
      this.#dispatch()
      await this.#underWay
    }
  }

  #dispatch(): void {
    if (this.#underWay || this.#waiting.length === 0) return
    const group = this.#takeGroup()
    this.#underWay = this.#settle(group).finally(() => {
      this.#underWay = undefined
      // Callers of this group ask again in this turn, and then share the next group.
      if (this.#waiting.length > 0) setImmediate(() => this.#dispatch())
    })
  }

  #takeGroup(): Waiting<Request, Outcome>[] {
    let [length, size] = [0, 0]
    while (length < Math.min(this.#waiting.length, groupMax)) {
      const next = this.#sizeOf(this.#waiting[length]!.request)
      if (length > 0 && size + next > groupCharsMax) break
      size += next
      length += 1
    }
    this.#size -= size
    return this.#waiting.splice(0, length)
  }

  async #settle(group: readonly Waiting<Request, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#send(group.map(({ request }) => request))
      for (const [index, { resolve }] of group.entries()) resolve(outcomes[index]!)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}

const waitingMax = 10_000
const waitingCharsMax = 33_554_432
const groupMax = 500
/** A larger group would keep other writes waiting. */
const groupCharsMax = 2_097_152
