import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { LogCounts } from '../../../store/log-query.ts'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { type HistogramRequest, readHistogramRequest } from '../../requests/log-query.ts'
import {
  respondWithEditorLog,
  respondWithExecution,
  respondWithLogs,
  respondWithRunWebhooks,
} from '../../responses/log-responses.ts'
import { EditorLogDetail, ExecutionDetail, LogList, RunWebhooks } from '../../responses/log-schemas.ts'
import { isoTime, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Histogram = t.Object({
  data: t.Array(
    t.Object({
      at: Time,
      success: t.Integer(),
      error: t.Integer(),
      cancelled: t.Integer(),
      cost: t.Number({ description: 'USD.' }),
    }),
    { description: 'Counts by start time, oldest first, including empty buckets.' },
  ),
  isComplete: t.Boolean({
    description: 'False when there are too many entries to count; the oldest are missing then.',
  }),
})

/** Time limit for counting, in milliseconds: enough for about three million entries. */
const countMsMax = 600

/** The log for the dashboard: the responses of the external API, and counts over time. */
export function editorLogRoutes(services: Services, door: Door) {
  return new Elysia({ prefix: '/logs' })
    .get(
      '',
      async ({ request, set }) =>
        respondWithLogs(services, door, { request, set }, await door.requireSession(request, set), true),
      editorRoute({
        name: 'listEditorLogs',
        summary: 'Query log entries',
        description: 'Parameters and responses are those of `GET /api/v1/logs`.',
        responses: { 200: LogList },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/histogram',
      async ({ request, set }) => {
        const caller = await door.requireSession(request, set)
        const wanted = readHistogramRequest(request.url)
        assertMay(caller, wanted.workspaceId, 'read', 'workspace')
        return await histogram(services, wanted, request.signal)
      },
      editorRoute({
        name: 'countLogs',
        summary: 'Count log entries over time',
        description:
          'Takes `workspaceId`, `from`, `bucketMs`, `buckets` and the filters of `GET /api/v1/logs`. Counts from the ' +
          'newest entry backwards for a bounded time.',
        responses: { 200: Histogram },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )
    .get(
      '/executions/:executionId',
      async ({ request, set, params }) =>
        respondWithExecution(services, set, await door.requireSession(request, set), params.executionId),
      editorRoute({
        name: 'getEditorExecution',
        summary: 'Get the deployment that a run used',
        responses: { 200: ExecutionDetail },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/:id',
      async ({ request, set, params }) =>
        respondWithEditorLog(services, set, await door.requireSession(request, set), params.id),
      editorRoute({
        name: 'getEditorLog',
        summary: 'Get a log entry',
        responses: { 200: EditorLogDetail },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/:id/webhooks',
      async ({ request, set, params }) =>
        respondWithRunWebhooks(services, await door.requireSession(request, set), params.id),
      editorRoute({
        name: 'listEditorRunWebhooks',
        summary: 'Get the webhook decisions of a run',
        responses: { 200: RunWebhooks },
        errors: ['NOT_FOUND'],
      }),
    )
}

/** Adds up in parts, so that other searches run in between. */
async function histogram({ store, clock }: Services, wanted: HistogramRequest, signal: AbortSignal) {
  const { from, bucketMs, buckets, workspaceId, filter } = wanted
  const query = { workspaceId, filter, from, bucketMs, count: buckets }
  const endAt = clock.monotonic() + countMsMax
  const sum = await store.countLogs({ ...query, before: undefined })
  while (sum.position !== null && clock.monotonic() < endAt && !signal.aborted) {
    add(sum, await store.countLogs({ ...query, before: sum.position }))
  }
  const data = sum.success.map((success, index) => ({
    at: isoTime(from + index * bucketMs),
    success,
    error: sum.error[index]!,
    cancelled: sum.cancelled[index]!,
    cost: sum.cost[index]!,
  }))
  return { data, isComplete: sum.position === null }
}

function add(sum: LogCounts, part: LogCounts): void {
  for (const name of ['success', 'error', 'cancelled', 'cost'] as const) {
    for (const [index, value] of part[name].entries()) sum[name][index]! += value
  }
  sum.position = part.position
}
