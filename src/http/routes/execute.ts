import { Elysia } from 'elysia'
import type { AccountLimits } from '../../accounts/limits.ts'
import type { Clock } from '../../domain/clock.ts'
import type { AppError } from '../../domain/errors.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { TriggerInput } from '../../domain/input.ts'
import { createIsoTime, type IsoTime } from '../../domain/iso-time.ts'
import { readJson } from '../../domain/json.ts'
import type { Deployment } from '../../engine/deployments.ts'
import type { JobRequest } from '../../engine/job-request.ts'
import type { Plan, PlanTrigger } from '../../engine/plan.ts'
import type { RunEnd, RunRequest } from '../../engine/runner.ts'
import type { Upload } from '../../files/upload.ts'
import { isoTime } from '../answers.ts'
import { assertMay, authenticate } from '../auth.ts'
import { readBody, readChunks, refuseOversized } from '../body.ts'
import type { AnswerFacts } from '../door.ts'
import { errorResponse, toAppError } from '../errors.ts'
import { planOf, triggerOf } from '../executable-plan.ts'
import { readExecuteBody } from '../execute-body.ts'
import { type AcceptedAnswer, executeDetail } from '../execute-operation.ts'
import type { Shortcut } from '../listener.ts'
import { assertAllowed, showsWindow, showWindow } from '../rate-headers.ts'
import { requestIdOf } from '../request-id.ts'
import { runAnswer } from '../run-answer.ts'
import { streamRun } from '../run-stream.ts'
import type { SelectedOutput } from '../selected-outputs.ts'
import type { LookUpKey } from '../services.ts'

/** What the execute endpoint stands on; everything in it answers from memory once it is warm. */
export type ExecuteServices = {
  lookUpKey: LookUpKey
  clock: Clock
  deployments: {
    get(workflowId: string): Deployment | undefined
    load(workflowId: string): Promise<Deployment | undefined>
  }
  execute(request: RunRequest): Promise<RunEnd>
  /** Throws OVERLOADED or STORAGE_UNAVAILABLE before anything has run. */
  assertAccepting(): void
  /** The same for asynchronous ones. */
  assertAcceptingJobs(): void
  /** Reads a body with file items; `fields` are those that hold them. */
  receiveFiles(chunks: AsyncIterable<Uint8Array>, fields: readonly string[]): Promise<Upload>
  /** Takes an asynchronous run on; resolves when it is on disk. Rejects like `assertAccepting`. */
  accept(request: JobRequest): Promise<{ executionId: string; createdAt: number }>
  /** Those of the workspace's owner count, whichever key is used. */
  limits: Pick<AccountLimits, 'account' | 'take' | 'peek' | 'assertWithinUsage'>
  settings: {
    bodyBytesMax: number
    /** Of a workflow whose trigger declares files. */
    bodyBytesMaxFiles: number
    bodyBytesMaxAnywhere: number
    cancelOnDisconnect: boolean
    /** Text that waits for a slow reader of a stream at most. */
    streamBufferBytes: number
  }
  /** Told of a stream that broke off for a reason that is no workflow's. */
  streamLost(error: AppError, executionId: string): void
  /** Told of each answer; cheap when nobody listens. */
  answered(request: Request, response: Response, facts: AnswerFacts): void
}

export const executePath = '/api/workflows/:id/execute'

/**
 * `POST /api/workflows/<id>/execute`: the hot path. It answers with `Response`s of its own, so that no hook, no schema
 * and no mapping of the framework lies between the request and the run; by the shortcut not even its router. The order of
 * the checks is a promise: nothing about a workflow leaks to a caller without a key for it.
 */
export function executeRoute(given: ExecuteServices) {
  const services: Endpoint = { ...given, iso: createIsoTime() }
  const routes = new Elysia().post(
    executePath,
    ({ request, params, server }) => handle(services, request, params.id, server),
    { parse: 'none', detail: executeDetail },
  )
  const shortcut: Shortcut = (request, server) => {
    const workflowId = request.method === 'POST' ? plainAddress.exec(request.url)?.[1] : undefined
    return workflowId === undefined ? undefined : handle(services, request, workflowId, server)
  }
  return { routes, shortcut }
}

