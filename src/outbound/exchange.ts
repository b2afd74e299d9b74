import { type OutboundBody, OutboundError, type OutboundSink } from '../domain/outbound-request.ts'
import { type BodyReader, type BodySink, flow } from './body-reader.ts'
import type { Place } from './bulkhead.ts'
import type { Deadline } from './deadline.ts'
import { failureOf, type Named } from './failures.ts'

export type ExchangeParts = {
  named: Named
  body: BodyReader
  /** Says that the body was read to its end. */
  finished(): void
  place: Place
  deadline: Deadline
  answerBytesMax: number
}

/**
 * A request whose answer has begun. It holds a place and a deadline until its body has come to its end, broke off or was
 * closed, also when nobody reads: then the deadline ends it.
 */
export class Exchange implements OutboundBody, BodySink {
  readonly #parts: ExchangeParts
  #bytes = 0
  #isOver = false
  #sink: OutboundSink | undefined

  constructor(parts: ExchangeParts) {
    const { deadline } = parts
    this.#parts = parts
    deadline.phase = 'the rest of the answer'
    const stop = deadline.onEnd
    deadline.onEnd = (reason) => {
      stop?.(reason)
      this.#give()
      this.#settle(reason)
    }
  }

  flow(sink: OutboundSink): void {
    const { deadline, body } = this.#parts
    if (deadline.reason) {
      sink.failed(deadline.reason)
      return
    }
    this.#sink = sink
    flow(body, this)
  }

  part(part: Uint8Array<ArrayBuffer>): void {
    const { named, answerBytesMax } = this.#parts
    if (this.#isOver) return
    this.#bytes += part.byteLength
    if (this.#bytes > answerBytesMax) {
      const message = `The answer of ${named.name} has more than the ${answerBytesMax} bytes that are read of one`
      this.close(new OutboundError('RESPONSE_TOO_LARGE', message))
    } else this.#sink?.part(part)
  }

  ended(): void {
    if (this.#isOver) return
    this.#parts.finished()
    this.#give()
    this.#settle()
  }

  failed(error: unknown): void {
    this.close(failureOf(error, this.#parts.named))
  }

  /** Ends the request; whatever of its answer is still to come is not taken. */
  close(reason = new OutboundError('CANCELLED', 'The answer was not read to its end')): void {
    if (this.#isOver) return
    const { body, deadline } = this.#parts
    this.#give()
    this.#settle(reason)
    body.cancel()
    deadline.end(reason)
  }

  #give(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { deadline, place } = this.#parts
    deadline.onEnd = undefined
    deadline.lift()
    place.release()
  }

  #settle(reason?: OutboundError): void {
    const sink = this.#sink
    this.#sink = undefined
    if (reason) sink?.failed(reason)
    else sink?.ended()
  }
}
