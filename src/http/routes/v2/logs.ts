import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { oneOf } from '../../../domain/one-of.ts'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import { logsPageDefault, logsPageMax } from '../../requests/log-query.ts'
import { logStatusesV2, readLogRequestV2 } from '../../requests/v2/log-query-v2.ts'
import { respondWithBody } from '../../responses/json-text.ts'
import { LogDetailV2, LogListV2 } from '../../responses/v2/log-schemas.ts'
import { logDetailV2, logListV2 } from '../../responses/v2/logs.ts'
import type { Services } from '../../services.ts'

/** The log of ended runs: `/api/v2/logs`. */
export function logRoutesV2(services: Services, door: Door) {
  const { unsent } = services
  return new Elysia()
    .get(
      '/api/v2/logs',
      async (context) => {
        const { request, set } = context
        const caller = await enterV2(door, context)
        const { workspaceId, request: wanted } = readLogRequestV2(request.url)
        assertMay(caller, workspaceId, 'read', 'workspace')
        const page = wanted ? await logListV2(services, wanted) : '{"data":[],"nextCursor":null}'
        return respondWithBody<LogListV2>(set, unsent.logBody(workspaceId, page))
      },
      routeV2({
        name: 'listLogsV2',
        summary: 'List log entries',
        description:
          'Entries of ended runs, in the order in which they were recorded. A page may have fewer entries than `limit` ' +
          'although there is a `nextCursor`: a rare filter takes long, and long texts fill a page.',
        query: LogQuery,
        responses: { 200: LogListV2 },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/api/v2/logs/:runId',
      async (context) => {
        const { request, set, params } = context
        const caller = await enterV2(door, context)
        door.note(request, { executionId: params.runId })
        const { workspaceId, text } = await logDetailV2(services, caller, params.runId)
        return respondWithBody<LogDetailV2>(set, unsent.logBody(workspaceId, text))
      },
      routeV2({
        name: 'getLogV2',
        summary: 'Get the log entry of a run',
        description: 'A run that has not ended has no entry.',
        responses: { 200: LogDetailV2 },
        errors: ['NOT_FOUND'],
      }),
    )
}

const names = (of: string) => t.Optional(t.String({ description: `${of}, separated by commas.` }))
const LogQuery = t.Object({
  workspaceId: t.String({ description: 'The workspace whose entries are shown.' }),
  workflowIds: names('IDs of workflows'),
  folderPaths: names('Folders such as `/sales`, with their subfolders'),
  triggers: names('Kinds of triggers; `all` for all of them'),
  status: names(logStatusesV2.join(', ')),
  level: t.Optional(oneOf(['info', 'error'], { description: '`error`: runs that failed or were cancelled.' })),
  startDate: t.Optional(t.String({ description: 'RFC 3339; entries that started at this time or later.' })),
  endDate: t.Optional(t.String({ description: 'RFC 3339; entries that started at this time or earlier.' })),
  runId: t.Optional(t.String({ description: 'The entry of one run.' })),
  minDurationMs: t.Optional(t.Number({ minimum: 0, description: 'Minimum duration in milliseconds.' })),
  maxDurationMs: t.Optional(t.Number({ minimum: 0, description: 'Maximum duration in milliseconds.' })),
  minCost: t.Optional(t.Number({ minimum: 0, description: 'Minimum cost in USD.' })),
  maxCost: t.Optional(t.Number({ minimum: 0, description: 'Maximum cost in USD.' })),
  model: t.Optional(t.String({ description: 'Runs that used this model.' })),
  details: t.Optional(oneOf(['basic', 'full'], { default: 'basic', description: '`full` adds `workflow`.' })),
  includeTraceSpans: t.Optional(t.Boolean({ default: false, description: 'Adds `traceSpans`.' })),
  includeFinalOutput: t.Optional(t.Boolean({ default: false, description: 'Adds `finalOutput`.' })),
  limit: t.Optional(
    t.Integer({
      default: logsPageDefault,
      description: `Entries of a page: 1 to ${logsPageMax}; other numbers are clamped.`,
    }),
  ),
  cursor: t.Optional(t.String({ description: 'The `nextCursor` of the previous page, with the same filters.' })),
  sortOrder: t.Optional(oneOf(['desc', 'asc'], { default: 'desc', description: 'The order of recording.' })),
})
