import type { RateWindow } from '../accounts/rate-limit.ts'
import { AppError } from '../domain/errors.ts'
import type { KeyRow } from '../store/store.ts'
import { authenticate, type Caller, callerOf } from './auth.ts'
import { refuseOversized } from './body.ts'
import { addressOf, type ServerPort } from './connection.ts'
import { errorBody, errorHeaders, errorResponse, statusOf, toAppError } from './errors.ts'
import { assertAllowed, showsWindow, showWindow } from './rate-headers.ts'
import { requestIdOf } from './request-id.ts'
import { assertLocal, assertSameOrigin } from './same-origin.ts'
import type { Services } from './services.ts'
import { cookieFor, isHttps, tokenOf } from './session-cookie.ts'

/** The part of Elysia's `set` that is used: what the response will carry. */
export type ResponseSet = { status?: number | string; headers: Record<string, unknown> }

/** What the access log says about a request beyond the request itself. `runCode`: why the request's run failed. */
export type RequestNotes = {
  keyId?: string
  userId?: string
  workflowId?: string
  executionId?: string
  runCode?: string
}

/**
 * Where requests come in and responses go out: request ids, keys, the external API's rate limit, errors, the access log.
 * A handler calls `greet`, `enter`, `enterSession` or `enterExternal` first; plain calls and not hooks, because hooks cost every route
 * (one that touches headers cost a tenth of the execute endpoint's requests a second).
 */
export class Door {
  readonly #services: Services
  /** Of requests that are being answered. */
  readonly #visits = new WeakMap<Request, Visit>()

  constructor(services: Services) {
    this.#services = services
  }

