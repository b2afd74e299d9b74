import { problemsError } from '../../domain/errors.ts'
import { labelsMax } from '../../domain/run/labels.ts'
import { runStatuses } from '../../domain/run/log.ts'
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

export const searchCharsMax = 200
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

/**
 * The filter of a request to run entries again: the members have the names of the parameters. Unlike an unknown
 * parameter, an unknown member is refused, because it would admit more runs than its author meant.
 */
export function readRerunFilter(workspaceId: string, filter: Readonly<Record<string, unknown>>): LogFilter {
  const query = new URLSearchParams({ workspaceId })
  for (const [name, value] of Object.entries(filter)) {
    if (!filterNames.has(name)) {
      const known = [...filterNames].join(', ')
      throw problemsError('INVALID_INPUT', [
        { path: `filter.${name}`, message: `${name} is not a filter. Use ${known}.` },
      ])
    }
    const texts = Array.isArray(value) ? value.map(String) : [String(value)]
    for (const text of name === 'labels' ? texts : [texts.join(',')]) query.append(name, text)
  }
  const parameters = new Parameters(`?${query}`)
  const entries = readEntries(parameters)
  parameters.assertValid()
  return entries.filter
}

const filterNames: ReadonlySet<string> = new Set([
  ...['workflowIds', 'folderIds', 'triggers', 'level', 'status', 'startDate', 'endDate', 'executionId'],
  ...['minDurationMs', 'maxDurationMs', 'minCost', 'maxCost', 'model', 'search', 'labels'],
])

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
      statuses: parameters.listOf('status', runStatuses),
      startDate: parameters.time('startDate'),
      endDate: parameters.time('endDate'),
      executionId: parameters.text('executionId'),
      minDurationMs: parameters.number('minDurationMs'),
      maxDurationMs: parameters.number('maxDurationMs'),
      minCost: parameters.number('minCost'),
      maxCost: parameters.number('maxCost'),
      model: parameters.text('model'),
      search: parameters.shortText('search', searchCharsMax),
      labels: parameters.pairs('labels', labelsMax),
    },
  }
}

/** The scope of a cursor: everything except the page size and the members of its entries. */
export function scopeOf({ workspaceId, order, filter }: LogRequest): CursorScope {
  return { of: workspaceId, order, filters: JSON.stringify(filter) }
}

/** The filter that admits all entries. */
export const everything: LogFilter = {
  ...{ workflowIds: undefined, folderIds: undefined, triggers: undefined, level: undefined, statuses: undefined },
  ...{ startDate: undefined, endDate: undefined, executionId: undefined, minDurationMs: undefined },
  ...{ maxDurationMs: undefined, minCost: undefined, maxCost: undefined, model: undefined },
  ...{ search: undefined, labels: undefined },
}
