import { type TSchema, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { sequenceOf } from '../../domain/ids.ts'
import { triggerKinds, type WorkflowDocument } from '../../domain/workflow.ts'
import type { KeyRow, LogDetailRow } from '../../store/store.ts'
import { answers, ExecutionDetail, LogDetail, LogList } from '../answers.ts'
import { accountOf, assertMay } from '../auth.ts'
import { readCursor } from '../cursor.ts'
import type { AnswerSet, Door } from '../door.ts'
import { answerWith, JsonText, streamWith } from '../json-text.ts'
import { limitsAnswer } from '../limits-answer.ts'
import { writeDetail, writeExecution } from '../log-entry.ts'
import { answerPage } from '../log-page.ts'
import { logsPageDefault, logsPageMax, readLogRequest, scopeOf } from '../log-query.ts'
import { documented, operation } from '../operation.ts'
import type { Services } from '../services.ts'

/** The external API: `/api/v1/logs`. */
export function logRoutes(services: Services, door: Door) {
  const { store } = services
  return new Elysia({ prefix: '/api/v1/logs' })
    .get(
      '',
      async ({ request, set, server }) => {
        const key = await door.enterExternal(request, set, server)
        const wanted = readLogRequest(request.url)
        assertMay(key, wanted.workspaceId, 'read', 'workspace')
        const scope = scopeOf(wanted)
        const after = wanted.cursor === undefined ? undefined : readCursor(wanted.cursor, scope)
        if (wanted.cursor !== undefined && after === undefined) throw invalidCursor()
        const limits = (await limitsFor(key)).text
        const page = await answerPage({
          store,
          request: wanted,
          after,
          limits,
          freshenFiles: services.files.freshen,
          onFailure: (cause) => door.broke(request, cause),
        })
        return 'text' in page ? answerWith<LogList>(set, new JsonText(page.text)) : streamWith<LogList>(page.stream)
      },
      {
        query: documented(LogQueryParameters),
        response: answers({ 200: LogList }),
        detail: operation({
          name: 'queryLogs',
          summary: 'Query log entries',
          description:
            'Entries are in the order in which they were recorded. To follow new ones, use `order=asc` and come back ' +
            'with the last `nextCursor` that was not null. A cursor continues the query it came from: `limit`, `details` ' +
            'and what is included may change, other parameters may not. A filter that admits little may answer with a ' +
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
        const key = await door.enterExternal(request, set, server)
        const sequence = sequenceOf(id)
        const row = sequence === undefined ? undefined : await store.getLog(sequence)
        assertMay(key, row?.workspaceId, 'read', 'log entry')
        const { text } = writeDetail(row as LogDetailRow, await limitsFor(key))
        const runFiles = row?.files ? [row.files] : []
        return answerWith<LogDetail>(set, new JsonText(await services.files.freshen(text, runFiles)))
      },
      {
        response: answers({ 200: LogDetail }),
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
      '/workflow/pt-BR/executions/:executionId',
      async ({ request, set, params, server }) => {
        const key = await door.enterExternal(request, set, server)
        return executionAnswer(key, set, params.executionId)
      },
      {
        response: answers({ 200: ExecutionDetail }),
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
        const key = await door.enterExternal(request, set, server)
        return executionAnswer(key, set, params.executionId)
      },
      {
        response: answers({ 200: ExecutionDetail }),
        detail: operation({
          name: 'getExecutionDetailsShort',
          summary: 'Get execution details (short path)',
          description: 'The same answer as the longer path.',
          tag: 'Logs',
          access: 'external',
          errors: ['NOT_FOUND'],
        }),
      },
    )

  async function limitsFor(key: KeyRow): Promise<JsonText> {
    return new JsonText(JSON.stringify(limitsAnswer(await services.limitsOf(accountOf(key)))))
  }

  async function executionAnswer(key: KeyRow, set: AnswerSet, executionId: string): Promise<ExecutionDetail> {
    const row = await store.getExecution(executionId)
    assertMay(key, row?.workspaceId, 'read', 'execution')
    const { workflowId, version } = row as LogDetailRow
    const document = await store.getDocument(workflowId, version)
    const text = writeExecution(row as LogDetailRow, document ?? nothing, await limitsFor(key))
    return answerWith<ExecutionDetail>(set, text)
  }
}

/** The state of a version that is gone. */
const nothing: WorkflowDocument = { name: '', blocks: {}, edges: [] }

function invalidCursor(): AppError {
  return new AppError(
    'INVALID_CURSOR',
    'This cursor does not belong to this query. Keep workspaceId, order and filters as they were, or start without a cursor.',
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
    t.Unsafe<'info' | 'error'>({
      type: 'string',
      enum: ['info', 'error'],
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
    t.Unsafe<'desc' | 'asc'>({
      type: 'string',
      enum: ['desc', 'asc'],
      default: 'desc',
      description: 'By when entries were recorded.',
    }),
  ),
  details: optional(
    t.Unsafe<'basic' | 'full'>({
      type: 'string',
      enum: ['basic', 'full'],
      default: 'basic',
      description: '`full` adds `workflow` and the whole `cost`.',
    }),
  ),
  includeTraceSpans: optional(t.Boolean({ default: false, description: 'Adds `traceSpans`. Also 1 and 0.' })),
  includeFinalOutput: optional(t.Boolean({ default: false, description: 'Adds `finalOutput`. Also 1 and 0.' })),
})
