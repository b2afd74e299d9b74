import type { Server } from 'bun'
import type { Clock } from '../domain/clock.ts'
import { requestIdOf } from './access/request-id.ts'

/** Handles requests once the service is up: an Elysia app. */
export type RequestHandler = {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** The server that handlers receive from Elysia. */
  server: Server<unknown> | null
}

export type ListenerOptions = { hostname: string; port: number; version: string }

/**
 * The listening socket. It listens before the rest of the service is loaded. Until `open`, it responds to
 * `/health/live` only; other requests wait until the service is up, so that no request is refused during the start.
 * Throws when the port is taken.
 */
export class Listener {
  readonly #server: Server<unknown>
  readonly #opened = Promise.withResolvers<RequestHandler['fetch']>()

  constructor({ hostname, port, version }: ListenerOptions) {
    this.#server = Bun.serve({
      ...options,
      hostname,
      port,
      fetch: (request) =>
        isLiveCheck(isUsable(request.headers.get('host')) ? request : withHost(request))
          ? alive(request, version)
          : this.#afterOpening(request),
    })
  }

  get port(): number {
    return this.#server.port ?? 0
  }

  /**
   * Passes all requests to the app. `error` responds when the app itself fails. `seen` wraps the server that handlers
   * see, for example behind proxies; it is a function so that the code for it loads after the socket listens.
   */
  open(app: RequestHandler, error: (thrown: Error) => Response, { seen, note, admit }: OpenOptions = {}): void {
    const server = seen ? seen(this.#server) : this.#server
    app.server = server
    // On Elysia this getter compiles the router. It is read at the start, so that the first request does not wait for
    // it.
    const { fetch } = app
    /** The latest usable Host. Most requests send the same one, so it is checked once. */
    let usual: string | undefined
    const handle = (given: Request) => {
      const host = given.headers.get('host')
      if (host !== usual && isUsable(host)) usual = host
      note?.(`${given.method} ${withoutQuery(given.url)}`)
      const request = host === usual ? given : withHost(given)
      return admit?.(request) ?? fetch(request)
    }
    this.#server.reload({ ...options, fetch: handle, error })
    this.#opened.resolve(handle)
  }

  /** Accepts no more connections. With `closeAll`, also closes the existing ones. */
  async stop(closeAll: boolean): Promise<void> {
    await this.#server.stop(closeAll)
  }

  /** Gives responses that are already written a moment to reach their callers, then ends all connections. */
  async close(closing: Promise<void>, clock: Pick<Clock, 'setTimer'>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = clock.setTimer(closeMs, resolve)
    await Promise.race([closing, late])
    timer.cancel()
    await this.stop(true)
  }

  async #afterOpening(request: Request): Promise<Response> {
    const handle = await this.#opened.promise
    return await handle(request)
  }
}

type OpenOptions = {
  seen?: ((server: Server<unknown>) => Server<unknown>) | undefined
  /** Called with each request, before it is handled. */
  note?(text: string): void
  /** Called with each request after `note`. It is not handled if this responds. */
  admit?: ((request: Request) => Response | undefined) | undefined
}

/** For responses that are already written. */
const closeMs = 500

const options = {
  // Bun's own default would be fine; said here because sharing the port with a second instance loses requests silently.
  reusePort: false,
  // Applies to requests in progress; long runs lift it for their own connection.
  idleTimeout: 60,
  // Bodies are bounded where they are read, with a response that says so; Bun would close the connection.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  development: false,
}

/** A query may contain secrets. */
function withoutQuery(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

function isUsable(host: string | null): host is string {
  return host !== null && /^[\w.:[\]%~-]+$/.test(host)
}

/**
 * Without a usable Host (HTTP/1.0 probes of load balancers send none) Bun makes the first part of the path the host of
 * the address; here it becomes a part of the path again.
 */
function withHost(request: Request): Request {
  return new Request(`http://localhost/${request.url.replace(/^(https?:)?\/*/, '')}`, request)
}

function isLiveCheck({ method, url }: Request): boolean {
  return method === 'GET' && /^https?:\/\/[^/]*\/health\/live(\?|$)/.test(url)
}

/** The same response that the route gives later. */
function alive(request: Request, version: string): Response {
  const headers = { 'x-request-id': requestIdOf(request.headers), 'x-content-type-options': 'nosniff' }
  return Response.json({ status: 'ok', version }, { headers })
}
