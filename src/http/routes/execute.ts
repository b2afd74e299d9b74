import { Elysia } from 'elysia'
import type { LimitedAccount } from '../../accounts/limits.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { Plan, PlanTrigger } from '../../engine/compile/plan.ts'
import type { Deployment } from '../../engine/deployments.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'
import type { RunRequest } from '../../engine/run/run-request.ts'
import type { KeyRow } from '../../store/account-store.ts'
import { assertMay } from '../access/auth.ts'
import { allowSilence, disconnect, type ServerPort } from '../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../access/door.ts'
import { assertAllowed, showsWindow, showWindow } from '../access/rate-headers.ts'
import { executeDetail } from '../openapi/execute-operation.ts'
import { parseJsonBody, readBody, readChunks } from '../requests/body.ts'
import type { BodyLimits } from '../requests/body-limits.ts'
import { planOf, triggerOf } from '../requests/executable-plan.ts'
import { type ExecuteBody, readExecuteBody } from '../requests/execute-body.ts'
import { idempotencyKeyOf, RequestDigest, storedKeyOf } from '../requests/idempotency-key.ts'
import type { SelectedOutput } from '../requests/selected-outputs.ts'
import { acceptedResponse } from '../responses/accepted-response.ts'
import { runResponse } from '../responses/run-response.ts'
import type { ExecuteServices } from '../run-services.ts'
import { streamRun } from '../streams/run-stream.ts'
import { type IdempotentExecution, idempotentExecution } from './execution/idempotent-execution.ts'

const executePath = '/api/workflows/:id/execute'

/**
 * `POST /api/workflows/<id>/execute`. The order of the checks must not change: a caller without a key for a workflow
 * learns nothing about the workflow.
 */
export function executeRoutes(services: ExecuteServices, door: Door) {
  return new Elysia().post(
    executePath,
    async ({ request, params, server, set }) => {
      const headers = set.headers as Record<string, string>
      const call: Call = { services, door, request, workflowId: params.id, server, set, headers, limitedId: undefined }
      door.note(request, { workflowId: params.id })
      try {
        return sendAsIs(set, await respond(call))
      } catch (error) {
        await showWindowOf(call)
        throw error
      } finally {
        services.settings.body.budget.release(request)
      }
    },
    { parse: 'none', detail: executeDetail },
  )
}

/** A request in progress. */
type Call = {
  services: ExecuteServices
  door: Door
  request: Request
  workflowId: string
  server: ServerPort | null
  set: ResponseSet
  /** The headers of `set`, which every response carries. */
  headers: Record<string, string>
  /** The account whose window the response shows: the key's, then that of the workflow's owner. */
  limitedId: string | undefined
}

/** Awaits nothing that is in memory: on this path, promises cost more than most checks. */
async function respond(call: Call): Promise<Response> {
  const { services, request } = call
  const found = admit(call)
  const admitted = found instanceof Promise ? await found : found
  if (admitted.trigger.fileFields.length > 0) return await respondToFiles(call, admitted)
  const limits = services.settings.body
  const text = await readBody(request, limits)
  const digest = digestOf(admitted)
  digest?.add(text)
  const parsed = jsonOf(request, text, limits)
  const body = parsed instanceof Promise ? await parsed : parsed
  const account = ownerOf(call, admitted)
  const owner = account instanceof Promise ? await account : account
  countRequest(call, admitted, owner)
  const keyed = idempotentExecution(call, admitted, digest, body)
  const replayed = keyed && (await keyed.replay(call.headers))
  if (replayed) return replayed
  const { input, stream } = readCall(call, admitted, owner, body)
  assertAccepting(call, admitted)
  const executionId = newExecutionId()
  const started = () => startRun(call, admitted, runRequest(call, admitted, input, executionId, keyed), stream, keyed)
  return keyed ? await keyed.start(executionId, admitted.plan, call, started) : await started()
}

