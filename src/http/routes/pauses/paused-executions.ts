import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import type { StoredPause } from '../../../domain/run/pause.ts'
import { assertMay, type Caller, type Need, roleOf } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { assertMayAnswer } from '../../access/pause-access.ts'
import { route } from '../../openapi/route.ts'
import { readJsonBody } from '../../requests/body.ts'
import { receiveFormBody } from '../../requests/form-body.ts'
import { PausedExecution, PausedExecutions, Resumed, ResumeInput } from '../../responses/pauses/pause-schemas.ts'
import { pausedExecution } from '../../responses/pauses/paused-response.ts'
import type { Services } from '../../services.ts'
import { giveAnswer } from './give-answer.ts'

/** Pauses of the runs that a list looks at, at most. */
const pausesMax = 1_000

/** The paused runs of a workflow, and resuming them, at the addresses that clients of Sim use. */
export function pausedExecutionRoutes(services: Services, door: Door) {
  const { store, settings, pauses } = services
  const { answers } = services.runs.pauses
  /** The pauses of a run, open or not. */
  async function pausesOf(caller: Caller, workflowId: string, executionId: string, need: Need): Promise<StoredPause[]> {
    const found = (await store.listRunPauses(executionId)).filter((pause) => pause.workflowId === workflowId)
    assertMay(caller, found[0]?.workspaceId, need, 'paused run')
    return found
  }

  async function resume(caller: Caller, request: Request, { workflowId, executionId, contextId }: ResumePath) {
    const found = await pausesOf(caller, workflowId, executionId, 'execute')
    const wanted = wantedOf(found, contextId)
    const asked = await answers.find(wanted.contextId)
    const by = (await store.findUser(caller.userId))?.email.toLowerCase() ?? null
    if (asked?.pause.kind === 'approval') {
      assertMayAnswer({ role: roleOf(caller, asked.pause.workspaceId), email: by ?? '' }, asked.content)
      const call = { request, fields: asked.content.fields, within: 'input', visitor: undefined }
      const outcome = await receiveFormBody(services.runs.pauses, call, ({ values: { approved, ...values }, upload }) =>
        giveAnswer(services.runs.pauses, asked, { approved, values, upload, by }),
      )
      if (outcome !== 'resumed') {
        return {
          status: 'started',
          executionId,
          message: 'The answer counts. The run waits for other people.',
        } as const
      }
    } else {
      const body = await readJsonBody(request, settings.body)
      const data = isObject(body) ? (body['input'] ?? {}) : body
      if (!isObject(data)) throw new AppError('INVALID_INPUT', 'The body and its member "input" must be objects.')
      if (!asked) await pauses.resume(wanted.contextId)
      else await answers.answer(asked, { approved: true, fields: {}, by, call: { data, headers: {}, query: {} } })
    }
    return { status: 'started', executionId, message: 'The run continues.' } as const
  }

  return new Elysia()
    .get(
      '/api/workflows/:id/paused',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        const workflow = await store.getWorkflow(id)
        assertMay(caller, workflow?.workspaceId, 'read', 'workflow')
        const page = { workspaceId: workflow?.workspaceId ?? '', workflowId: id, after: 0, limit: pausesMax }
        const runs = Map.groupBy(await store.listPauses(page), ({ executionId }) => executionId)
        return { pausedExecutions: [...runs.values()].map(pausedExecution) }
      },
      route({
        name: 'listPausedExecutions',
        summary: 'List the paused runs of a workflow',
        description: 'Those with the oldest 1,000 open pauses. `GET /api/workspaces/{id}/pauses` lists all, in pages.',
        tag: 'Executions',
        responses: { 200: PausedExecutions },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/api/workflows/:id/paused/:executionId',
      async ({ request, set, params: { id, executionId } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        return pausedExecution(await pausesOf(caller, id, executionId, 'read'))
      },
      route({
        name: 'getPausedExecution',
        summary: 'Get a paused run',
        tag: 'Executions',
        responses: { 200: PausedExecution },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/api/resume/:workflowId/:executionId',
      async ({ request, set, params: { workflowId, executionId } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        return pausedExecution(await pausesOf(caller, workflowId, executionId, 'read'))
      },
      route({
        name: 'getResumable',
        summary: 'Get a run that can be resumed',
        tag: 'Executions',
        responses: { 200: PausedExecution },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/api/resume/:workflowId/:executionId',
      async ({ request, set, params }) => {
        const caller = await door.requireKeyOrSession(request, set)
        return await resume(caller, request, params)
      },
      route({
        name: 'resumeExecution',
        summary: 'Resume a run that has one open pause',
        tag: 'Executions',
        body: ResumeInput,
        responses: { 200: Resumed },
        errors: resumeErrors,
      }),
    )
    .post(
      '/api/resume/:workflowId/:executionId/:contextId',
      async ({ request, set, params }) => {
        const caller = await door.requireKeyOrSession(request, set)
        return await resume(caller, request, params)
      },
      route({
        name: 'resumeContext',
        summary: 'Resume a run at one of its pauses',
        description: 'An approval takes `input.approved` (true by default), and the other members as its fields.',
        tag: 'Executions',
        body: ResumeInput,
        responses: { 200: Resumed },
        errors: resumeErrors,
      }),
    )
}

/** The pause that the caller names, or else the only open one. */
function wantedOf(found: readonly StoredPause[], contextId: string | undefined): StoredPause {
  const open = found.filter(({ state }) => state === 'open')
  const only = open.length === 1 ? open[0] : undefined
  const wanted = contextId === undefined ? only : found.find((pause) => pause.contextId === contextId)
  if (wanted) return wanted
  const message =
    contextId === undefined ? `The run has ${open.length} open pauses: name one of them.` : 'The run has no such pause.'
  throw new AppError('NOT_FOUND', message)
}

type ResumePath = { workflowId: string; executionId: string; contextId?: string }

const resumeErrors = [
  ...(['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const),
  ...(['ALREADY_RESUMED', 'EXPIRED', 'CANCELLED'] as const),
]
