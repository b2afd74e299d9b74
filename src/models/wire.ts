import type { Clock, Timer } from '../domain/clock.ts'
import type { TokenCount } from '../domain/cost.ts'
import {
  type OutboundBody,
  OutboundError,
  type OutboundFailureCode,
  type OutboundOpen,
  type OutboundRequest,
  type OutboundSink,
} from '../domain/outbound-request.ts'
import type { ProviderRequest } from './providers.ts'
import { TextTap } from './text-tap.ts'

/**
 * Sends the request of one call by `outbound`, and remembers what became of it, because what providers' code makes of a
 * failure is different in each.
 */
export class Wire implements OutboundSink {
  readonly #open: OutboundOpen
  readonly #clock: Clock
  readonly #bounds: WireBounds
  readonly #onText: ((text: string) => void) | undefined
  #body: OutboundBody | undefined
  /** Until the provider's code has something to read. */
  #waiting: WireReader | undefined
  /** From then on. */
  #reader: ReadableStreamDefaultController<Bytes> | undefined
  /** Whether it has read all that came, and waits. */
  #isAsked = false
  #broken: OutboundError | undefined
  #type = 'text/plain'
  #tap: TextTap | undefined
  /** Why no whole answer arrived. */
  failure: { code: OutboundFailureCode; message: string } | undefined
  status: number | undefined
  retryAfter: string | undefined
  host = 'the model'
  /** Whether the answer arrived to its end. */
  finished = false
  /** After it has: lets the peer end it too, so that the connection can be used again. */
  #closing: Timer | undefined

  /** `onText`: takes pieces of text before the provider's code sees them, where the protocol is OpenAI's. */
  constructor(open: OutboundOpen, clock: Clock, bounds: WireBounds, onText?: (text: string) => void) {
    this.#open = open
    this.#clock = clock
    this.#bounds = bounds
    this.#onText = onText
  }

  get answered(): boolean {
    return this.status !== undefined
  }

  /** What the answer told of tokens, also if it broke off behind that. Only where the protocol is OpenAI's. */
  get tokens(): TokenCount | undefined {
    return this.#tap?.tokens
  }

  /** Resolves when an answer has begun. Rejects with an `OutboundError`. */
  async send({ url, method, headers, body }: ProviderRequest): Promise<void> {
    this.host = URL.parse(url)?.host ?? url
    const outcome = await this.#open({
      ...this.#bounds,
      url,
      method,
      headers: headers.filter(([name]) => name !== 'user-agent'),
      body,
      followRedirects: 0,
    })
    if (!outcome.ok) {
      this.failure = outcome
      throw new OutboundError(outcome.code, outcome.message)
    }
    const { status, headers: answered, body: arriving } = outcome.answer
    this.status = status
    const { 'retry-after': retryAfter, 'content-type': type } = answered
    if (typeof type === 'string') this.#type = type
    if (typeof retryAfter === 'string') this.retryAfter = retryAfter
    const isStream = status === 200 && this.#type.startsWith('text/event-stream')
    this.#tap = this.#onText && isStream ? new TextTap(this.#onText) : undefined
    this.#body = arriving
  }

  /**
   * Has the answer read, as soon as there is something in it for the four streams of the provider's code, which take 11 KB. The
   * reader is an object, and told once: here a call waits most of its time, a thousand others beside it.
   */
  read(reader: WireReader): void {
    this.#waiting = reader
    this.#body?.flow(this)
  }

  part(part: Bytes): void {
    if (this.finished) return
    const rest = this.#tap ? this.#tap.push(part) : part
    if (rest) {
      this.#respond()
      this.#isAsked = false
      this.#reader?.enqueue(rest)
    }
    if (this.#tap?.isDone) {
      this.#finish()
      // Some servers say that they are done, and leave it at that.
      this.#closing = this.#clock.setTimer(endingMsMax, () => this.#body?.close())
    }
  }

  ended(): void {
    this.#closing?.cancel()
    if (!this.finished) this.#finish()
  }

  failed(error: OutboundError): void {
    this.#closing?.cancel()
    if (this.finished) return
    this.failure = { code: error.code, message: error.message }
    this.#respond()
    if (this.#isAsked) this.#reader?.error(error)
    else this.#broken = error
  }

  #finish(): void {
    this.finished = true
    this.#respond()
    this.#reader?.close()
  }

  #respond(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.answered(
      new Response(this.#stream(), { status: this.status ?? 200, headers: { 'content-type': this.#type } }),
    )
  }

  /** A stream that breaks forgets what was not read of it: that waits until the reader has all that came before. */
  #stream(): ReadableStream<Bytes> {
    return new ReadableStream(
      {
        start: (controller) => {
          this.#reader = controller
        },
        pull: (controller) => {
          this.#isAsked = true
          if (this.#broken) controller.error(this.#broken)
        },
        cancel: () => {
          this.#reader = undefined
          if (!this.finished) this.#body?.close()
        },
      },
      { highWaterMark: 0 },
    )
  }
}

/** Between its last word and its end nothing is on the way but a few bytes. */
const endingMsMax = 1_000

/** Told that there is something of an answer to read. */
type WireReader = { answered(response: Response): void }
type Bytes = Uint8Array<ArrayBuffer>
type WireBounds = Pick<OutboundRequest, 'timeoutMs' | 'signal' | 'answerBytesMax'>