/** The endpoint's address as it is mostly written. All its other spellings are known to the router. */
const plainAddress = /^https?:\/\/[^/?#]+\/api\/workflows\/([\w-]+)\/execute$/

type Endpoint = ExecuteServices & { iso: IsoTime }

type ServerPort = {
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
}

async function handle(
  services: Endpoint,
  request: Request,
  workflowId: string,
  server: ServerPort | null,
): Promise<Response> {
  const call: Call = {
    services,
    request,
    workflowId,
    server,
    headers: { 'x-request-id': requestIdOf(request.headers) },
    keyId: undefined,
    limitedId: undefined,
    code: undefined,
  }
  const startedAt = services.clock.monotonic()
  let response: Response
  let failure: unknown
  try {
    response = await execute(call)
  } catch (error) {
    failure = error
    await showWindowOf(call)
    response = errorResponse(toAppError(error), call.headers)
  }
  const facts: AnswerFacts = { workflowId, startedAt, error: failure }
  if (call.keyId !== undefined) facts.keyId = call.keyId
  if (call.code !== undefined) facts.code = call.code
  services.answered(request, response, facts)
  return response
}

/** One call on its way through the checks; `headers` gathers what every answer from here on carries. */
type Call = {
  services: Endpoint
  request: Request
  workflowId: string
  server: ServerPort | null
  headers: Record<string, string>
  keyId: string | undefined
  /** The account whose window answers show: the key's until the workflow is found, then its owner's. */
  limitedId: string | undefined
  /** Why the run failed. */
  code: string | undefined
}

async function execute(call: Call): Promise<Response> {
  const { services, request, workflowId } = call
  const { settings } = services
  refuseOversized(request.headers, settings.bodyBytesMaxAnywhere)
  const kind = isAsync(request) ? 'async' : 'sync'
  const key = await authenticate(services, request.headers)
  call.keyId = key.id
  call.limitedId = key.userId
  const deployment = services.deployments.get(workflowId) ?? (await services.deployments.load(workflowId))
  assertMay(key, deployment?.workspaceId, 'read', 'workflow')
  if (!deployment) throw new Error('What is not there cannot be seen')
  call.limitedId = deployment.ownerId
  assertMay(key, deployment.workspaceId, 'execute', 'workflow')
  const plan = planOf(deployment)
  const trigger = triggerOf(plan)
  const { fileFields } = trigger
  if (fileFields.length === 0) {
    const text = await readBody(request, settings.bodyBytesMax)
    return await proceed(call, { deployment, plan, trigger, kind, text, upload: undefined })
  }
  const upload = await services.receiveFiles(readChunks(request, settings.bodyBytesMaxFiles), fileFields)
  try {
    return await proceed(call, { deployment, plan, trigger, kind, text: upload.text, upload })
  } catch (error) {
    await upload.takeBack(error)
    throw error
  } finally {
    await upload.discard()
  }
}

type Received = {
  deployment: Deployment
  plan: Plan
  trigger: PlanTrigger
  kind: 'sync' | 'async'
  /** The body as JSON, without the content of files. */
  text: string
  upload: Upload | undefined
}

/** From the body on. */
async function proceed(call: Call, { deployment, plan, trigger, kind, text, upload }: Received): Promise<Response> {
  const { services, workflowId, headers } = call
  const body = text === '' ? {} : readJson(text)
  const found = services.limits.account(deployment.ownerId)
  const owner = found instanceof Promise ? await found : found
  const window = services.limits.take(kind, owner)
  showWindow(headers, window, services.iso)
  assertAllowed(window, services.clock.now())
  services.limits.assertWithinUsage(owner)
  const { input: given, stream } = readExecuteBody({ body, trigger, plan, isAsync: kind === 'async' })
  upload?.check(given)
  if (kind === 'async') services.assertAcceptingJobs()
  else services.assertAccepting()
  const executionId = newExecutionId()
  const { workspaceId } = deployment
  const input = upload ? await upload.store(given, { workspaceId, workflowId, executionId }) : given
  if (kind === 'async') return accept(call, deployment, input, executionId)
  headers['x-execution-id'] = executionId
  const run = runRequest(call, { executionId, plan, deployment, input })
  if (stream) return await streamAnswer(call, run, stream)
  const end = await services.execute(run)
  call.code = end.record.failure?.code
  return runAnswer(end, headers, services.iso)
}

type RunFacts = { executionId: string; plan: Plan; deployment: Deployment; input: TriggerInput }

function runRequest({ services, request, server, workflowId }: Call, facts: RunFacts): RunRequest {
  const { executionId, plan, deployment, input } = facts
  return {
    executionId,
    plan,
    workflowId,
    workspaceId: deployment.workspaceId,
    version: deployment.version ?? 0,
    trigger: 'api',
    input,
    callerSignal: () => {
      // A run may take longer than the server lets a silent connection live.
      server?.timeout(request, 0)
      return services.settings.cancelOnDisconnect ? request.signal : undefined
    },
  }
}

function streamAnswer(
  { services, request, server, headers }: Call,
  run: RunRequest,
  selected: readonly SelectedOutput[],
): Promise<Response> {
  const { clock, execute, settings, streamLost } = services
  return streamRun({
    request: run,
    selected,
    execute,
    clock,
    callerSignal: run.callerSignal?.(),
    bytesWaitingMax: settings.streamBufferBytes,
    // Bun has no other way to close a connection under an answer: it is silent, since nothing is sent any more.
    disconnect: () => server?.timeout(request, 1),
    headers,
    lost: streamLost,
  })
}

function isAsync({ headers }: Request): boolean {
  return headers.get('x-execution-mode')?.toLowerCase() === 'async'
}

/** Answers as soon as the run is on disk; it starts when its turn comes. */
async function accept(
  { services, workflowId, headers }: Call,
  deployment: Deployment,
  input: TriggerInput,
  executionId: string,
) {
  const { workspaceId, version } = deployment
  const job = { workflowId, workspaceId, version: version ?? 0, trigger: 'api' as const, input, executionId }
  const { createdAt } = await services.accept(job)
  const statusUrl = `/api/jobs/${executionId}`
  headers['x-execution-id'] = executionId
  headers['location'] = statusUrl
  headers['content-type'] = 'application/json'
  const answer: AcceptedAnswer = {
    success: true,
    async: true,
    taskId: executionId,
    jobId: executionId,
    executionId,
    status: 'queued',
    createdAt: isoTime(createdAt),
    statusUrl,
    links: { status: statusUrl },
  }
  return new Response(JSON.stringify(answer), { status: 202, headers })
}

/** What was refused behind the key check shows a window too, in which nothing was counted. */
async function showWindowOf({ services, request, headers, limitedId }: Call): Promise<void> {
  if (limitedId === undefined || showsWindow(headers)) return
  const kind = isAsync(request) ? 'async' : 'sync'
  try {
    showWindow(headers, services.limits.peek(kind, await services.limits.account(limitedId)))
  } catch {
    // The storage is out: there is no window to show, and the caller learns of the outage.
  }
}
