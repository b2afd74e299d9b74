import { Elysia } from 'elysia'
import { assertMay, type Caller } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { route } from '../../openapi/route.ts'
import { PausedExecution, PausedExecutions, Resumed, ResumeInput } from '../../responses/pauses/pause-schemas.ts'
import { pausedExecution } from '../../responses/pauses/paused-response.ts'
import type { Services } from '../../services.ts'
import { pausesOf, type ResumePath, resumeRun } from './resume-run.ts'

/** Pauses of the runs that a list looks at, at most. */
const pausesMax = 1_000

/** The paused runs of a workflow, and resuming them, at the addresses that clients of Sim use. */
export function pausedExecutionRoutes(services: Services, door: Door) {
  const { store } = services
  const resume = (caller: Caller, request: Request, path: ResumePath) => resumeRun(services, caller, request, path)
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
        return pausedExecution(await pausesOf(services, caller, id, executionId, 'read'))
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
        return pausedExecution(await pausesOf(services, caller, workflowId, executionId, 'read'))
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

export const resumeErrors = [
  ...(['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const),
  ...(['ALREADY_RESUMED', 'EXPIRED', 'CANCELLED'] as const),
]
