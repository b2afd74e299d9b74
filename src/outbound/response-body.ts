import type { Clock } from '../domain/clock.ts'
import { type OutboundBody, OutboundError, type OutboundMemory } from '../domain/outbound-request.ts'
import type { BodyReader } from './body-reader.ts'
import type { Slot } from './bulkhead.ts'
import type { Deadline } from './deadline.ts'
import { failureOf, type Named } from './failures.ts'

export type ResponseBodyParts = {
  /** The receiver, for messages. */
  named: Named
  body: BodyReader
  /** Called when the body was read to its end, so that the connection can be used again. */
  finished(): void
  slot: Slot
  deadline: Deadline
  bytesMax: number
  memory: OutboundMemory | undefined
  clock: Clock
}

/**
 * The body of a response whose status and headers have arrived. It counts the bytes as they arrive. It keeps the
 * request's slot and deadline until the body was read to its end, failed or was closed; while it waits for memory, it
 * lends the slot. If nobody reads the body, the
 * deadline ends the request.
 */
export class ResponseBody implements OutboundBody {
  readonly #parts: ResponseBodyParts
  #bytes = 0
  #isOver = false

  constructor(parts: ResponseBodyParts) {
    this.#parts = parts
    parts.deadline.phase = 'the rest of the response'
    parts.deadline.onEnd = () => this.#release()
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { body, deadline, named, finished, bytesMax, memory } = this.#parts
    if (deadline.reason) throw deadline.reason
    if (this.#isOver) return undefined
    let part: Uint8Array<ArrayBuffer> | undefined
    try {
      part = await body.read()
    } catch (error) {
      this.#fail(failureOf(error, named))
    }
    if (deadline.reason) throw deadline.reason
    if (!part) {
      finished()
      this.#release()
      return undefined
    }
    this.#bytes += part.byteLength
    memory?.add(part.byteLength)
    if (memory && !memory.hasRoom()) await this.#room(memory)
    if (this.#bytes <= bytesMax) return part
    const message = `The response of ${named.name} is larger than ${bytesMax} bytes, the limit for a response`
    return this.#fail(new OutboundError('RESPONSE_TOO_LARGE', message))
  }

  async #room(memory: OutboundMemory): Promise<void> {
    const { clock, deadline, slot } = this.#parts
    deadline.phase = 'free memory'
    // The runs that hold the memory may need the slot for their next request.
    slot.lend()
    while (!memory.hasRoom()) {
      await new Promise<void>((resolve) => void clock.setTimer(roomCheckMs, resolve))
      if (deadline.reason) throw deadline.reason
    }
    deadline.phase = 'the rest of the response'
  }

  /** Ends the request; the rest of its response is not read. */
  close(reason = new OutboundError('CANCELLED', 'The response was not read to its end')): void {
    if (this.#isOver) return
    const { body, deadline } = this.#parts
    this.#release()
    body.cancel()
    deadline.end(reason)
  }

  #fail(reason: OutboundError): never {
    this.close(reason)
    throw this.#parts.deadline.reason ?? reason
  }

  #release(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { deadline, slot } = this.#parts
    deadline.onEnd = undefined
    deadline.lift()
    slot.release()
  }
}

const roomCheckMs = 50
