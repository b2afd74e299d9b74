import {
  OutboundError,
  type OutboundFailureCode,
  type OutboundOpen,
  type OutboundRequest,
  type OutboundStream,
} from '../domain/outbound-request.ts'
import type { ProviderRequest } from './providers.ts'
import { TextTap } from './text-tap.ts'

/**
 * Sends the request of one call by `outbound`, and remembers what became of it, because what providers' code makes of a
 * failure is different in each.
 */
export class Wire {
  readonly #open: OutboundOpen
  readonly #bounds: WireBounds
  readonly #onText: ((text: string) => void) | undefined
  #answer: OutboundStream | undefined
  #tap: TextTap | undefined
  /** Why no whole answer arrived. */
  failure: { code: OutboundFailureCode; message: string } | undefined
  status: number | undefined
  retryAfter: string | undefined
  host = 'the model'
  /** Whether the answer arrived to its end. */
  finished = false

  /** `onText`: takes pieces of text before the provider's code sees them, where the protocol is OpenAI's. */
  constructor(open: OutboundOpen, bounds: WireBounds, onText?: (text: string) => void) {
    this.#open = open
    this.#bounds = bounds
    this.#onText = onText
  }

  get answered(): boolean {
    return this.status !== undefined
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
    const { answer } = outcome
    const { status, headers: answered } = answer
    this.status = status
    const { 'retry-after': retryAfter, 'content-type': type } = answered
    if (typeof retryAfter === 'string') this.retryAfter = retryAfter
    const isStream = status === 200 && String(type).startsWith('text/event-stream')
    this.#tap = this.#onText && isStream ? new TextTap(this.#onText) : undefined
    this.#answer = answer
  }

  /** What the provider's code is to read, as soon as there is something in it for its four streams, which take 11 KB. */
  async response(): Promise<Response> {
    const first = await this.#next()
    const { status, headers } = this.#answer!
    return new Response(this.#bodyFrom(first), {
      status,
      headers: { 'content-type': String(headers['content-type'] ?? 'text/plain') },
    })
  }

  /** What the provider's code is to read next; undefined at the end. Never rejects: a failure is remembered. */
  async #next(): Promise<Bytes | undefined> {
    const tap = this.#tap
    try {
      for (;;) {
        const part = await this.#answer!.read()
        if (!part) break
        const rest = tap ? tap.push(part) : part
        if (rest) return rest
      }
      this.finished = true
    } catch (error) {
      const { code, message } = error as OutboundError
      this.failure = { code, message }
    }
    return tap?.end()
  }

  #bodyFrom(first: Bytes | undefined): ReadableStream<Bytes> {
    let next = first
    return new ReadableStream(
      {
        pull: async (controller) => {
          const isOver = this.finished || this.failure
          const part = next ?? (isOver ? undefined : await this.#next())
          next = undefined
          if (part) controller.enqueue(part)
          else if (this.failure) controller.error(new OutboundError(this.failure.code, this.failure.message))
          else controller.close()
        },
        cancel: () => this.#answer?.close(),
      },
      { highWaterMark: 0 },
    )
  }
}

type Bytes = Uint8Array<ArrayBuffer>
type WireBounds = Pick<OutboundRequest, 'timeoutMs' | 'signal' | 'answerBytesMax'>
