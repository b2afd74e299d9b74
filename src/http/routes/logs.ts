import { type TSchema, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { oneOf } from '../../domain/one-of.ts'
import { runStatuses } from '../../domain/run/log.ts'
import { triggerKinds } from '../../domain/workflow/workflow.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { logsPageDefault, logsPageMax, searchCharsMax } from '../requests/log-query.ts'
import {
  respondWithExecution,
  respondWithLog,
  respondWithLogs,
  respondWithRunWebhooks,
} from '../responses/log-responses.ts'
import { ExecutionDetail, LogDetail, LogList, RunWebhooks } from '../responses/log-schemas.ts'
import type { Services } from '../services.ts'

/** The external API: `/api/v1/logs`. */
export function logRoutes(services: Services, door: Door) {
  return new Elysia({ prefix: '/api/v1/logs' })
    .get(
      '',
      async ({ request, set, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithLogs(services, door, { request, set }, key)
      },
      route({
        name: 'queryLogs',
        summary: 'Query log entries',
        description:
          'Entries are in the order in which they were recorded. To follow new entries, use `order=asc` and repeat the ' +
          'query with the last `nextCursor` that was not null. A cursor continues its own query: `limit`, `details` and ' +
          'the `include…` parameters may change, others may not. A rare filter may return a short or empty page with a ' +
          'cursor. A page with final outputs or trace spans may be long and is sent while it is read: if the connection ' +
          'breaks before its end, request the page again.',
        tag: 'Logs',
        access: 'external',
        query: LogQueryParameters,
        responses: { 200: LogList },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/:id',
      async ({ request, set, params: { id }, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithLog(services, set, key, id)
      },
      route({
        name: 'getLogEntry',
        summary: 'Get a log entry',
        tag: 'Logs',
        access: 'external',
        responses: { 200: LogDetail },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/:id/webhooks',
      async ({ request, set, params: { id }, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithRunWebhooks(services, key, id)
      },
      route({
        name: 'listRunWebhooks',
        summary: 'Get the webhook decisions of a run',
        description:
          'What was decided about each webhook subscription when the run ended, and the outcome of each delivery.',
        tag: 'Logs',
        access: 'external',
        responses: { 200: RunWebhooks },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/workflow/pt-BR/executions/:executionId',
      async ({ request, set, params, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithExecution(services, set, key, params.executionId)
      },
      route({
        name: 'getExecutionDetails',
        summary: 'Get execution details',
        description: '`workflowState` is the deployment that ran, not the draft.',
        tag: 'Logs',
        access: 'external',
        responses: { 200: ExecutionDetail },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/executions/:executionId',
      async ({ request, set, params, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithExecution(services, set, key, params.executionId)
      },
      route({
        name: 'getExecutionDetailsShort',
        summary: 'Get execution details (short path)',
        description: 'The same response as at the longer path.',
        tag: 'Logs',
        access: 'external',
        responses: { 200: ExecutionDetail },
        errors: ['NOT_FOUND'],
      }),
    )
}

const optional = <Schema extends TSchema>(schema: Schema) => t.Optional(schema)
const names = (values: readonly string[]) => t.String({ description: `Separated by commas: ${values.join(', ')}.` })
const LogQueryParameters = t.Object({
  workspaceId: t.String({ description: 'The workspace whose entries are shown.' }),
  workflowIds: optional(t.String({ description: 'Separated by commas.' })),
  folderIds: optional(t.String({ description: 'Separated by commas; includes subfolders.' })),
  triggers: optional(names(triggerKinds)),
  level: optional(
    oneOf(['info', 'error'], {
      description: '`error`: runs that failed, were cancelled or lost their caller; `info`: all others.',
    }),
  ),
  startDate: optional(t.String({ description: 'RFC 3339; entries that started at this time or later.' })),
  endDate: optional(t.String({ description: 'RFC 3339; entries that started at this time or earlier.' })),
  executionId: optional(t.String({ description: 'The entry of one run.' })),
  minDurationMs: optional(t.Number({ minimum: 0, description: 'Minimum duration in milliseconds.' })),
  maxDurationMs: optional(t.Number({ minimum: 0, description: 'Maximum duration in milliseconds.' })),
  minCost: optional(t.Number({ minimum: 0, description: 'Minimum cost in USD.' })),
  maxCost: optional(t.Number({ minimum: 0, description: 'Maximum cost in USD.' })),
  model: optional(t.String({ description: 'Runs that used this model: a key of `cost.models`.' })),
  status: optional(names(runStatuses)),
  search: optional(
    t.String({
      maxLength: searchCharsMax,
      description:
        'Part of an error message, a label, the name of the failed block, the name of the workflow, or the ID of the ' +
        'workflow or execution; or a whole log ID. Upper and lower case are the same.',
    }),
  ),
  labels: optional(
    t.String({
      description:
        'A label and its whole text, as in `customer:Acme`. Give it several times to ask for several labels.',
    }),
  ),
  limit: optional(
    t.Integer({
      minimum: 1,
      maximum: logsPageMax,
      default: logsPageDefault,
      description: 'Maximum number of entries per page.',
    }),
  ),
  cursor: optional(t.String({ description: '`nextCursor` of the previous page.' })),
  order: optional(
    oneOf(['desc', 'asc'], {
      default: 'desc',
      description: 'The order in which entries were recorded.',
    }),
  ),
  details: optional(
    oneOf(['basic', 'full'], {
      default: 'basic',
      description: '`full` adds `workflow` and the whole `cost`.',
    }),
  ),
  includeTraceSpans: optional(t.Boolean({ default: false, description: 'Adds `traceSpans`. Also 1 and 0.' })),
  includeFinalOutput: optional(t.Boolean({ default: false, description: 'Adds `finalOutput`. Also 1 and 0.' })),
})