/** Starts a run and responds to its caller. */
function startRun(
  call: Call,
  admitted: Admitted,
  run: RunRequest & { executionId: string },
  stream: ExecuteBody['stream'],
  keyed: IdempotentExecution | undefined,
): Promise<Response> {
  if (admitted.kind === 'async' || admitted.plan.startLimits?.debounce) return accept(call, run, keyed)
  if (stream) return streamResponse(call, run, stream)
  return call.services.execute(run).then((end) => responseOf(call, end))
}

const digestOf = ({ key, kind }: Admitted) => (key === undefined ? undefined : new RequestDigest(kind))

/** A request from a caller that may execute the workflow. */
type Admitted = {
  deployment: Deployment
  plan: Plan
  trigger: PlanTrigger
  kind: 'sync' | 'async'
  /** The idempotency key of the account's request, as it is stored. */
  key: string | undefined
}

/** Returns at once when the key and the deployment are in memory. */
function admit(call: Call): Admitted | Promise<Admitted> {
  const key = call.door.requireExecutionKey(call.request, call.set)
  return key instanceof Promise ? key.then((known) => admitPrincipal(call, known)) : admitPrincipal(call, key)
}

function admitPrincipal(call: Call, key: KeyRow): Admitted | Promise<Admitted> {
  const { services, workflowId } = call
  call.limitedId = key.userId
  const deployment = services.deployments.get(workflowId)
  if (deployment) return admitTo(call, key, deployment)
  return services.deployments.load(workflowId).then((loaded) => admitTo(call, key, loaded))
}

function admitTo(call: Call, key: KeyRow, deployment: Deployment | undefined): Admitted {
  assertMay(key, deployment?.workspaceId, 'read', 'workflow')
  if (!deployment) throw new Error('A workflow that does not exist must not be visible')
  call.limitedId = deployment.ownerId
  assertMay(key, deployment.workspaceId, 'execute', 'workflow')
  const plan = planOf(deployment)
  const given = idempotencyKeyOf(call.request)
  const stored = given === undefined ? undefined : storedKeyOf(key.userId, given)
  return { deployment, plan, trigger: triggerOf(plan), kind: isAsync(call.request) ? 'async' : 'sync', key: stored }
}

function ownerOf({ services }: Call, { deployment }: Admitted): LimitedAccount | Promise<LimitedAccount> {
  return services.limits.account(deployment.ownerId)
}

/** `text`: a body, without the content of its files. */
function jsonOf(request: Request, text: string, limits: BodyLimits): unknown {
  return text === '' ? {} : parseJsonBody(request, text, limits)
}

/** Counts a request in the window. A repeat counts, too. */
function countRequest({ services, headers }: Call, { kind }: Admitted, owner: LimitedAccount): void {
  const window = services.limits.take(kind, owner)
  showWindow(headers, window)
  assertAllowed(window, services.clock.now())
}

/** Reads a body's content. */
function readCall(
  { services }: Call,
  { plan, trigger, kind }: Admitted,
  owner: LimitedAccount,
  body: unknown,
): ExecuteBody {
  services.limits.assertWithinUsage(owner)
  return readExecuteBody({ body, trigger, plan, isAsync: kind === 'async' })
}

function assertAccepting({ services }: Call, { kind, deployment }: Admitted): void {
  if (kind === 'async') services.assertAcceptingJobs()
  else services.assertAccepting(deployment.workspaceId)
}

