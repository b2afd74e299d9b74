import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import type { Caller, Need } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import type { PeerCall } from '../peers/peers.ts'
import { findJob } from '../responses/jobs.ts'
import { respondWithBody } from '../responses/json-text.ts'
import { CancelResponse, JobResponse } from '../responses/run-schemas.ts'
import type { Services } from '../services.ts'
import { cancelRun, findRun } from './execution/find-run.ts'

/** The outcome of runs, and cancelling them. */
export function executionRoutes(services: Services, door: Door) {
  const { unsent } = services
  return new Elysia()
    .get(
      '/api/workflows/:id/executions/:executionId',
      async ({ request, set, params, server }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: params.id, executionId: params.executionId })
        const found = await find({ request, server, set }, key, params.executionId, 'read', params.id)
        if (found instanceof Response) return found as never
        return respondWithBody<JobResponse>(set, unsent.logBody(found.workspaceId, found.text.text))
      },
      route({
        name: 'getExecution',
        summary: 'Get a run',
        description:
          'The status is `queued` for an asynchronous run that has not started, `processing` for a run in flight. An ' +
          'ended run has its output or its error. A run can be found as long as its log entry is kept.',
        tag: 'Executions',
        responses: { 200: JobResponse },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/api/workflows/:id/executions/:executionId/cancel',
      async ({ request, set, params: { id, executionId }, server }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id, executionId })
        const call = { request, server, set }
        const found = await find(call, key, executionId, 'write', id)
        if (found instanceof Response) return found as never
        const cancelled = !found.ended && (await cancelRun(services, call, executionId))
        if (cancelled instanceof Response) return cancelled as never
        if (!cancelled) {
          throw new AppError('CONFLICT', 'This run has ended; there is nothing left to cancel.')
        }
        return { success: true, status: 'cancelled' } as const
      },
      route({
        name: 'cancelExecution',
        summary: 'Cancel a run',
        description: 'Stops its blocks; the run fails with `CANCELLED`. A queued asynchronous run never starts.',
        tag: 'Executions',
        responses: { 200: CancelResponse },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'OVERLOADED'],
      }),
    )
    .get(
      '/api/jobs/:id',
      async ({ request, set, params: { id }, server }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { executionId: id })
        const found = await find({ request, server, set }, key, id, 'read')
        if (found instanceof Response) return found as never
        return respondWithBody<JobResponse>(set, unsent.logBody(found.workspaceId, found.text.text))
      },
      route({
        name: 'getJob',
        summary: 'Get a run by its id alone',
        description: "The same response as at the workflow's address. Asynchronous executions return this address.",
        tag: 'Executions',
        responses: { 200: JobResponse },
        errors: ['NOT_FOUND'],
      }),
    )

  function find(call: PeerCall, caller: Caller, executionId: string, need: Need, workflowId?: string) {
    const wanted = { caller, executionId, need, ...(workflowId !== undefined && { workflowId }) }
    return findRun(services, call, () => findJob(services, executionId), wanted)
  }
}
