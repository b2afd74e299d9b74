import { type Clock, sleep } from '../../../domain/clock.ts'
import { AppError } from '../../../domain/errors.ts'
import type { HeldRequest, RequestClaim } from '../../../domain/run/claim.ts'
import { isObject } from '../../../domain/run/input.ts'
import type { StoredPause } from '../../../domain/run/pause.ts'
import type { InSlices } from '../../../domain/slices.ts'
import type { Plan } from '../../../engine/compile/plan.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import type { RequestUnderWay } from '../../../store/process-store.ts'
import type { RequestDigest } from '../../requests/idempotency-key.ts'
import { acceptedResponse } from '../../responses/accepted-response.ts'
import { heldResponse, heldText, notStored, replayedResponse } from '../../responses/held/held-response.ts'
import { pauseFacts } from '../../responses/pauses/paused-response.ts'

export type IdempotencyServices = {
  clock: Clock
  inSlices: InSlices
  /** Requests that this process is working on, by workflow and key. */
  underWay: Set<string>
  findHeldRequest(workflowId: string, key: string, at: number): Promise<HeldRequest | undefined>
  /** See `ProcessStore`. */
  beginRequest(request: RequestUnderWay): Promise<boolean>
  endRequest(request: RequestUnderWay): Promise<void>
  listRunPauses(executionId: string): Promise<StoredPause[]>
  seal(text: string, executionId: string): Uint8Array
  open(sealed: Uint8Array, executionId: string): string
}

/** A request with an `Idempotency-Key`. `key`: as the store has it. `digest`: of what is requested. */
export type KeyedRequest = { workflowId: string; key: string; digest: string; mode: 'sync' | 'async' }

/** Undefined without a key, and for a streamed response, which cannot be repeated. */
export function idempotentExecution(
  { services, workflowId }: { services: { idempotency: IdempotencyServices }; workflowId: string },
  { key, kind }: { key: string | undefined; kind: 'sync' | 'async' },
  digest: RequestDigest | undefined,
  body: unknown,
): IdempotentExecution | undefined {
  if (key === undefined || !digest) return undefined
  if (kind === 'sync' && isObject(body) && body['stream'] === true) return undefined
  return new IdempotentExecution(services.idempotency, { workflowId, key, digest: digest.end(), mode: kind })
}

/**
 * One request with an `Idempotency-Key` on the execute endpoint. A key is free, under way (a synchronous request is
 * running), or held (by a run that succeeded, or that is a job). A claim on disk holds it: it is written in the commit
 * of the log entry or of the job, for 24 hours, and deleted in the commit of a log entry of a failed job. Only a live
 * process has requests under way, so the key is free again after a crash.
 */
export class IdempotentExecution {
  readonly #services: IdempotencyServices
  readonly #request: KeyedRequest

  constructor(services: IdempotencyServices, request: KeyedRequest) {
    this.#services = services
    this.#request = request
  }

