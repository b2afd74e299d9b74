import { OutboundError, type OutboundOpen, type OutboundRequest } from '../domain/outbound-request.ts'

/**
 * The `fetch` that a provider's code is given for one call: it sends by `outbound`, and remembers what became of the
 * request, because what providers' code makes of a failure is different in each.
 */
export class Wire {
  readonly #open: OutboundOpen
  readonly #bounds: Pick<OutboundRequest, 'timeoutMs' | 'signal' | 'answerBytesMax'>
  /** Why no whole answer arrived. */
  failure: { code: string; message: string } | undefined
  status: number | undefined
  retryAfter: string | undefined
  host = 'the model'
  /** Whether the answer arrived to its end. */
  finished = false

  constructor(open: OutboundOpen, bounds: Pick<OutboundRequest, 'timeoutMs' | 'signal' | 'answerBytesMax'>) {
    this.#open = open
    this.#bounds = bounds
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
    return new Response(this.#watched(body), { status, headers: { 'content-type': String(type ?? 'text/plain') } })
  }

  #watched(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
    const reader = body.getReader()
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            const { value, done } = await reader.read()
            if (!done) return controller.enqueue(value)
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
