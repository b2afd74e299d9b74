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
 * A stream of server-sent events: what is sent waits here until the connection takes it. An async iterator is what Bun
 * asks for more only when the socket has room (a pushed ReadableStream and one of the type "direct" are not held back by a
 * slow reader, Bun 1.4.5), so the bound on what waits is a bound on the memory of a stream. It is no generator: thousands of
 * readers may be waiting, and each of those would take half a kilobyte more.
 */
export class EventStream implements AsyncIterableIterator<string> {
  readonly #options: EventStreamOptions
  #waiting: string[] = []
  #bytesWaiting = 0
  #state: 'open' | 'ended' | 'cut' = 'open'
  #isOverflown = false
  /** The reader, while it waits for more. */
  #reader: ((next: Next | Promise<Next>) => void) | undefined
  /** The reader takes all that waits when this moment is over. */
  #isWoken = false
  #wasAsked = false
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
    this.#wake()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** What goes over the connection next: all that waits, together. */
  next(): Promise<Next> {
    this.#wasAsked = true
    if (this.#waiting.length > 0 || this.#state !== 'open') return this.#take()
    return new Promise((resolve) => {
      this.#reader = resolve
    })
  }

  /** The reader has left. */
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
    // The connection breaks: an end would say that this was all. Bun prints what is thrown, but for this.
    if (this.#state === 'cut' && this.#isOverflown) throw undefined
    this.#cut()
    return { value: undefined, done: true }
  }

  /** Not at once: what is sent in the same moment leaves together. */
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
    // What is sent before a reader can have taken anything says nothing of the reader: a run may give a lot in one moment.
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

  /** The reader is gone, or is to go: nothing is kept for it any more. */
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
