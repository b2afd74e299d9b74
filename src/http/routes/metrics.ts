import { Elysia } from 'elysia'
import { metricsType } from '../../telemetry/exposition.ts'
import type { Door } from '../access/door.ts'
import { operation } from '../openapi/operation.ts'
import type { Services } from '../services.ts'

/** The metrics for Prometheus. */
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
          description: "The service's metrics in Prometheus' text format. docs/operations.md explains the names.",
          tag: 'Operations',
          access: 'everyone',
        }),
        responses: {
          200: {
            description: 'All metrics with their series.',
            content: { 'text/plain': { schema: { type: 'string' } } },
          },
        },
      },
    },
  )
}
