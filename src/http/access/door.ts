import type { RateWindow } from '../../accounts/rate-limit.ts'
import { AppError, StartSkipped, startedNothing } from '../../domain/errors.ts'
import type { KeyRow } from '../../store/account-store.ts'
import { errorBody, errorHeaders, errorResponse, skippedText, statusOf, toAppError } from '../errors.ts'
import { errorBodyV2, errorHeadersV2, statusV2Of } from '../errors-v2.ts'
import { refuseOversized } from '../requests/body.ts'
import { skippedTextV2 } from '../responses/v2/run-schemas.ts'
import type { Services } from '../services.ts'
import { authenticate, type Caller, callerOf, roleOf } from './auth.ts'
import { addressOf, type ServerPort } from './connection.ts'
import { assertAllowed, showsWindow, showWindow } from './rate-headers.ts'
import { requestIdOf } from './request-id.ts'
import { assertLocal, assertSameOrigin } from './same-origin.ts'
import { cookieFor, isHttps, tokenOf } from './session-cookie.ts'

/** The status and headers of a response under construction: the part of Elysia's `set` that handlers use. */
export type ResponseSet = { status?: number | string; headers: Record<string, unknown> }

/** Additional facts about a request for the access log. `runCode`: why the request's run failed. */
export type RequestNotes = {
  keyId?: string
  userId?: string
  workflowId?: string
  executionId?: string
  runCode?: string
}

/**
 * The entry to every route: request ids, keys and sessions, the external API's rate limit, errors, the access log. Each
 * handler first calls `allowAnonymous` or one of the `require…` methods. These are calls and not hooks, because a hook
 * costs every route: one that touches headers took a tenth of the execute endpoint's throughput.
 */
export class Door {
  readonly #services: Services
  /** Requests in progress. */
  readonly #visits = new WeakMap<Request, Visit>()

  constructor(services: Services) {
    this.#services = services
  }

