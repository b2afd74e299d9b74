import { Elysia, t } from 'elysia'
import type { AccountLimits } from '../../accounts/limits.ts'
import type { Clock } from '../../domain/clock.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { newExecutionId } from '../../domain/ids.ts'
import { inputOf, isObject, readInput, type TriggerInput } from '../../domain/input.ts'
import { readJson } from '../../domain/json.ts'
import { normaliseName } from '../../domain/workflow.ts'
import type { Deployment } from '../../engine/deployments.ts'
import type { Plan, PlanTrigger } from '../../engine/plan.ts'
import type { RunEnd, RunRequest } from '../../engine/runner.ts'
import { assertMay, authenticate } from '../auth.ts'
import { readBody, refuseOversized } from '../body.ts'
import type { AnswerFacts } from '../door.ts'
import { ErrorAnswer, errorResponse, toAppError } from '../errors.ts'
import { assertAllowed, showsWindow, showWindow } from '../rate-headers.ts'
import { requestIdOf } from '../request-id.ts'
import { runAnswer } from '../run-answer.ts'
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
  /** Those of the workspace's owner count, whichever key is used. */
  limits: Pick<AccountLimits, 'account' | 'take' | 'peek' | 'assertWithinUsage'>
  settings: { bodyBytesMax: number; bodyBytesMaxAnywhere: number; cancelOnDisconnect: boolean }
  /** Told of each answer; cheap when nobody listens. */
  answered(request: Request, response: Response, facts: AnswerFacts): void
}

export const executePath = '/api/workflows/:id/execute'

/**
 * `POST /api/workflows/<id>/execute`: the hot path. It answers with `Response`s of its own, so that no hook, no schema
 * and no mapping of the framework lies between the request and the run. The order of the checks is a promise: nothing
 * about a workflow leaks to a caller without a key for it.
 */
export function executeRoute(services: ExecuteServices) {
  return new Elysia().post(executePath, ({ request, params, server }) => handle(services, request, params.id, server), {
    parse: 'none',
    detail,
  })
}

type ServerPort = {
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
}

async function handle(
  services: ExecuteServices,
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
  services.answered(request, response, {
    workflowId,
    startedAt,
    ...(call.keyId === undefined ? {} : { keyId: call.keyId }),
    ...(call.code === undefined ? {} : { code: call.code }),
    error: failure,
  })
  return response
}

/** One call on its way through the checks; `headers` gathers what every answer from here on carries. */
type Call = {
  services: ExecuteServices
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
  const { services, request, workflowId, headers } = call
  const { settings } = services
  refuseOversized(request.headers, settings.bodyBytesMaxAnywhere)
  const mode = request.headers.get('x-execution-mode')
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
  const text = await readBody(request, settings.bodyBytesMax)
  const body = text === '' ? {} : readJson(text)
  const found = services.limits.account(deployment.ownerId)
  const owner = found instanceof Promise ? await found : found
  const window = services.limits.take('sync', owner)
  showWindow(headers, window)
  assertAllowed(window, services.clock.now())
  services.limits.assertWithinUsage(owner)
  if (mode === 'async') {
    throw new AppError(
      'INVALID_INPUT',
      'This version answers when the run has ended: leave the header X-Execution-Mode out.',
    )
  }
  const input = inputOrThrow(body, trigger, plan)
  services.assertAccepting()
  const { server } = call
  const executionId = newExecutionId()
  headers['x-execution-id'] = executionId
  const end = await services.execute({
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
      return settings.cancelOnDisconnect ? request.signal : undefined
    },
  })
  call.code = end.record.failure?.code
  return runAnswer(end, headers)
}

function planOf({ workflowId, plan, version, findings }: Deployment): Plan {
  if (plan) return plan
  if (version === null)
    throw new AppError('WORKFLOW_NOT_DEPLOYED', `The workflow "${workflowId}" is not deployed. Deploy it first.`)
  const problems = findings.map(({ message }) => message).join(' ')
  throw new AppError(
    'WORKFLOW_NOT_DEPLOYED',
    `Version ${version} of the workflow can no longer run: ${problems} Deploy it again.`,
  )
}

function triggerOf(plan: Plan): PlanTrigger {
  const trigger = plan.triggers.get('api')
  if (trigger) return trigger
  throw new AppError(
    'NOT_FOUND',
    'The workflow has no API trigger (a block of the type api_trigger that is enabled), so it has no endpoint.',
  )
}

