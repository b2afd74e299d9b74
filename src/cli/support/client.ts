import { createParser } from 'eventsource-parser'
import type { ErrorDetail } from '../../domain/errors.ts'
import { messageOf } from '../../domain/errors.ts'
import { CommandError } from '../command.ts'

export type ClientOptions = {
  /** The address of the service, without a slash at its end. */
  url: string
  apiKey: string | undefined
  /** The timeout of a request; undefined for none. */
  timeoutMs?: number
}

/** The service refused a request. The message names the address and the service's reason. */
export class ServiceError extends CommandError {
  readonly status: number
  /** The service's error code, e.g. `NOT_FOUND`; empty when there is none. */
  readonly code: string
  readonly details: readonly ErrorDetail[]
  /** When to retry, in seconds; undefined when the service does not say. */
  readonly retryAfterS: number | undefined
  constructor(
    message: string,
    hint: string | undefined,
    response: Pick<ServiceError, 'status' | 'code' | 'details' | 'retryAfterS'>,
  ) {
    super(message, hint)
    this.name = 'ServiceError'
    this.status = response.status
    this.code = response.code
    this.details = response.details
    this.retryAfterS = response.retryAfterS
  }
}

/** The service did not respond, or not in time. */
export class UnreachableError extends CommandError {
  constructor(message: string, cause: unknown) {
    const hint = 'Is the service running (millrace serve)? Use --url or MILLRACE_URL for another address.'
    super(message, hint, cause)
    this.name = 'UnreachableError'
  }
}

export type ServiceResponse = { status: number; headers: Headers; text: string }

/** A client for the API of a service, with one key. */
export class Client {
  readonly #options: ClientOptions
  constructor(options: ClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') }
  }

  get url(): string {
    return this.#options.url
  }

  get<Body>(path: string): Promise<Body> {
    return this.#json<Body>('GET', path)
  }

  post<Body>(path: string, body?: unknown): Promise<Body> {
    return this.#json<Body>('POST', path, body)
  }

  put<Body>(path: string, body: unknown): Promise<Body> {
    return this.#json<Body>('PUT', path, body)
  }

  async delete(path: string): Promise<void> {
    const response = await this.send('DELETE', path)
    if (response.status >= 300) throw this.refusal('DELETE', path, response)
  }

  /** Sends one request. A response with an error status is returned, not thrown. */
  async send(method: string, path: string, body?: unknown): Promise<ServiceResponse> {
    return await this.#exchange(method, path, body, async (response) => ({
      status: response.status,
      headers: response.headers,
      text: await response.text(),
    }))
  }

  /** Sends a request whose response may be an event stream: `message` receives each message; `text` is then empty. */
  async stream(path: string, body: unknown, message: (data: string) => void): Promise<ServiceResponse> {
    return await this.#exchange('POST', path, body, async (response) => {
      const { status, headers } = response
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
      if (!isStream || !response.body) return { status, headers, text: await response.text() }
      const parser = createParser({ onEvent: ({ data }) => message(data) })
      const decoder = new TextDecoder()
      for await (const bytes of response.body) parser.feed(decoder.decode(bytes, { stream: true }))
      return { status, headers, text: '' }
    })
  }

  async #exchange<Read>(
    method: string,
    path: string,
    body: unknown,
    read: (response: Response) => Promise<Read>,
  ): Promise<Read> {
    const { url, apiKey, timeoutMs } = this.#options
    const init: BunFetchRequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      redirect: 'manual',
      // Bun's own timeout of five minutes is shorter than a run may take.
      timeout: false,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
      // A proxy from the environment cannot reach this machine's loopback addresses.
      ...(isLoopback(url) ? { proxy: false as unknown as string } : {}),
    }
    const response = await this.#open(url + path, init)
    try {
      return await read(response)
    } catch (error) {
      throw new UnreachableError(`The response from ${url} was interrupted: ${messageOf(error)}`, error)
    }
  }

  async #open(address: string, init: BunFetchRequestInit): Promise<Response> {
    const { url, timeoutMs } = this.#options
    try {
      return await fetch(address, init)
    } catch (error) {
      const late = error instanceof Error && error.name === 'TimeoutError'
      const message = late
        ? `${url} did not respond within ${timeoutMs} ms.`
        : `${url} cannot be reached: ${messageOf(error)}`
      throw new UnreachableError(message, error)
    }
  }

  async #json<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const response = await this.send(method, path, body)
    if (response.status >= 300) throw this.refusal(method, path, response)
    try {
      return JSON.parse(response.text) as Body
    } catch {
      throw new CommandError(
        `${this.url}${path} returned ${response.status} with a body that is not JSON.`,
        'Is a Millrace service at this address? Use --url or MILLRACE_URL for another address.',
      )
    }
  }

  /** The error for a response with a status of 300 or more. */
  refusal(method: string, path: string, response: ServiceResponse): ServiceError {
    const said = problemOf(response.text)
    const details = said.details.map(({ path, message }) => `\n  ${path}: ${message}`).join('')
    const reason = `${said.error ?? 'no reason given'}${details}`
    const message = `${method} ${this.url}${path} returned ${response.status}: ${reason}`
    return new ServiceError(message, hintFor(response.status, said.error === undefined), {
      status: response.status,
      code: said.code,
      details: said.details,
      retryAfterS: secondsIn(response.headers.get('retry-after')),
    })
  }
}

/** The path of a resource, with escaped segments. */
export function pathOf(strings: TemplateStringsArray, ...parts: (string | number)[]): string {
  return String.raw({ raw: strings }, ...parts.map((part) => encodeURIComponent(part)))
}

type Problem = { error: string | undefined; code: string; details: readonly ErrorDetail[] }

function problemOf(text: string): Problem {
  try {
    const { error, code, details } = JSON.parse(text) as { error?: unknown; code?: unknown; details?: unknown }
    return {
      error: typeof error === 'string' ? error : undefined,
      code: typeof code === 'string' ? code : '',
      details: Array.isArray(details) ? (details as ErrorDetail[]) : [],
    }
  } catch {
    return { error: undefined, code: '', details: [] }
  }
}

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined
}

function hintFor(status: number, foreign: boolean): string | undefined {
  if (status === 401) {
    return 'Give a key with --key or MILLRACE_API_KEY. To create one: millrace keys create --name NAME --data DIR'
  }
  if (status === 429 || status === 503) return 'Try again in a moment.'
  if (foreign) return 'Is a Millrace service at this address? Use --url or MILLRACE_URL for another address.'
  return undefined
}

function isLoopback(url: string): boolean {
  return /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/i.test(url)
}
