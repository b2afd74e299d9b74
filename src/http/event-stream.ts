import type { Clock, Timer } from '../domain/clock.ts'

export type EventStreamOptions = {
  clock: Clock
  /** Bytes that wait for a slow reader at most. */
  bytesWaitingMax: number
  /** Messages that wait at most; as many as fit when absent. */
  messagesWaitingMax?: number
  /** What a reader who is too slow finds as the last message, in the place of all that waited. Nothing when absent. */
  farewell?: string
  /** Told once when more waits. Nothing is kept any more. */
  onOverflow(): void
}

/**
 * A stream of server-sent events: what is sent waits here until the connection takes it. An async generator is what Bun
 * asks for more only when the socket has room (a pushed ReadableStream and one of the type "direct" are not held back by a
 * slow reader, Bun 1.4.5), so the bound on what waits is a bound on the memory of a stream.
 */
export class EventStream {
  readonly #options: EventStreamOptions
  #waiting: string[] = []
  #bytesWaiting = 0
  #state: 'open' | 'ended' | 'cut' = 'open'
  #isOverflown = false
  #more = Promise.withResolvers<void>()
  #ping: Timer | undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.comment('open')
    this.#pingLater()
  }

  /** Whether the reader was too slow. */
  get isOverflown(): boolean {
    return this.#isOverflown
  }

  /** A message: JSON data, or a text that stands for itself. */
  message(data: string): void {
    this.#push(`data: ${data}\n\n`)
  }

  /** Keeps proxies from closing the connection; readers do not see it. */
  comment(text: string): void {
    this.#push(`: ${text}\n\n`)
  }

  /** The stream ends when all that waits has been taken. */
  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
    this.#ping?.cancel()
    this.#more.resolve()
  }

  /** What goes over the connection. */
  async *body(): AsyncGenerator<string> {
    try {
      for (;;) {
        if (this.#waiting.length > 0) {
          const text = this.#waiting.join('')
          this.#waiting = []
          this.#bytesWaiting = 0
          yield text
        } else if (this.#state === 'open') {
          await this.#more.promise
          this.#more = Promise.withResolvers()
        } else return
      }
    } finally {
      // Also when the reader has left: then nobody asks for more.
      this.#cut()
    }
  }

  #push(text: string): void {
    if (this.#state !== 'open') return
    this.#bytesWaiting += Buffer.byteLength(text)
    const { bytesWaitingMax, messagesWaitingMax = Number.POSITIVE_INFINITY } = this.#options
    if (this.#bytesWaiting > bytesWaitingMax || this.#waiting.length >= messagesWaitingMax) {
      this.#overflow()
      return
    }
    this.#waiting.push(text)
    this.#more.resolve()
  }

  #overflow(): void {
    const { farewell, onOverflow } = this.#options
    this.#isOverflown = true
    this.#cut()
    if (farewell !== undefined) {
      this.#waiting = [`data: ${farewell}\n\n`]
      this.#state = 'ended'
    }
    onOverflow()
  }

  /** The reader is gone, or is to go: nothing is kept for it any more. */
  #cut(): void {
    this.#state = 'cut'
    this.#waiting = []
    this.#bytesWaiting = 0
    this.#ping?.cancel()
    this.#more.resolve()
  }

  #pingLater(): void {
    this.#ping = this.#options.clock.setTimer(pingMs, () => {
      if (this.#state !== 'open') return
      this.comment('ping')
      this.#pingLater()
    })
  }
}

const pingMs = 15_000

export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const
