import { Elysia } from 'elysia'
import { sleep } from '../../domain/clock.ts'
import { AppError, startedNothing } from '../../domain/errors.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { RequestClaim } from '../../domain/run/claim.ts'
import type { FileOwner } from '../../domain/run/file.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { WebhookMethod } from '../../domain/webhook/webhook-trigger.ts'
import type { Plan, PlanTrigger } from '../../engine/compile/plan.ts'
import type { Deployment } from '../../engine/deployments.ts'
import type { JobRequest } from '../../engine/jobs/jobs-options.ts'
import { hasFailed, type RunEnd } from '../../engine/run/run-end.ts'
import { bodyOf, holdsFiles, type WebhookContent } from '../../triggers/webhook-body.ts'
import { type Hook, hookOf, inputOf, requestKeyOf } from '../../triggers/webhook-hook.ts'
import { allowSilence, type ServerPort } from '../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../access/door.ts'
import { assertAllowed } from '../access/rate-headers.ts'
import { assertNotLoadedAsCode } from '../access/same-origin.ts'
import { withoutSession } from '../access/session-cookie.ts'
import { type WebhookCall, WebhookReception } from '../access/webhook-reception.ts'
import { webhookDetail } from '../openapi/webhook-operation.ts'
import { withTraceParent } from '../requests/trace-parent.ts'
import { runResponse, sandboxed } from '../responses/run-response.ts'
import type { WebhookServices } from '../run-services.ts'

const webhookPath = '/api/webhooks/trigger/:path'
/** How often to look whether a request in another process has ended. */
const elsewhereMs = 250

type Context = { request: Request; params: { path: string }; server: ServerPort | null; set: ResponseSet }

/** `/api/webhooks/trigger/<path>`: runs that other services start. */
export function webhookRoutes(services: WebhookServices, door: Door) {
  const receiver = new Receiver(services, door)
  const handle = (context: Context) => receiver.handle(context)
  const of = (method: WebhookMethod) => ({ parse: 'none' as const, detail: webhookDetail(method) })
  return new Elysia()
    .post(webhookPath, handle, of('POST'))
    .get(webhookPath, handle, of('GET'))
    .put(webhookPath, handle, of('PUT'))
    .patch(webhookPath, handle, of('PATCH'))
    .delete(webhookPath, handle, of('DELETE'))
}

/** A request in progress. */
type Call = WebhookCall & { path: string }

/** A request whose workflow is found and whose sender is verified. */
type KnownCall = Call & {
  deployment: Deployment
  plan: Plan
  hook: Hook
  content: WebhookContent
  /** The network of a visitor; undefined for a verified sender. */
  visitor: string | undefined
}

/** The outcome of a request with an idempotency key. `claimedBy`: its run; `end`: how it ended, if it ran just now. */
type Outcome = { claimedBy: string; end: RunEnd | undefined }
type Accepted = Outcome & { isNew: boolean }

class Receiver {
  readonly #services: WebhookServices
  readonly #door: Door
  readonly #reception: WebhookReception
  /** The parameters of each trigger, read once per version. */
  readonly #hooks = new WeakMap<PlanTrigger, Hook>()
  /** Requests with an idempotency key whose runs are in progress. */
  readonly #inFlight = new Map<string, Promise<Outcome>>()

  constructor(services: WebhookServices, door: Door) {
    this.#services = services
    this.#door = door
    this.#reception = new WebhookReception(services)
  }

  async handle({ request, params, server, set }: Context): Promise<Response> {
    this.#door.allowAnonymous(request, set)
    assertNotLoadedAsCode(request)
    const headers = set.headers as Record<string, string>
    try {
      return sendAsIs(set, await this.#receive({ request, path: params.path, server, headers }))
    } finally {
      this.#services.settings.body.budget.release(request)
    }
  }

  async #receive(call: Call): Promise<Response> {
    const { request, path } = call
    const { at } = this.#services
    const found = at({ kind: 'webhook', name: path })
    const deployment = found instanceof Promise ? await found : found
    const plan = deployment?.plan
    const trigger = plan?.triggers.get('webhook')
    if (!deployment || !plan || !trigger) {
      this.#reception.countRefused(call)
      throw new AppError('NOT_FOUND', 'No deployed workflow has a webhook trigger at this address.')
    }
    this.#door.note(request, { workflowId: deployment.workflowId })
    const hook = this.#hookOf(trigger)
    const { content, visitor, challenge } = await this.#reception.receive(call, deployment, hook)
    if (challenge !== undefined) return jsonResponse({ challenge }, 200, call.headers)
    return await this.#start({ ...call, deployment, plan, hook, content, visitor })
  }

