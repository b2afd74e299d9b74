import type { Clock, Timer } from '../domain/clock.ts'

export type EventStreamOptions = {
  clock: Clock
  /** Bytes that wait for a slow reader at most. A message that waits alone may be longer: it says nothing of its reader. */
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
    const text = textOf(data)
    this.#push(text, Buffer.byteLength(text))
  }

  /** Keeps proxies from closing the connection; readers do not see it, and it counts for nothing. */
  comment(text: string): void {
    this.#push(`: ${text}\n\n`, 0)
  }

  /** The stream ends when all that waits has been taken, and these behind it: they are taken in however long they are. */
  end(...last: readonly string[]): void {
    if (this.#state === 'open') {
      for (const data of last) this.#waiting.push(textOf(data))
      this.#state = 'ended'
    }
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
        } else if (this.#state === 'cut' && this.#isOverflown) {
          // The connection breaks: an end would say that this was all. Bun prints what is thrown, but for this.
          throw undefined
        } else return
      }
    } finally {
      // Also when the reader has left: then nobody asks for more.
      this.#cut()
    }
  }

  #push(text: string, bytes: number): void {
    if (this.#state !== 'open') return
    const { bytesWaitingMax, messagesWaitingMax = Number.POSITIVE_INFINITY } = this.#options
    const isBehind = this.#bytesWaiting > 0 && this.#bytesWaiting + bytes > bytesWaitingMax
    if (isBehind || this.#waiting.length >= messagesWaitingMax) {
      this.#overflow()
      return
    }
    this.#waiting.push(text)
    this.#bytesWaiting += bytes
    this.#more.resolve()
  }

  #overflow(): void {
    const { farewell, onOverflow } = this.#options
    this.#isOverflown = true
    this.#cut()
    if (farewell !== undefined) {
      this.#waiting = [textOf(farewell)]
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

function textOf(data: string): string {
  return `data: ${data}\n\n`
}

const pingMs = 15_000

export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const
