import { createParser } from 'eventsource-parser'
import type { ErrorDetail } from '../domain/errors.ts'
import { messageOf } from '../domain/errors.ts'
import { CommandError } from './command.ts'

export type ClientOptions = {
  /** The service's address, without a slash at its end. */
  url: string
  apiKey: string | undefined
  /** How long an answer may take; undefined waits as long as it takes. */
  timeoutMs?: number
}

/** An answer that says no. The message names the address and what the service said. */
export class ServiceError extends CommandError {
  readonly status: number
  /** The service's code, e.g. `NOT_FOUND`; empty when it gave none. */
  readonly code: string
  readonly details: readonly ErrorDetail[]
  /** When it wants to be asked again, in seconds; undefined when it does not say. */
  readonly retryAfterS: number | undefined
  constructor(
    message: string,
    hint: string | undefined,
    answer: Pick<ServiceError, 'status' | 'code' | 'details' | 'retryAfterS'>,
  ) {
    super(message, hint)
    this.name = 'ServiceError'
    this.status = answer.status
    this.code = answer.code
    this.details = answer.details
    this.retryAfterS = answer.retryAfterS
  }
}

/** Nothing answers at the service's address, or not in time. */
export class UnreachableError extends CommandError {
  constructor(message: string, cause: unknown) {
    const hint = 'Is the service running (millrace serve)? Name another address with --url or MILLRACE_URL.'
    super(message, hint, cause)
    this.name = 'UnreachableError'
  }
}

export type Answer = { status: number; headers: Headers; text: string }

/** Speaks to a service's API with one key. */
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
    const answer = await this.send('DELETE', path)
    if (answer.status >= 300) throw this.refusal('DELETE', path, answer)
  }

  /** One request; an answer of any status is an answer. */
  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    return await this.#exchange(method, path, body, async (response) => ({
      status: response.status,
      headers: response.headers,
      text: await response.text(),
    }))
  }

  /** A request whose answer may be an event stream: its messages go to `message` as they come, and `text` is empty then. */
  async stream(path: string, body: unknown, message: (data: string) => void): Promise<Answer> {
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
      // Without this Bun gives up after five minutes, which is less than a run may take.
      timeout: false,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
      // A proxy of the environment cannot reach this machine's own addresses.
      ...(isLoopback(url) ? { proxy: false as unknown as string } : {}),
    }
    const response = await this.#open(url + path, init)
    try {
      return await read(response)
    } catch (error) {
      throw new UnreachableError(`The answer of ${url} broke off: ${messageOf(error)}`, error)
    }
  }

  async #open(address: string, init: BunFetchRequestInit): Promise<Response> {
    const { url, timeoutMs } = this.#options
    try {
      return await fetch(address, init)
    } catch (error) {
      const late = error instanceof Error && error.name === 'TimeoutError'
      const message = late
        ? `${url} did not answer within ${timeoutMs} ms.`
        : `Nothing answers at ${url}: ${messageOf(error)}`
      throw new UnreachableError(message, error)
    }
  }

  async #json<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.send(method, path, body)
    if (answer.status >= 300) throw this.refusal(method, path, answer)
    try {
      return JSON.parse(answer.text) as Body
    } catch {
      throw new CommandError(
        `${this.url}${path} answered ${answer.status} with something that is no JSON.`,
        'Is a Millrace service at this address? Name another with --url or MILLRACE_URL.',
      )
    }
  }

  /** The error that an answer with a status of 300 or more is. */
  refusal(method: string, path: string, answer: Answer): ServiceError {
    const said = problemOf(answer.text)
    const details = said.details.map(({ path, message }) => `\n  ${path}: ${message}`).join('')
    const message = `${method} ${this.url}${path} answered ${answer.status}: ${said.error ?? 'no reason given'}${details}`
    return new ServiceError(message, hintFor(answer.status, said.error === undefined), {
      status: answer.status,
      code: said.code,
      details: said.details,
      retryAfterS: secondsIn(answer.headers.get('retry-after')),
    })
  }
}

/** The path of a resource, its parts escaped. */
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
    return 'Give a key with --key or MILLRACE_API_KEY. A new one: millrace keys create --name NAME --data DIR'
  }
  if (status === 429 || status === 503) return 'Try again in a moment.'
  if (foreign) return 'Is a Millrace service at this address? Name another with --url or MILLRACE_URL.'
  return undefined
}

function isLoopback(url: string): boolean {
  return /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/i.test(url)
}
