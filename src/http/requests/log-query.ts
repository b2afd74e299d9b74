import { triggerKinds } from '../../domain/workflow/workflow.ts'
import type { LogFilter } from '../../store/log-query.ts'
import type { CursorScope } from './cursor.ts'
import { Parameters } from './parameters.ts'

/** The query of `GET /api/v1/logs`. */
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

/** Reads the parameters. Throws `INVALID_PARAMETERS` with one detail per invalid parameter. */
export function readLogRequest(url: string): LogRequest {
  const parameters = new Parameters(url)
  const request: LogRequest = {
    ...readEntries(parameters),
    order: parameters.oneOf('order', ['desc', 'asc']) ?? 'desc',
    limit: parameters.whole('limit', 1, logsPageMax) ?? logsPageDefault,
    cursor: parameters.text('cursor'),
    details: parameters.oneOf('details', ['basic', 'full']) ?? 'basic',
    includeTraceSpans: parameters.flag('includeTraceSpans'),
    includeFinalOutput: parameters.flag('includeFinalOutput'),
  }
  parameters.assertValid()
  return request
}

/** Counts of entries over time: `buckets` of `bucketMs` each, starting at `from` (epoch milliseconds). */
export type HistogramRequest = Pick<LogRequest, 'workspaceId' | 'filter'> & {
  from: number
  bucketMs: number
  buckets: number
}

export const bucketsMax = 500
const bucketMsMax = 31 * 86_400_000

/** Reads the parameters. Throws `INVALID_PARAMETERS` with one detail per invalid parameter. */
export function readHistogramRequest(url: string): HistogramRequest {
  const parameters = new Parameters(url)
  const request = {
    ...readEntries(parameters),
    from: parameters.time('from') ?? Number.NaN,
    bucketMs: parameters.whole('bucketMs', 1_000, bucketMsMax) ?? 3_600_000,
    buckets: parameters.whole('buckets', 1, bucketsMax) ?? 24,
  }
  if (Number.isNaN(request.from)) parameters.missing('from', 'must be given: the time at which the first bucket starts')
  parameters.assertValid()
  return request
}

/** Reads the filters. */
function readEntries(parameters: Parameters): Pick<LogRequest, 'workspaceId' | 'filter'> {
  const workspaceId = parameters.required('workspaceId', 'must be given; GET /api/workspaces lists yours')
  return {
    workspaceId,
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
  }
}

/** The scope of a cursor: everything except the page size and the members of its entries. */
export function scopeOf({ workspaceId, order, filter }: LogRequest): CursorScope {
  return { of: workspaceId, order, filters: JSON.stringify(filter) }
}