  /** For everyone. Refuses a body that no route would take, whoever sends it. */
  allowAnonymous(request: Request, set: ResponseSet): void {
    set.headers['x-request-id'] = this.#visitOf(request).requestId
    set.headers['x-content-type-options'] = 'nosniff'
    refuseOversized(request.headers, this.#services.settings.bodyBytesMaxAnywhere)
    // Under the external API such a request counts like any other, and is refused when it has.
    if (!isExternal(pathOf(request))) refuseBrokenEscapes(request)
  }

  /** For holders of a key, and for people who are signed in. A key goes before a session. */
  async requireKeyOrSession(request: Request, set: ResponseSet): Promise<Caller> {
    this.allowAnonymous(request, set)
    const hasKey = (request.headers.get('x-api-key') ?? '') !== ''
    const signedIn = hasKey ? undefined : await this.#signedIn(request, set)
    return signedIn ?? (await this.#principal(request))
  }

  /** For people who are signed in, whatever key they send. */
  async requireSession(request: Request, set: ResponseSet): Promise<Caller> {
    this.allowAnonymous(request, set)
    set.headers['cache-control'] = 'no-store'
    set.headers['cross-origin-resource-policy'] = 'same-origin'
    const caller = await this.#signedIn(request, set)
    if (caller) return caller
    throw new AppError('SIGN_IN_REQUIRED', 'This is a part of the dashboard: sign in. It takes no key.')
  }

  /**
   * For holders of a key that call the external API: counts the request, and says on every response how many are left.
   * A request without a valid key counts against its address only.
   */
  async requireApiKey(
    request: Request,
    set: ResponseSet,
    server: Pick<ServerPort, 'requestIP'> | null,
  ): Promise<KeyRow> {
    const { limits } = this.#services
    let key: KeyRow
    try {
      this.allowAnonymous(request, set)
      key = await this.#principal(request)
    } catch (error) {
      const { code } = toAppError(error)
      if (code === 'API_KEY_REQUIRED' || code === 'INVALID_API_KEY') {
        this.#count(limits.takeRefused(addressOf(request, server)), set)
      }
      throw error
    }
    this.#count(limits.take('external', await limits.account(key.userId)), set)
    refuseBrokenEscapes(request)
    return key
  }

  /**
   * For routes that execute workflows: they take an API key, and count runs in windows of their own. Returns the key at
   * once when it is cached, so that a cached key costs no promise.
   */
  requireExecutionKey(request: Request, set: ResponseSet): KeyRow | Promise<KeyRow> {
    this.allowAnonymous(request, set)
    return this.#principal(request)
  }

  #principal(request: Request): KeyRow | Promise<KeyRow> {
    const noted = (key: KeyRow) => {
      this.note(request, { keyId: key.id })
      return key
    }
    const key = authenticate(this.#services, request.headers)
    return key instanceof Promise ? key.then(noted) : noted(key)
  }

  /** Undefined for a request without a session; SIGN_IN_REQUIRED when it has one that has ended. */
  async #signedIn(request: Request, set: ResponseSet): Promise<Caller | undefined> {
    const { sessions, settings, clock } = this.#services
    const token = tokenOf(request.headers)
    const own = token === undefined ? undefined : await sessions.find(token)
    const signedIn = own ?? (await sessions.visitor())
    if (!signedIn) {
      if (token === undefined) return undefined
      throw new AppError('SIGN_IN_REQUIRED', 'The session has ended. Sign in again.')
    }
    if (!own) assertLocal(request)
    assertSameOrigin(request, settings.baseUrl())
    const endsAt = own && token !== undefined ? sessions.renew(token) : undefined
    if (endsAt !== undefined && token !== undefined) {
      const maxAgeS = Math.ceil((endsAt - clock.now()) / 1000)
      set.headers['set-cookie'] = cookieFor(token, maxAgeS, isHttps(request, settings.baseUrl()))
    }
    this.note(request, { userId: signedIn.userId })
    return callerOf(signedIn)
  }

  /** For responses of the external API that are given before there is a key: the window of the caller's address. */
  showAddressWindow(request: Request, set: ResponseSet, server: Pick<ServerPort, 'requestIP'> | null): void {
    if (!isExternal(pathOf(request)) || showsWindow(set.headers)) return
    showWindow(set.headers, this.#services.limits.peekRefused(addressOf(request, server)))
  }

  #count(window: RateWindow, set: ResponseSet): void {
    showWindow(set.headers, window)
    assertAllowed(window, this.#services.clock.now())
  }

  /** Adds to the line about a request. */
  note(request: Request, notes: RequestNotes): void {
    Object.assign(this.#visitOf(request), notes)
  }

  /** Makes the response to a request that failed: its text, with status and headers in `set`. */
  onError(request: Request, set: ResponseSet, server: Pick<ServerPort, 'requestIP'> | null, thrown: unknown): string {
    const error = toAppError(thrown)
    this.showAddressWindow(request, set, server)
    const visit = this.#visitOf(request)
    const status = statusOf(error.code)
    const text = JSON.stringify(errorBody(error))
    visit.code = error.code
    set.status = status
    Object.assign(set.headers, errorHeaders(error), {
      'content-type': 'application/json',
      'x-request-id': visit.requestId,
    })
    this.#report(request, visit.requestId, error)
    this.#write(request, visit, { status, bytes: Buffer.byteLength(text), code: error.code })
    return text
  }

  /** The response when even the framework failed: it trips over a thrown `undefined`, say. */
  onFatal(thrown: unknown): Response {
    const requestId = crypto.randomUUID()
    const error = toAppError(thrown)
    this.#services.metrics.requests.failed(error.code)
    this.#services.logger.error('request failed', { requestId, cause: thrown })
    return errorResponse(error, { 'x-request-id': requestId })
  }

  /** An response of the framework's leaves: it is counted, and a request that went well gets its line. */
  onResponse(
    request: Request,
    { route, status, bytes }: { route: string; status: number; bytes: () => number | null },
  ): void {
    const visit = this.#visits.get(request)
    if (visit === undefined) return
    const { startedAt, code } = visit
    const { clock, logger, metrics } = this.#services
    const tookMs = startedAt === undefined ? 0 : clock.monotonic() - startedAt
    metrics.requests.route(request.method, route).answered(status, tookMs, code)
    if (!visit.written && status >= logger.accessFrom) {
      this.#write(request, visit, { status, bytes: bytes(), code: visit.runCode ?? null })
    }
  }

  /** For a response that could not be sent to its end: its caller finds the connection broken, the log says why. */
  onAborted(request: Request, cause: unknown): void {
    const { requestId, executionId } = this.#visitOf(request)
    const { method } = request
    this.#services.logger.error('response broke off', { requestId, method, path: pathOf(request), executionId, cause })
  }

  /** A bug or an outage is written down once, with its cause; the caller learns nothing of it. */
  #report(request: Request, requestId: string, error: AppError): void {
    if (error.code !== 'INTERNAL') return
    const { method } = request
    this.#services.logger.error('request failed', { requestId, method, path: pathOf(request), cause: error.cause })
  }

  #write(
    request: Request,
    visit: Visit,
    response: { status: number; bytes: number | null; code: string | null },
  ): void {
    const { logger, clock } = this.#services
    if (visit.written || response.status < logger.accessFrom) return
    visit.written = true
    logger.access({
      requestId: visit.requestId,
      method: request.method,
      path: pathOf(request),
      status: response.status,
      durationMs: visit.startedAt === undefined ? null : roundToMicros(clock.monotonic() - visit.startedAt),
      bytes: response.bytes,
      keyId: visit.keyId ?? null,
      userId: visit.userId ?? null,
      workflowId: visit.workflowId ?? null,
      executionId: visit.executionId ?? null,
      code: response.code,
    })
  }

  #visitOf(request: Request): Visit {
    let visit = this.#visits.get(request)
    if (visit === undefined) {
      visit = { requestId: requestIdOf(request.headers), startedAt: this.#services.clock.monotonic(), written: false }
      this.#visits.set(request, visit)
    }
    return visit
  }
}

type Visit = RequestNotes & {
  requestId: string
  startedAt: number | undefined
  written: boolean
  /** Of the error that the response is. */
  code?: AppError['code']
}

/**
 * Hands a `Response` that has all its headers to the framework. With nothing left in `set`, the framework sends it as it
 * is; otherwise it would wrap its body in a second stream.
 */
export function sendAsIs(set: ResponseSet, response: Response): Response {
  set.headers = {}
  return response
}

function roundToMicros(durationMs: number): number {
  return Math.round(durationMs * 1000) / 1000
}

/** The router makes null of a path parameter whose escapes it cannot decode, where every route expects a text. */
function refuseBrokenEscapes(request: Request): void {
  const path = pathOf(request)
  if (!path.includes('%')) return
  try {
    decodeURIComponent(path)
  } catch (cause) {
    throw new AppError('INVALID_PARAMETERS', 'The path holds a "%" that starts no valid escape.', { cause })
  }
}

/** Whether a path belongs to the external API, whose responses all carry a window. */
export function isExternal(path: string): boolean {
  return path === '/api/v1' || path.startsWith('/api/v1/')
}

export function pathOf({ url }: Request): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start === -1 ? '/' : url.slice(start, end === -1 ? undefined : end)
}
