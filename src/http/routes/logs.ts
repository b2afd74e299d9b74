import { type TSchema, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { oneOf } from '../../domain/one-of.ts'
import { triggerKinds } from '../../domain/workflow/workflow.ts'
import type { Door } from '../door.ts'
import { logsPageDefault, logsPageMax } from '../log-query.ts'
import { respondWithExecution, respondWithLog, respondWithLogs, respondWithRunWebhooks } from '../log-responses.ts'
import { documented, operation } from '../operation.ts'
import { ExecutionDetail, LogDetail, LogList, RunWebhooks, responses } from '../responses.ts'
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
      {
        query: documented(LogQueryParameters),
        response: responses({ 200: LogList }),
        detail: operation({
          name: 'queryLogs',
          summary: 'Query log entries',
          description:
            'Entries are in the order in which they were recorded. To follow new ones, use `order=asc` and come back ' +
            'with the last `nextCursor` that was not null. A cursor continues the query it came from: `limit`, `details` ' +
            'and what is included may change, other parameters may not. A filter that admits little may response with a ' +
            'short or empty page and a cursor. A page with final outputs or trace spans may be long: it is sent while it ' +
            'is read, and a connection that breaks before its end means that the page has to be asked for again.',
          tag: 'Logs',
          access: 'external',
          errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
        }),
      },
    )
    .get(
      '/:id',
      async ({ request, set, params: { id }, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithLog(services, set, key, id)
      },
      {
        response: responses({ 200: LogDetail }),
        detail: operation({
          name: 'getLogEntry',
          summary: 'Get a log entry',
          tag: 'Logs',
          access: 'external',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .get(
      '/:id/webhooks',
      async ({ request, set, params: { id }, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithRunWebhooks(services, key, id)
      },
      {
        response: responses({ 200: RunWebhooks }),
        detail: operation({
          name: 'listRunWebhooks',
          summary: 'Why was something sent, or nothing?',
          description: 'What was decided about each webhook of the workflow when the run ended, and what became of it.',
          tag: 'Logs',
          access: 'external',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .get(
      '/workflow/pt-BR/executions/:executionId',
      async ({ request, set, params, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithExecution(services, set, key, params.executionId)
      },
      {
        response: responses({ 200: ExecutionDetail }),
        detail: operation({
          name: 'getExecutionDetails',
          summary: 'Get execution details',
          description: '`workflowState` is the deployment that ran, not the draft.',
          tag: 'Logs',
          access: 'external',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .get(
      '/executions/:executionId',
      async ({ request, set, params, server }) => {
        const key = await door.requireApiKey(request, set, server)
        return respondWithExecution(services, set, key, params.executionId)
      },
      {
        response: responses({ 200: ExecutionDetail }),
        detail: operation({
          name: 'getExecutionDetailsShort',
          summary: 'Get execution details (short path)',
          description: 'The same response as the longer path.',
          tag: 'Logs',
          access: 'external',
          errors: ['NOT_FOUND'],
        }),
      },
    )
}

const optional = <Schema extends TSchema>(schema: Schema) => t.Optional(schema)
const names = (values: readonly string[]) => t.String({ description: `Separated by commas: ${values.join(', ')}.` })
const LogQueryParameters = t.Object({
  workspaceId: t.String({ description: 'The workspace whose entries are shown.' }),
  workflowIds: optional(t.String({ description: 'Separated by commas.' })),
  folderIds: optional(t.String({ description: 'Separated by commas; folders below them count.' })),
  triggers: optional(names(triggerKinds)),
  level: optional(
    oneOf(['info', 'error'], {
      description: '`error`: runs that failed, were cancelled or lost their caller; `info`: all others.',
    }),
  ),
  startDate: optional(t.String({ description: 'RFC 3339; entries that started then or later.' })),
  endDate: optional(t.String({ description: 'RFC 3339; entries that started then or earlier.' })),
  executionId: optional(t.String({ description: 'The entry of one run.' })),
  minDurationMs: optional(t.Number({ minimum: 0, description: 'At least so long, in milliseconds.' })),
  maxDurationMs: optional(t.Number({ minimum: 0, description: 'At most so long, in milliseconds.' })),
  minCost: optional(t.Number({ minimum: 0, description: 'At least so much, in USD.' })),
  maxCost: optional(t.Number({ minimum: 0, description: 'At most so much, in USD.' })),
  model: optional(t.String({ description: 'Runs that used this model: a key of `cost.models`.' })),
  limit: optional(
    t.Integer({
      minimum: 1,
      maximum: logsPageMax,
      default: logsPageDefault,
      description: 'Entries on a page at most.',
    }),
  ),
  cursor: optional(t.String({ description: '`nextCursor` of the page before.' })),
  order: optional(
    oneOf(['desc', 'asc'], {
      default: 'desc',
      description: 'By when entries were recorded.',
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