  /** Starts the run of a verified request. */
  async #start(call: KnownCall): Promise<Response> {
    const { deployment, hook, request, content } = call
    const { limits, clock } = this.#services
    const key = requestKeyOf(hook.idempotency, request.headers, content)
    const claim: RequestClaim | undefined = key === undefined ? undefined : { kind: 'request', key, at: clock.now() }
    const found = limits.account(deployment.ownerId)
    const owner = found instanceof Promise ? await found : found
    assertAllowed(limits.take('async', owner), clock.now())
    limits.assertWithinUsage(owner)
    const executionId = newExecutionId()
    if (!hook.respondsImmediately && !call.plan.startLimits?.debounce)
      return await this.#respond(call, executionId, claim)
    this.#services.assertAcceptingJobs()
    return await this.#accept(call, executionId, claim)
  }

  /** Starts an asynchronous run. A duplicate that arrives meanwhile waits until the first request was accepted. */
  async #accept(call: KnownCall, executionId: string, claim: RequestClaim | undefined): Promise<Response> {
    const held = claim && `${call.deployment.workflowId} ${claim.key}`
    const first = held === undefined ? undefined : this.#inFlight.get(held)
    if (first) return duplicate(call, (await first).claimedBy)
    const accepting = this.#jobOf(call, executionId, claim)
    if (held !== undefined) {
      this.#inFlight.set(held, accepting)
      const forget = () => this.#inFlight.delete(held)
      accepting.then(forget, forget)
    }
    const { claimedBy, isNew } = await accepting
    return isNew ? this.#taken(call, claimedBy) : duplicate(call, claimedBy)
  }

  async #jobOf(call: KnownCall, executionId: string, claim: RequestClaim | undefined): Promise<Accepted> {
    const { deployment, content, plan } = call
    const { workflowId, workspaceId, version } = deployment
    // Accepting the job also finds the run with the claim. But by then, a duplicate's files would be stored for no run,
    // and limits would have replaced the run of the first request, or its input, with that of the duplicate.
    const isEarly = claim && (holdsFiles(content) || plan.startLimits)
    const claimedBy = isEarly ? await this.#services.findClaim(workflowId, claim.key, claim.at) : undefined
    if (claimedBy !== undefined) return { claimedBy, end: undefined, isNew: false }
    const run = { workspaceId, workflowId, executionId, input: await this.#inputOf(call, executionId) }
    const job: JobRequest = { ...run, version: version ?? 0, trigger: 'webhook' }
    const accepted = await this.#services.accept(job, claim).catch((error) => this.#refuse(error, run))
    if (accepted.job) return { claimedBy: accepted.job.executionId, end: undefined, isNew: true }
    await this.#takeBack(run)
    return { claimedBy: accepted.claimedBy ?? executionId, end: undefined, isNew: false }
  }

  /**
   * Responds with the workflow's response. The claim is written with the log entry, so until then it is held here: a
   * duplicate that arrives meanwhile waits for the first request's outcome. When the run fails, both may be sent again.
   */
  async #respond(call: KnownCall, executionId: string, claim: RequestClaim | undefined): Promise<Response> {
    const { request, server, deployment } = call
    if (!claim) return this.#responseOf(call, await this.#execute(call, executionId))
    const held = `${deployment.workflowId} ${claim.key}`
    const first = this.#inFlight.get(held)
    if (first) {
      allowSilence(request, server)
      const { claimedBy, end } = await first
      if (!end || !hasFailed(end)) return duplicate(call, claimedBy)
      this.#name(call, claimedBy)
      return this.#responseOf(call, end)
    }
    const leading = this.#lead(call, executionId, claim)
    this.#inFlight.set(held, leading)
    try {
      const { end, claimedBy } = await leading
      return end ? this.#responseOf(call, end) : duplicate(call, claimedBy)
    } finally {
      this.#inFlight.delete(held)
    }
  }

  async #lead(call: KnownCall, executionId: string, claim: RequestClaim): Promise<Outcome> {
    const { findClaim, beginRequest, endRequest, clock } = this.#services
    const { workflowId } = call.deployment
    const request = { workflowId, key: claim.key, executionId }
    while (!(await beginRequest(request))) {
      // Another process has a request with this key. Its claim is on disk before it ends the request.
      allowSilence(call.request, call.server)
      await sleep(clock, elsewhereMs, call.request.signal)
    }
    try {
      const claimedBy = await findClaim(workflowId, claim.key, claim.at)
      if (claimedBy !== undefined) return { claimedBy, end: undefined }
      return { claimedBy: executionId, end: await this.#execute(call, executionId, claim) }
    } finally {
      // If that fails, the key is free when this process has ended.
      await endRequest(request).catch(() => undefined)
    }
  }

  async #execute(call: KnownCall, executionId: string, claim?: RequestClaim): Promise<RunEnd> {
    const { deployment, plan, server, request, visitor } = call
    const { workflowId, workspaceId, version } = deployment
    this.#services.assertAccepting(workspaceId, visitor)
    const input = await this.#inputOf(call, executionId)
    this.#name(call, executionId)
    const callerSignal = () => {
      // A run may take longer than the server's idle timeout. It continues when the sender disconnects, because the
      // sender will send the request again.
      allowSilence(request, server)
      return undefined
    }
    const run = { executionId, visitor, plan, workflowId, workspaceId, version: version ?? 0, input, callerSignal }
    const ending = this.#services.execute({ ...run, trigger: 'webhook', ...(claim && { claim }) })
    return await ending.catch((error) => this.#refuse(error, run))
  }

  /** Removes what a run left that did not start or was not recorded. */
  async #refuse(error: unknown, run: FileOwner & { input: TriggerInput }): Promise<never> {
    if (startedNothing(error)) await this.#takeBack(run)
    throw error
  }

  /** Deletes the files of a run that did not start. If that fails, the next sweep deletes them. */
  async #takeBack({ input, ...owner }: FileOwner & { input: TriggerInput }): Promise<void> {
    if (input.files) await this.#services.removeFiles(owner).catch(() => undefined)
  }

  async #inputOf({ deployment, request, content, hook }: KnownCall, executionId: string): Promise<TriggerInput> {
    const { workspaceId, workflowId } = deployment
    const owner = { workspaceId, workflowId, executionId }
    const storing = bodyOf(content, (bytes, facts) => this.#services.storeFile(owner, bytes, facts))
    const { body, files } = await storing.catch(async (error) => {
      // Deletes the files before the one that could not be stored.
      if (holdsFiles(content)) await this.#services.removeFiles(owner).catch(() => undefined)
      throw error
    })
    const { url, method, headers } = request
    const input = inputOf({ url, method, headers: withoutSession(headers) }, hook, body, files)
    return withTraceParent(input, executionId, request, this.#services)
  }

  #hookOf(trigger: PlanTrigger): Hook {
    let hook = this.#hooks.get(trigger)
    if (!hook) {
      hook = hookOf(trigger.params)
      this.#hooks.set(trigger, hook)
    }
    return hook
  }

  #taken(call: Call, executionId: string): Response {
    this.#name(call, executionId)
    return jsonResponse({ success: true, executionId }, 202, call.headers)
  }

  /** Says in the response and in the access log which run this request started. */
  #name({ request, headers }: Call, executionId: string): void {
    headers['x-execution-id'] = executionId
    this.#door.note(request, { executionId })
  }

  async #responseOf({ request, headers, path }: Call, end: RunEnd): Promise<Response> {
    const { failure } = end.record
    if (failure) this.#door.note(request, { runCode: failure.code })
    const response = await runResponse(end, headers, this.#services)
    return sandboxed(response, `/api/webhooks/trigger/${encodeURIComponent(path)}`)
  }
}

function duplicate({ headers }: Call, executionId: string): Response {
  return jsonResponse({ success: true, executionId, duplicate: true }, 200, headers)
}

function jsonResponse(body: object, status: number, headers: Record<string, string>): Response {
  headers['content-type'] = 'application/json'
  return new Response(JSON.stringify(body), { status, headers })
}
