import type { Clock, Timer } from '../domain/clock.ts'
import {
  type OutboundBody,
  OutboundError,
  type OutboundFailureCode,
  type OutboundOpen,
  type OutboundRequest,
} from '../domain/outbound-request.ts'
import type { Send } from './providers.ts'

type Bounds = Pick<OutboundRequest, 'timeoutMs' | 'signal' | 'workspaceId' | 'responseBytesMax' | 'authorization'> & {
  /** In addition to those of the provider's code. */
  headers: OutboundRequest['headers']
}

/**
 * Sends the request of one model call through `outbound` and records what happened, because each provider's code
 * reports failures differently.
 */
export class ModelTransport {
  readonly #open: OutboundOpen
  readonly #clock: Clock
  readonly #bounds: Bounds
  /** Why no complete response arrived. */
  failure: { code: OutboundFailureCode; message: string } | undefined
  status: number | undefined
  retryAfter: string | undefined
  host = 'the model'
  /** Whether the response arrived to its end. */
  isFinished = false

  constructor(open: OutboundOpen, clock: Clock, bounds: Bounds) {
    this.#open = open
    this.#clock = clock
    this.#bounds = bounds
  }

  /** The headers that the credential replaces: without an API key, the provider's code sends a meaningless one. */
  get #replaced(): ReadonlySet<string> {
    return this.#bounds.authorization ? keyHeaders : noHeaders
  }

  #kept(headers: HeadersInit | undefined): [string, string][] {
    return [...new Headers(headers)].filter(([name]) => !ownHeaders.has(name) && !this.#replaced.has(name))
  }

  /** The `fetch` of the provider's code. Rejects with an `OutboundError`. */
  readonly send: Send = async (input, { method = 'POST', headers, body } = {}) => {
    const url = input instanceof Request ? input.url : String(input)
    this.host = URL.parse(url)?.host ?? url
    const outcome = await this.#open({
      ...this.#bounds,
      url,
      method,
      headers: [...this.#kept(headers), ...this.#bounds.headers],
      body: typeof body === 'string' ? body : '',
      followRedirects: 0,
    })
    if (!outcome.ok) {
      this.failure = outcome
      throw new OutboundError(outcome.code, outcome.message)
    }
    const { status, headers: responseHeaders, body: arriving } = outcome.response
    this.status = status
    this.retryAfter = responseHeaders['retry-after']?.toString()
    const type = responseHeaders['content-type']?.toString() ?? 'text/plain'
    return new Response(this.#streamOf(arriving), { status, headers: { 'content-type': type } })
  }

  /**
   * The body for the provider's code. Nothing is read ahead, so that an error is reported after everything that arrived
   * before it.
   */
  #streamOf(body: OutboundBody): ReadableStream<Uint8Array<ArrayBuffer>> {
    const ending = new StreamEnding()
    let closing: Timer | undefined
    const finish = (controller: ReadableStreamDefaultController) => {
      if (this.isFinished) return
      this.isFinished = true
      closing?.cancel()
      controller.close()
      body.close()
    }
    const pull = async (controller: ReadableStreamDefaultController) => {
      const part = await body.read().catch((error: OutboundError) => error)
      if (this.isFinished) return
      if (part instanceof OutboundError && !ending.isReached) {
        this.failure = { code: part.code, message: part.message }
        // An error discards what the streams of the provider's code have not passed on yet. They need no more than a
        // turn.
        await new Promise((resolve) => setImmediate(resolve))
        controller.error(part)
      } else if (part instanceof Uint8Array) {
        ending.add(part)
        // Some servers report that they are done and keep the connection open. Most of them end the response a moment
        // later: waiting for that keeps the connection for the next request.
        if (ending.isReached) closing ??= this.#clock.setTimer(endingMsMax, () => finish(controller))
        controller.enqueue(part)
      } else finish(controller)
    }
    const cancel = () => {
      closing?.cancel()
      body.close()
    }
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
  }
}

/** Recognises the last event of OpenAI's protocol, `data: [DONE]`, however the stream is cut into parts. */
class StreamEnding {
  #tail = ''
  isReached = false

  add(part: Uint8Array): void {
    const last = part.subarray(-tailBytes)
    const text = Buffer.from(last.buffer, last.byteOffset, last.length).toString('latin1')
    this.#tail = (this.#tail + text).slice(-tailBytes)
    // JSON holds no line breaks, so no text of a model looks like this.
    this.isReached ||= /\ndata: ?\[DONE\]\s*$/.test(this.#tail)
  }
}

const tailBytes = 24
/** Between the last event and the end of the response, only a few bytes are left to send. */
const endingMsMax = 1_000

/** The service sends its own User-Agent. */
const ownHeaders: ReadonlySet<string> = new Set(['user-agent'])
const keyHeaders: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'x-goog-api-key'])
const noHeaders: ReadonlySet<string> = new Set()