  /** The response for a repeat; undefined when the key is free. Throws IDEMPOTENCY_MISMATCH for another request. */
  async replay(headers: Record<string, string>): Promise<Response | undefined> {
    const { workflowId, key, digest, mode } = this.#request
    const held = await this.#services.findHeldRequest(workflowId, key, this.#services.clock.now())
    if (!held) return undefined
    if (held.request !== digest) throw mismatch()
    const { executionId, at, response } = held
    if (mode === 'async') {
      headers['idempotent-replayed'] = 'true'
      return acceptedResponse(executionId, at, headers)
    }
    if (response) return replayedResponse(this.#opened(response, executionId), executionId, headers)
    return await this.#paused(executionId, headers)
  }

  /** Starts a run with the key. `work` does not start it when the key is held meanwhile. */
  start(
    executionId: string,
    { startLimits }: Pick<Plan, 'startLimits'>,
    { headers, request }: { headers: Record<string, string>; request: Request },
    work: () => Promise<Response>,
  ): Promise<Response> {
    if (this.#request.mode === 'sync') return this.#lead(executionId, work, headers)
    return startLimits ? this.#follow(work, headers, request.signal) : work()
  }

  /** Runs `work` unless another request with the key is under way: then throws IDEMPOTENCY_IN_PROGRESS. */
  async #lead(executionId: string, work: () => Promise<Response>, headers: Record<string, string>): Promise<Response> {
    const { underWay, beginRequest, endRequest } = this.#services
    const { workflowId, key } = this.#request
    const name = `${workflowId} ${key}`
    if (underWay.has(name)) throw inProgress()
    underWay.add(name)
    try {
      const request = { workflowId, key, executionId }
      if (!(await beginRequest(request))) throw inProgress()
      try {
        // Another process may have ended its request since the first look.
        return (await this.replay(headers)) ?? (await work())
      } finally {
        // If that fails, the key is free when this process has ended.
        await endRequest(request).catch(() => undefined)
      }
    } finally {
      underWay.delete(name)
    }
  }

  /**
   * Accepts the job of a workflow with limits: one request with the key after the other. So a repeat gets the first
   * response before the limits have replaced the run of the first request.
   */
  async #follow(
    work: () => Promise<Response>,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    const { underWay, clock } = this.#services
    const { workflowId, key } = this.#request
    const name = `${workflowId} ${key}`
    for (let looks = 1; underWay.has(name); looks += 1) {
      if (looks > looksMax) throw inProgress()
      await sleep(clock, lookEveryMs, signal)
    }
    underWay.add(name)
    try {
      return (await this.replay(headers)) ?? (await work())
    } finally {
      underWay.delete(name)
    }
  }

  /** The response for a request whose job was refused because another run had the key. */
  async refused(headers: Record<string, string>): Promise<Response> {
    const replayed = await this.replay(headers)
    if (replayed) return replayed
    // The run that held the key has failed between the two looks.
    throw inProgress()
  }

  claim(): RequestClaim {
    const { key, digest } = this.#request
    return { kind: 'request', key, at: this.#services.clock.now(), request: digest }
  }

  /** Adds the response of a run that succeeded to its claim. */
  async completed(claim: RequestClaim, end: RunEnd): Promise<RequestClaim> {
    const text = await heldResponse(end, this.#services)
    return { ...claim, response: this.#services.seal(text, end.record.executionId) }
  }

  /** Adds the 202 response of a synchronous request that became a job without a pause, because it was debounced. */
  async accepted(claim: RequestClaim, executionId: string): Promise<RequestClaim> {
    if (this.#request.mode === 'async') return claim
    const text = await heldText(acceptedResponse(executionId, claim.at, {}))
    return { ...claim, response: this.#services.seal(text, executionId) }
  }

  #opened(sealed: Uint8Array, executionId: string): string {
    try {
      return this.#services.open(sealed, executionId)
    } catch {
      throw notStored(executionId)
    }
  }

  /** The run became a job when it paused. The repeat learns where to find it, as the first caller did. */
  async #paused(executionId: string, headers: Record<string, string>): Promise<Response> {
    const pauses = await this.#services.listRunPauses(executionId)
    const statusUrl = `/api/jobs/${executionId}`
    const paused = pauses.filter(({ state }) => state === 'open').map(pauseFacts)
    const sent = { ...headers, 'x-execution-id': executionId, location: statusUrl, 'idempotent-replayed': 'true' }
    return Response.json(
      { success: true, status: 'paused', executionId, paused, statusUrl },
      { status: 202, headers: sent },
    )
  }
}

const lookEveryMs = 10
const looksMax = 100

function inProgress(): AppError {
  const message = 'The first request with this Idempotency-Key is still running. Repeat the request in a moment.'
  return new AppError('IDEMPOTENCY_IN_PROGRESS', message, { retryAfterS: 1 })
}

function mismatch(): AppError {
  return new AppError(
    'IDEMPOTENCY_MISMATCH',
    'This Idempotency-Key belongs to a request with another body or another X-Execution-Mode. Use a new key.',
  )
}
