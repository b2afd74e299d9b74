import { Elysia } from 'elysia'
import { metricsType } from '../../telemetry/exposition.ts'
import type { Door } from '../door.ts'
import { operation } from '../operation.ts'
import type { Services } from '../services.ts'

/** What Prometheus reads. */
export function metricsRoutes({ metrics }: Services, door: Door) {
  return new Elysia().get(
    '/metrics',
    async ({ request, set }) => {
      door.allowAnonymous(request, set)
      const text = await metrics.text()
      set.headers['content-type'] = metricsType
      return text
    },
    {
      detail: {
        ...operation({
          name: 'readMetrics',
          summary: 'Read the metrics',
          description:
            "What the service counts and measures, in Prometheus' text format. README.md explains the names.",
          tag: 'Operations',
          access: 'everyone',
        }),
        responses: {
          200: {
            description: 'Every metric with its series.',
            content: { 'text/plain': { schema: { type: 'string' } } },
          },
        },
      },
    },
  )
}