async function respondToFiles(call: Call, admitted: Admitted): Promise<Response> {
  const { services, request, workflowId } = call
  const { deployment, trigger } = admitted
  const { bodyWithFiles } = services.settings
  const { bytes, files, budget } = bodyWithFiles
  // A caller with a key may use the whole limit for text, not only for files.
  const digest = digestOf(admitted)
  const read = readChunks(request, bodyWithFiles)
  const chunks = digest ? digest.reading(read) : read
  const upload = await services.receiveFiles(chunks, trigger.fileFields, { text: bytes, files })
  try {
    budget.add(request, upload.text.length)
    const body = await jsonOf(request, upload.text, bodyWithFiles)
    const owner = await ownerOf(call, admitted)
    countRequest(call, admitted, owner)
    const keyed = idempotentExecution(call, admitted, digest, body)
    const replayed = keyed && (await keyed.replay(call.headers))
    if (replayed) return replayed
    const { input: given, stream } = readCall(call, admitted, owner, body)
    upload.check(given)
    assertAccepting(call, admitted)
    const executionId = newExecutionId()
    const started = async () => {
      const input = await upload.store(given, { workspaceId: deployment.workspaceId, workflowId, executionId })
      return await startRun(call, admitted, runRequest(call, admitted, input, executionId, keyed), stream, keyed)
    }
    return keyed ? await keyed.start(executionId, admitted.plan, call, started) : await started()
  } catch (error) {
    await upload.takeBack(error)
    throw error
  } finally {
    await upload.discard()
  }
}

function responseOf(call: Call, end: RunEnd): Response | Promise<Response> {
  const { failure } = end.record
  if (failure && !end.suspension) call.door.note(call.request, { runCode: failure.code })
  return runResponse(end, call.headers, call.services)
}

function runRequest(
  call: Call,
  { plan, deployment, kind }: Admitted,
  input: TriggerInput,
  executionId: string,
  keyed: IdempotentExecution | undefined,
): RunRequest & { executionId: string } {
  const { services, request, server, workflowId } = call
  // An asynchronous run exists only once it is on disk.
  if (kind === 'sync') {
    call.headers['x-execution-id'] = executionId
    call.door.note(request, { executionId })
  }
  return {
    executionId,
    plan,
    workflowId,
    workspaceId: deployment.workspaceId,
    version: deployment.version ?? 0,
    trigger: 'api',
    input,
    ...(keyed && { claim: keyed.claim(), completeClaim: (claim, end) => keyed.completed(claim, end) }),
    callerSignal: () => {
      // A run may take longer than the server's idle timeout.
      allowSilence(request, server)
      return services.settings.cancelOnDisconnect ? request.signal : undefined
    },
  }
}

function streamResponse(
  { services, door, request, server, headers }: Call,
  run: RunRequest,
  selected: readonly SelectedOutput[],
): Promise<Response> {
  const { clock, execute, inSlices, settings } = services
  return streamRun({
    request: run,
    selected,
    execute,
    inSlices,
    clock,
    callerSignal: run.callerSignal?.(),
    bytesWaitingMax: settings.streamBufferBytes,
    disconnect: () => disconnect(request, server),
    headers,
    lost: (error) => door.onAborted(request, error),
  })
}

function isAsync({ headers }: Request): boolean {
  return headers.get('x-execution-mode')?.toLowerCase() === 'async'
}

/** Responds as soon as the run is on disk and queued. */
async function accept(
  { services, door, request, headers }: Call,
  run: RunRequest & { executionId: string },
  keyed: IdempotentExecution | undefined,
): Promise<Response> {
  const { executionId, workflowId, workspaceId, version, input, claim } = run
  const job = { workflowId, workspaceId, version, trigger: 'api' as const, input, executionId }
  if (keyed && claim) {
    const { job: accepted } = await services.acceptOnce(job, await keyed.accepted(claim, executionId))
    if (!accepted) return await keyed.refused(headers)
    door.note(request, { executionId: accepted.executionId })
    return acceptedResponse(accepted.executionId, claim.at, headers)
  }
  const accepted = await services.accept(job)
  door.note(request, { executionId: accepted.executionId })
  return acceptedResponse(accepted.executionId, accepted.createdAt, headers)
}

/** Shows the window on requests that were refused after the key check. They are not counted in it. */
async function showWindowOf({ services, request, headers, limitedId }: Call): Promise<void> {
  if (limitedId === undefined || showsWindow(headers)) return
  const kind = isAsync(request) ? 'async' : 'sync'
  try {
    showWindow(headers, services.limits.peek(kind, await services.limits.account(limitedId)))
  } catch {
    // The storage is unavailable: there is no window to show, and the error says so.
  }
}