/** What was refused behind the key check shows a window too, in which nothing was counted. */
async function showWindowOf({ services, request, headers, limitedId }: Call): Promise<void> {
  if (limitedId === undefined || showsWindow(headers)) return
  const kind = request.headers.get('x-execution-mode') === 'async' ? 'async' : 'sync'
  try {
    showWindow(headers, services.limits.peek(kind, await services.limits.account(limitedId)))
  } catch {
    // The storage is out: there is no window to show, and the caller learns of the outage.
  }
}

function inputOrThrow(body: unknown, trigger: PlanTrigger, plan: Plan): TriggerInput {
  const details = isObject(body) ? controlProblems(body, plan) : []
  const reading = readInput(inputOf(body, trigger.format), trigger.format)
  if (!reading.ok) details.push(...reading.details)
  else if (details.length === 0) return reading.value
  throw new AppError('INVALID_INPUT', details.map(({ message }) => message).join(' '), { details })
}

function controlProblems(body: Record<string, unknown>, plan: Plan): ErrorDetail[] {
  const problems: ErrorDetail[] = []
  const { stream, selectedOutputs } = body
  if (stream !== undefined && typeof stream !== 'boolean') {
    problems.push({ path: 'stream', message: '"stream" must be true or false.' })
  } else if (stream === true) {
    problems.push({ path: 'stream', message: 'This version answers as a whole only: leave "stream" out.' })
  }
  const isList = Array.isArray(selectedOutputs) && selectedOutputs.every((entry) => typeof entry === 'string')
  if (selectedOutputs !== undefined && !isList) {
    problems.push({ path: 'selectedOutputs', message: '"selectedOutputs" must be an array of strings.' })
  } else if (isList) problems.push(...selectionProblems(selectedOutputs, plan))
  return problems
}

/** An entry is `blockName.path`; the name is compared as in references. */
function selectionProblems(entries: readonly string[], { document }: Plan): ErrorDetail[] {
  const names = Object.values(document.blocks).map(({ name }) => name)
  const known = new Set(names.map(normaliseName))
  return entries.flatMap((entry, index) => {
    const dot = entry.indexOf('.')
    if (dot > 0 && known.has(normaliseName(entry.slice(0, dot)))) return []
    const message = `"${entry}" is no blockName.path of this workflow. Its blocks: ${names.join(', ')}.`
    return [{ path: `selectedOutputs.${index}`, message }]
  })
}

const Result = t.Object({
  success: t.Boolean(),
  executionId: t.String(),
  output: t.Unknown({ description: 'The output of the last block of the path.' }),
  metadata: t.Object({
    duration: t.Number({ description: 'Milliseconds.' }),
    startTime: t.String(),
    endTime: t.String(),
  }),
})

/** The plugin's types know schemas of OpenAPI 3.0 only; TypeBox's are JSON schemas, as 3.1 has them. */
function json(schema: object): { 'application/json': { schema: Record<string, never> } } {
  return { 'application/json': { schema: schema as Record<string, never> } }
}

const detail = {
  summary: 'Execute a workflow',
  description:
    'Runs the active deployment with the JSON body as its input, and answers when the log entry of the run is on disk.',
  tags: ['Executions'],
  security: [{ apiKey: [] as string[] }],
  requestBody: { content: { 'application/json': { schema: { type: 'object' as const, additionalProperties: true } } } },
  responses: {
    200: {
      description: "The run's result, or what the workflow's response block answers.",
      content: json(Result),
    },
    ...Object.fromEntries(
      (
        [
          [400, 'The body is no JSON or does not fit the input format.'],
          [401, 'No API key, or one that is not valid.'],
          [402, "The account's usage limit is reached."],
          [403, 'The workflow is not deployed, or the key is that of a viewer.'],
          [404, 'No such workflow, or it has no API trigger.'],
          [413, 'The body is too large.'],
          [429, 'Too many executions in this minute.'],
          [500, 'The run failed.'],
          [503, 'No free place for a run, or the storage is unavailable.'],
          [504, 'The run took too long.'],
        ] as const
      ).map(([status, description]) => [status, { description, content: json(ErrorAnswer) }]),
    ),
  },
}
