import { triggerKinds } from '../domain/workflow.ts'
import type { LogFilter } from '../store/log-query.ts'
import type { CursorScope } from './cursor.ts'
import { Parameters } from './parameters.ts'

/** What `GET /api/v1/logs` is asked for. */
export type LogRequest = {
  workspaceId: string
  filter: LogFilter
  order: 'asc' | 'desc'
  limit: number
  cursor: string | undefined
  details: 'basic' | 'full'
  includeTraceSpans: boolean
  includeFinalOutput: boolean
}

export const logsPageMax = 1000
export const logsPageDefault = 100

/** Reads the parameters. Throws `INVALID_PARAMETERS` with one row for each that cannot be taken. */
export function readLogRequest(url: string): LogRequest {
  const parameters = new Parameters(url)
  const request: LogRequest = {
    workspaceId: parameters.text('workspaceId') ?? '',
    filter: {
      workflowIds: parameters.list('workflowIds'),
      folderIds: parameters.list('folderIds'),
      triggers: parameters.listOf('triggers', triggerKinds),
      level: parameters.oneOf('level', ['info', 'error']),
      startDate: parameters.time('startDate'),
      endDate: parameters.time('endDate'),
      executionId: parameters.text('executionId'),
      minDurationMs: parameters.number('minDurationMs'),
      maxDurationMs: parameters.number('maxDurationMs'),
      minCost: parameters.number('minCost'),
      maxCost: parameters.number('maxCost'),
      model: parameters.text('model'),
    },
    order: parameters.oneOf('order', ['desc', 'asc']) ?? 'desc',
    limit: parameters.whole('limit', 1, logsPageMax) ?? logsPageDefault,
    cursor: parameters.text('cursor'),
    details: parameters.oneOf('details', ['basic', 'full']) ?? 'basic',
    includeTraceSpans: parameters.flag('includeTraceSpans'),
    includeFinalOutput: parameters.flag('includeFinalOutput'),
  }
  if (request.workspaceId === '') parameters.missing('workspaceId', 'must be given; GET /api/workspaces lists yours')
  parameters.assertValid()
  return request
}

/** What a cursor is bound to: everything but the page's size and what its entries show. */
export function scopeOf({ workspaceId, order, filter }: LogRequest): CursorScope {
  return { workspaceId, order, filters: JSON.stringify(filter) }
}
