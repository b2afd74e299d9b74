import { OutboundError } from '../domain/outbound-request.ts'
import type { Place } from './bulkhead.ts'
import type { Deadline } from './deadline.ts'
import { failureOf } from './failures.ts'
import type { Opened } from './open.ts'
import { nameOf, type Target } from './target.ts'

export type ExchangeParts = {
  target: Target
  opened: Opened
  place: Place
  deadline: Deadline
  answerBytesMax: number
}

/**
 * A request whose answer has begun. It holds a place and a deadline until its body was read to the end, broke off or was
 * closed, also when nobody reads: then the deadline ends it.
 */
export class Exchange {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly url: string
  #parts: ExchangeParts
  #bytes = 0
  #over = false

  constructor(parts: ExchangeParts) {
    const { deadline, opened, target } = parts
    this.#parts = parts
    this.status = opened.status
    this.headers = opened.headers
    this.url = target.url.href
    deadline.phase = 'the rest of the answer'
    const stop = deadline.onEnd
    deadline.onEnd = (reason) => {
      stop?.(reason)
      this.#give()
    }
  }

  /** The next part of the body, decompressed; undefined at its end. Throws `OutboundError`. */
  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { deadline, opened, target, answerBytesMax } = this.#parts
    if (deadline.reason) throw deadline.reason
    try {
      const part = await opened.body.read()
      if (!part) {
        opened.finished()
        this.#give()
        return undefined
      }
      this.#bytes += part.byteLength
      if (this.#bytes <= answerBytesMax) return part
      const message = `The answer of ${nameOf(target)} has more than the ${answerBytesMax} bytes that are read of one`
      throw new OutboundError('RESPONSE_TOO_LARGE', message)
    } catch (error) {
      const failure = deadline.reason ?? failureOf(error, target)
      this.close(failure)
      throw failure
    }
  }

  /** Ends the request; whatever of its answer is still to come is not taken. */
  close(reason = new OutboundError('CANCELLED', 'The answer was not read to its end')): void {
    if (this.#over) return
    this.#give()
    this.#parts.opened.body.cancel()
    this.#parts.deadline.end(reason)
  }

  #give = (): void => {
    if (this.#over) return
    this.#over = true
    const { deadline, place } = this.#parts
    deadline.onEnd = undefined
    deadline.lift()
    place.release()
  }
}
