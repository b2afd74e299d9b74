import { OutboundError, type OutboundOpen, type OutboundRequest } from '../domain/outbound-request.ts'
import { TextTap } from './text-tap.ts'

/**
 * The `fetch` that a provider's code is given for one call: it sends by `outbound`, and remembers what became of the
 * request, because what providers' code makes of a failure is different in each.
 */
export class Wire {
  readonly #open: OutboundOpen
  readonly #bounds: WireBounds
  readonly #onText: ((text: string) => void) | undefined
  /** Why no whole answer arrived. */
  failure: { code: string; message: string } | undefined
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

  fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input)
    this.host = URL.parse(url)?.host ?? url
    const headers = [...new Headers(init.headers)].filter(([name]) => name !== 'user-agent')
    const outcome = await this.#open({
      ...this.#bounds,
      url,
      method: init.method ?? 'POST',
      headers,
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
      followRedirects: 0,
    })
    if (!outcome.ok) {
      this.failure = outcome
      throw new OutboundError(outcome.code, outcome.message)
    }
    const { status, headers: answered, body } = outcome.answer
    this.status = status
    const { 'retry-after': retryAfter, 'content-type': type } = answered
    if (typeof retryAfter === 'string') this.retryAfter = retryAfter
    const isStream = status === 200 && String(type).startsWith('text/event-stream')
    const tap = this.#onText && isStream ? new TextTap(this.#onText) : undefined
    return new Response(this.#watched(body, tap), { status, headers: { 'content-type': String(type ?? 'text/plain') } })
  }

  #watched(
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    tap: TextTap | undefined,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    const reader = body.getReader()
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            for (;;) {
              const { value, done } = await reader.read()
              if (done) break
              const rest = tap ? tap.push(value) : value
              if (rest) return controller.enqueue(rest)
            }
            this.finished = true
            controller.close()
          } catch (error) {
            const { code, message } = error as OutboundError
            this.failure = { code, message }
            controller.error(error)
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }
}

type WireBounds = Pick<OutboundRequest, 'timeoutMs' | 'signal' | 'answerBytesMax'>
