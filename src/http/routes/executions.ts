import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { assertMay, type Caller, type Need } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { findJob, type Job } from '../responses/jobs.ts'
import { respondWith } from '../responses/json-text.ts'
import { CancelResponse, JobResponse } from '../responses/run-schemas.ts'
import type { Services } from '../services.ts'

/** The outcome of runs, and cancelling them. */
export function executionRoutes(services: Services, door: Door) {
  return new Elysia()
    .get(
      '/api/workflows/:id/executions/:executionId',
      async ({ request, set, params }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: params.id, executionId: params.executionId })
        const { text } = await find(key, params.executionId, 'read', params.id)
        return respondWith<JobResponse>(set, text)
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
      async ({ request, set, params: { id, executionId } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id, executionId })
        const { ended } = await find(key, executionId, 'write', id)
        // The run may have ended since it was found.
        const cancelled =
          !ended && ((await services.jobs.cancel(executionId)) || services.runner.cancel(executionId, 'CANCELLED'))
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
        errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .get(
      '/api/jobs/:id',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { executionId: id })
        const { text } = await find(key, id, 'read')
        return respondWith<JobResponse>(set, text)
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

  async function find(key: Caller, executionId: string, need: Need, workflowId?: string): Promise<Job> {
    const job = await findJob(services, executionId)
    const isOther = workflowId !== undefined && job?.workflowId !== workflowId
    assertMay(key, isOther ? undefined : job?.workspaceId, need, 'run')
    return job as Job
  }
}
