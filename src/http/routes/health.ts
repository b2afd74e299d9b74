import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { shareRecent } from '../../domain/share-recent.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import type { Services } from '../services.ts'

const HealthResponse = t.Object({ status: t.Literal('ok'), version: t.String() })
const ReadyResponse = t.Object({
  status: t.Literal('ok'),
  store: t.Union([t.Literal('sqlite'), t.Literal('postgres')]),
  writer: t.Object({ waiting: t.Integer({ description: 'Ended runs whose log entries are not on disk yet.' }) }),
})

/** How long a result is reused: anyone may ask, and each probe is a commit. */
const probeAgeMaxMs = 1000

/** Health checks: whether the process is alive, and whether it can accept work. */
export function healthRoutes(services: Services, door: Door) {
  const { store, clock, settings, isDraining } = services
  const probe = shareRecent(() => store.probe(), probeAgeMaxMs, clock)
  const alive = () => ({ status: 'ok', version: settings.version }) as const
  return new Elysia({ prefix: '/health' })
    .get(
      '',
      async ({ request, set }) => {
        door.allowAnonymous(request, set)
        await assertReady()
        return alive()
      },
      route({
        name: 'checkHealth',
        summary: 'Check the health of the service',
        tag: 'Operations',
        access: 'everyone',
        responses: { 200: HealthResponse },
        errors: ['STORAGE_UNAVAILABLE'],
      }),
    )
    .get(
      '/live',
      ({ request, set }) => {
        door.allowAnonymous(request, set)
        return alive()
      },
      route({
        name: 'checkLive',
        summary: 'Check that the process is alive',
        description: 'Restart the process when this fails.',
        tag: 'Operations',
        access: 'everyone',
        responses: { 200: HealthResponse },
      }),
    )
    .get(
      '/ready',
      async ({ request, set }) => {
        door.allowAnonymous(request, set)
        assertNotDraining()
        const { waiting } = await assertReady()
        return { status: 'ok', store: settings.store, writer: { waiting } } as const
      },
      route({
        name: 'checkReady',
        summary: 'Check that the service can accept work',
        description:
          'Send it no requests while this fails: the disk is full or failing, log entries cannot be written, or the ' +
          'process is being drained (`OVERLOADED`).',
        tag: 'Operations',
        access: 'everyone',
        responses: { 200: ReadyResponse },
        errors: ['STORAGE_UNAVAILABLE', 'OVERLOADED'],
      }),
    )

  /** It still responds to every request. A load balancer is to send new ones to other processes. */
  function assertNotDraining(): void {
    if (!isDraining()) return
    throw new AppError('OVERLOADED', 'This process is draining: it takes no more work. Send requests to the others.')
  }

  async function assertReady(): Promise<{ waiting: number }> {
    const { healthy, waiting } = services.writerHealth()
    if (!healthy) {
      throw new AppError(
        'STORAGE_UNAVAILABLE',
        `The service cannot write log entries to the disk; ${waiting} are waiting. Check the disk.`,
      )
    }
    if (await probe()) return { waiting }
    throw new AppError('STORAGE_UNAVAILABLE', 'The service cannot write to its database: the disk is full or failing.')
  }
}
