import type { Clock, Timer } from '../../domain/clock.ts'

export type EventStreamOptions = {
  clock: Clock
  /** Limit on the bytes that wait for a slow reader. A single message may be longer. */
  bytesWaitingMax: number
  /** Limit on the messages that wait; no limit when absent. */
  messagesWaitingMax?: number
  /** The last message for a reader that is too slow, in place of everything that waited. None when absent. */
  farewell?: string
  /** Called once when a limit is exceeded. The stream keeps nothing from then on. */
  onOverflow(): void
}

/**
 * A stream of server-sent events. Messages wait here until the connection accepts them. It is an async iterator,
 * because Bun asks an iterator for more only when the socket has room; Bun 1.4.5 does not hold back a pushed or
 * "direct" ReadableStream for a slow reader. The limits on what waits therefore limit the memory of a stream. It is not
 * a generator, because that would cost half a kilobyte more for each of thousands of waiting readers.
 */
export class EventStream implements AsyncIterableIterator<string> {
  readonly #options: EventStreamOptions
  #waiting: string[] = []
  #bytesWaiting = 0
  #state: 'open' | 'ended' | 'cut' = 'open'
  #isOverflown = false
  /** The reader, while it waits for more. */
  #reader: ((next: Next | Promise<Next>) => void) | undefined
  /** Whether the waiting reader will be served in the next microtask. */
  #isWoken = false
  #wasAsked = false
  #ping: Timer | undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.comment('open')
    this.#pingLater()
  }

  /** Whether further messages will be sent. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Whether the reader was too slow. */
  get isOverflown(): boolean {
    return this.#isOverflown
  }

  /** Sends a message: JSON data, or literal text. */
  message(data: string): void {
    const text = textOf(data)
    this.#push(text, Buffer.byteLength(text))
  }

  /** Sends a comment, which keeps proxies from closing the connection. Readers ignore it, and it does not count. */
  comment(text: string): void {
    this.#push(`: ${text}\n\n`, 0)
  }

  /** Ends the stream after everything that waits and the messages in `last`, whatever their length. */
  end(...last: readonly string[]): void {
    if (this.#state === 'open') {
      for (const data of last) this.#waiting.push(textOf(data))
      this.#state = 'ended'
    }
    this.#ping?.cancel()
    this.#wake()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Everything that waits, as one chunk. */
  next(): Promise<Next> {
    this.#wasAsked = true
    if (this.#waiting.length > 0 || this.#state !== 'open') return this.#take()
    return new Promise((resolve) => {
      this.#reader = resolve
    })
  }

  /** Called when the reader disconnects. */
  return(): Promise<Next> {
    this.#cut()
    return Promise.resolve({ value: undefined, done: true })
  }

  async #take(): Promise<Next> {
    if (this.#waiting.length > 0) {
      const value = this.#waiting.join('')
      this.#waiting = []
      this.#bytesWaiting = 0
      return { value, done: false }
    }
    // Breaks the connection: a normal end would look complete. Bun prints every thrown value except `undefined`.
    if (this.#state === 'cut' && this.#isOverflown) throw undefined
    this.#cut()
    return { value: undefined, done: true }
  }

  /** Waits for a microtask, so that messages sent at the same time leave in one chunk. */
  #wake(): void {
    if (!this.#reader || this.#isWoken) return
    this.#isWoken = true
    queueMicrotask(() => {
      const reader = this.#reader
      this.#reader = undefined
      this.#isWoken = false
      reader?.(this.#take())
    })
  }

  #push(text: string, bytes: number): void {
    if (this.#state !== 'open') return
    const { bytesWaitingMax, messagesWaitingMax = Number.POSITIVE_INFINITY } = this.#options
    const isTooMuch = this.#bytesWaiting > 0 && this.#bytesWaiting + bytes > bytesWaitingMax
    // A run may send a lot before the reader had a chance to read; that does not make the reader slow.
    const isBehind = this.#wasAsked && !this.#isWoken
    if ((isTooMuch && isBehind) || this.#waiting.length >= messagesWaitingMax) {
      this.#overflow()
      return
    }
    this.#waiting.push(text)
    this.#bytesWaiting += bytes
    this.#wake()
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

  /** Drops everything that waits: the reader is gone, or will be disconnected. */
  #cut(): void {
    this.#state = 'cut'
    this.#waiting = []
    this.#bytesWaiting = 0
    this.#ping?.cancel()
    this.#wake()
  }

  #pingLater(): void {
    this.#ping = this.#options.clock.setTimer(pingMs, () => {
      if (this.#state !== 'open') return
      this.comment('ping')
      this.#pingLater()
    })
  }
}

type Next = IteratorResult<string, undefined>

function textOf(data: string): string {
  return `data: ${data}\n\n`
}

const pingMs = 15_000

export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const
