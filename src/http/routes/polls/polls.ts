import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { findWorkflow } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { route } from '../../openapi/route.ts'
import type { Services } from '../../services.ts'
import { PollList, pollResponse } from './poll-response.ts'

/** The polls of a workflow's active version. */
export function pollRoutes(services: Services, door: Door) {
  const { polls } = services
  return new Elysia({ prefix: '/api/workflows/:id' })
    .get(
      '/polls',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        await findWorkflow(services, caller, id, 'read')
        return { data: (await polls.list(id)).map(pollResponse) }
      },
      route({
        name: 'listPolls',
        summary: 'List the polls of a workflow',
        description:
          'The last poll of each trigger of the active version, its error, and when the next one is due. For an e-mail ' +
          'trigger, the last attempt to read the mailbox.',
        tag: 'Deployments',
        responses: { 200: PollList },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/polls/:blockId/now',
      async ({ request, set, params: { id, blockId } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        await findWorkflow(services, caller, id, 'execute')
        if (!(await polls.now(id, blockId))) {
          throw new AppError('NOT_FOUND', 'The active version has no polling trigger with this block ID.')
        }
        set.status = 204
      },
      route({
        name: 'pollNow',
        summary: 'Poll now',
        description: 'The poll becomes due at once. Later ones follow as before.',
        tag: 'Deployments',
        responses: { 204: t.Void({ description: 'The poll is due.' }) },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )
}
