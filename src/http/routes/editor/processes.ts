import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import type { ProcessRow } from '../../../store/process-store.ts'
import type { Door, ResponseSet } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { isoTime, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Count = t.Integer({ minimum: 0 })
const ProcessResponse = t.Object({
  id: t.String(),
  host: t.String(),
  pid: t.Integer(),
  url: t.String({ description: 'Where other processes reach it.' }),
  version: t.String(),
  startedAt: Time,
  heartbeatAt: Time,
  gone: t.Boolean({ description: 'It has given no sign of life for so long that others take over its work.' }),
  leader: t.Boolean({ description: 'It runs schedules and retention.' }),
  draining: t.Boolean({ description: 'It takes no more work.' }),
  holds: t.Object({ runs: Count, jobs: Count, deliveries: Count, schedules: Count }),
})
const Processes = t.Object({
  shared: t.Boolean({ description: 'Whether several processes can serve the installation.' }),
  data: t.Array(ProcessResponse, {
    description: 'Oldest first. Empty if only one process can serve the installation.',
  }),
})

/** The processes that serve the installation, for its owner. */
export function processRoutes({ store, settings }: Services, door: Door) {
  return new Elysia({ prefix: '/processes' })
    .get(
      '',
      async ({ request, set }) => {
        await requireOwner(request, set)
        return { shared: settings.store === 'postgres', data: (await store.listProcesses()).map(responseOf) }
      },
      editorRoute({
        name: 'listProcesses',
        summary: 'List the processes that serve the installation',
        responses: { 200: Processes },
        errors: ['FORBIDDEN'],
      }),
    )
    .post(
      '/:id/drain',
      async ({ request, set, params: { id } }) => {
        await requireOwner(request, set)
        if (await store.drainProcess(id)) set.status = 204
        else throw new AppError('NOT_FOUND', 'This process no longer serves the installation.')
      },
      editorRoute({
        name: 'drainProcess',
        summary: 'Let a process finish its work and take no more',
        responses: { 204: t.Void({ description: 'It takes no more work within a second.' }) },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )

  async function requireOwner(request: Request, set: ResponseSet): Promise<void> {
    const { userId } = await door.requireSession(request, set)
    const owner = await store.findOwner()
    if (owner?.userId === userId) return
    throw new AppError('FORBIDDEN', "Only the installation's owner may see and drain its processes.")
  }
}

function responseOf({ id, host, pid, url, version, startedAt, heartbeatAt, holds, ...is }: ProcessRow) {
  return {
    ...{ id, host, pid, url, version, holds },
    startedAt: isoTime(startedAt),
    heartbeatAt: isoTime(heartbeatAt),
    gone: is.isGone,
    leader: is.isLeader,
    draining: is.isDraining,
  }
}