  /** Admits everyone. Refuses a body that is too large for every route. */
  allowAnonymous(request: Request, set: ResponseSet): void {
    set.headers['x-request-id'] = this.#visitOf(request).requestId
    set.headers['x-content-type-options'] = 'nosniff'
    refuseOversized(request.headers, this.#services.settings.largestBody)
  }

  /** Requires an API key or a session. A key takes precedence. */
  async requireKeyOrSession(request: Request, set: ResponseSet): Promise<Caller> {
    this.allowAnonymous(request, set)
    const hasKey = (request.headers.get('x-api-key') ?? '') !== ''
    const signedIn = hasKey ? undefined : await this.#signedIn(request, set)
    return signedIn ?? (await this.#principal(request))
  }

  /** Requires a session; a key is ignored. */
  async requireSession(request: Request, set: ResponseSet): Promise<Caller> {
    this.allowAnonymous(request, set)
    set.headers['cache-control'] = 'no-store'
    set.headers['cross-origin-resource-policy'] = 'same-origin'
    const caller = await this.#signedIn(request, set)
    if (caller) return caller
    throw new AppError('SIGN_IN_REQUIRED', 'Only the dashboard may use this route, which accepts no API key. Sign in.')
  }

  /** Whether the session of a request that was admitted still gives access to a workspace. */
  async mayStillRead(request: Request, workspaceId: string): Promise<boolean> {
    const { sessions } = this.#services
    const token = tokenOf(request.headers)
    const signedIn = (token === undefined ? undefined : await sessions.find(token)) ?? (await sessions.visitor())
    return signedIn !== undefined && roleOf(callerOf(signedIn), workspaceId) !== undefined
  }

  /**
   * Requires an API key and counts the request in the external API's window, which every response shows. A request
   * without a valid key counts against its address only.
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
    return key
  }

  /**
   * Requires an API key, and counts nothing: the execute route counts runs in windows of their own. Returns at once
   * when the key is cached.
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

  /** The caller of a session; undefined without a session. Throws SIGN_IN_REQUIRED when the session has ended. */
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

  /** Shows the address's window on a response of the external API that is sent before a key was accepted. */
  showAddressWindow(request: Request, set: ResponseSet, server: Pick<ServerPort, 'requestIP'> | null): void {
    if (!isExternal(pathOf(request)) || showsWindow(set.headers)) return
    showWindow(set.headers, this.#services.limits.peekRefused(addressOf(request, server)))
  }

  #count(window: RateWindow, set: ResponseSet): void {
    showWindow(set.headers, window)
    assertAllowed(window, this.#services.clock.now())
  }

  /** Adds facts to the request's line in the access log. */
  note(request: Request, notes: RequestNotes): void {
    Object.assign(this.#visitOf(request), notes)
  }

  /** Turns an error into a response: returns the body, and puts status and headers into `set`. */
  onError(request: Request, set: ResponseSet, server: Pick<ServerPort, 'requestIP'> | null, thrown: unknown): string {
    // No run has this ID, because the start was skipped.
    if (startedNothing(thrown)) {
      Reflect.deleteProperty(set.headers, 'x-execution-id')
      Reflect.deleteProperty(set.headers, 'x-run-id')
    }
    if (thrown instanceof StartSkipped) return this.#skipped(request, set)
    const error = toAppError(thrown)
    this.showAddressWindow(request, set, server)
    const visit = this.#visitOf(request)
    const inV2 = isV2(pathOf(request))
    const status = inV2 ? statusV2Of(error.code) : statusOf(error.code)
    const text = JSON.stringify(inV2 ? errorBodyV2(error) : errorBody(error))
    visit.code = error.code
    set.status = status
    const headers = inV2 ? errorHeadersV2(error) : errorHeaders(error)
    Object.assign(set.headers, headers, { 'x-request-id': visit.requestId })
    this.#report(request, visit.requestId, error)
    this.#write(request, visit, { status, bytes: Buffer.byteLength(text), code: error.code })
    return text
  }

  /** The response of endpoints that start runs when the limits of the workflow skip the start. */
  #skipped(request: Request, set: ResponseSet): string {
    set.status = 202
    Object.assign(set.headers, { 'content-type': 'application/json', 'x-request-id': this.#visitOf(request).requestId })
    return isV2(pathOf(request)) ? skippedTextV2 : skippedText
  }

  /** The response when the framework itself failed, for example because a handler threw `undefined`. */
  onFatal(thrown: unknown): Response {
    const requestId = crypto.randomUUID()
    const error = toAppError(thrown)
    this.#services.metrics.requests.failed(error.code)
    this.#services.logger.error('request failed', { requestId, cause: thrown })
    return errorResponse(error, { 'x-request-id': requestId })
  }

  /** Counts a response, and writes the access log's line unless an error wrote it already. */
  onResponse(
    request: Request,
    { route, status, bytes }: { route: string; status: number; bytes: () => number | null },
  ): void {
    const visit = this.#visits.get(request)
    if (visit === undefined) return
    const { startedAt, code } = visit
    const { clock, logger, metrics } = this.#services
    const tookMs = startedAt === undefined ? 0 : clock.monotonic() - startedAt
    metrics.requests.route(request.method, route).responded(status, tookMs, code)
    if (!visit.written && status >= logger.accessFrom) {
      this.#write(request, visit, { status, bytes: bytes(), code: visit.runCode ?? null })
    }
  }

  /** Logs why a response could not be completed. Its caller sees a broken connection. */
  onAborted(request: Request, cause: unknown): void {
    const { requestId, executionId } = this.#visitOf(request)
    const { method } = request
    this.#services.logger.error('response broke off', { requestId, method, path: pathOf(request), executionId, cause })
  }

  /** Logs a bug or an outage once, with its cause. The caller learns nothing about it. */
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
  /** The code of an error response. */
  code?: AppError['code']
}

/**
 * Hands a `Response` that has all its headers to the framework. With nothing left in `set`, the framework sends it as
 * it is; otherwise it would wrap its body in a second stream.
 */
export function sendAsIs(set: ResponseSet, response: Response): Response {
  set.headers = {}
  return response
}

function roundToMicros(durationMs: number): number {
  return Math.round(durationMs * 1000) / 1000
}

/** Whether a path belongs to the external API, whose responses all show a rate window. */
export function isExternal(path: string): boolean {
  return path === '/api/v1' || path.startsWith('/api/v1/') || isV2(path)
}

/** Whether a path belongs to the API that has Sim's shapes. */
export function isV2(path: string): boolean {
  return path === '/api/v2' || path.startsWith('/api/v2/')
}

export function pathOf({ url }: Request): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start === -1 ? '/' : url.slice(start, end === -1 ? undefined : end)
}
