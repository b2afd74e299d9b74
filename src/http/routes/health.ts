import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import type { Door } from '../door.ts'
import { operation } from '../operation.ts'
import { HealthResponse, ReadyResponse, responses } from '../responses.ts'
import type { Services } from '../services.ts'

/** How long one look at the disk serves: anyone may ask, and every look is a commit. */
const probeAgeMaxMs = 1000

/** Whether the process lives, and whether it can take work. */
export function healthRoutes(services: Services, door: Door) {
  const { store, clock, settings } = services
  const probe = shared(
    () => store.probe(),
    () => clock.monotonic(),
  )
  const alive = () => ({ status: 'ok', version: settings.version }) as const
  return new Elysia({ prefix: '/health' })
    .get(
      '',
      async ({ request, set }) => {
        door.allowAnonymous(request, set)
        await assertReady()
        return alive()
      },
      {
        response: responses({ 200: HealthResponse }),
        detail: operation({
          name: 'checkHealth',
          summary: 'Is the service well?',
          tag: 'Operations',
          access: 'everyone',
          errors: ['STORAGE_UNAVAILABLE'],
        }),
      },
    )
    .get(
      '/live',
      ({ request, set }) => {
        door.allowAnonymous(request, set)
        return alive()
      },
      {
        response: responses({ 200: HealthResponse }),
        detail: operation({
          name: 'checkLive',
          summary: 'Does the process response?',
          description: 'Restart it when it does not.',
          tag: 'Operations',
          access: 'everyone',
        }),
      },
    )
    .get(
      '/ready',
      async ({ request, set }) => {
        door.allowAnonymous(request, set)
        const { waiting } = await assertReady()
        return { status: 'ok', store: 'ok', writer: { waiting } } as const
      },
      {
        response: responses({ 200: ReadyResponse }),
        detail: operation({
          name: 'checkReady',
          summary: 'Can the service take work?',
          description:
            'Send it no requests while it cannot: the disk is full or failing, or log entries do not reach it.',
          tag: 'Operations',
          access: 'everyone',
          errors: ['STORAGE_UNAVAILABLE'],
        }),
      },
    )

  async function assertReady(): Promise<{ waiting: number }> {
    const { healthy, waiting } = services.writerHealth()
    if (!healthy) {
      throw new AppError('STORAGE_UNAVAILABLE', `Log entries do not reach the disk; ${waiting} are waiting.`)
    }
    if (await probe()) return { waiting }
    throw new AppError('STORAGE_UNAVAILABLE', 'The store cannot be written: the disk is full or failing.')
  }
}

/** Everyone who asks while a response is young, or on its way, gets that one. */
function shared(ask: () => Promise<boolean>, monotonic: () => number): () => Promise<boolean> {
  let latest: { result: Promise<boolean>; askedAt: number } | undefined
  return () => {
    const now = monotonic()
    if (latest === undefined || now - latest.askedAt >= probeAgeMaxMs) latest = { result: ask(), askedAt: now }
    return latest.result
  }
}
