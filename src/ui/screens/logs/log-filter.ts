/** The filters of the log, as stored in the URL: `?status=error&range=7d&workflowIds=a,b&labels=customer:Acme`. */
export type LogFilter = {
  status: Status | undefined
  search: string | undefined
  /** Each is a name, a colon and a text. */
  labels: readonly string[]
  triggers: readonly Trigger[]
  workflowIds: readonly string[]
  folderIds: readonly string[]
  /** A relative range, or a start and end time. */
  range: RangeName | { from: string | undefined; to: string | undefined }
  executionId: string | undefined
  minDurationMs: number | undefined
  maxDurationMs: number | undefined
  minCost: number | undefined
  maxCost: number | undefined
  model: string | undefined
}

export const statuses = ['success', 'error', 'cancelled'] as const
export type Status = (typeof statuses)[number]

export const triggers = ['api', 'webhook', 'schedule', 'chat', 'manual'] as const
export type Trigger = (typeof triggers)[number]

/** In milliseconds. */
export const ranges = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000, all: 0 }
export type RangeName = keyof typeof ranges
export const rangeDefault: RangeName = '24h'

/** Reads filters from a URL. Invalid values are ignored. */
export function readFilter(search: URLSearchParams): LogFilter {
  const text = (name: string) => search.get(name)?.trim() || undefined
  const list = (name: string) => (text(name) ?? '').split(',').filter((item) => item !== '')
  const number = (name: string) => {
    const value = Number(text(name) ?? Number.NaN)
    return Number.isFinite(value) && value >= 0 ? value : undefined
  }
  const time = (name: string) => {
    const value = text(name)
    return value === undefined || Number.isNaN(Date.parse(value)) ? undefined : new Date(value).toISOString()
  }
  const status = text('status') ?? (text('level') === 'error' ? 'error' : undefined)
  const range = text('range')
  const [from, to] = [time('startDate'), time('endDate')]
  return {
    status: statuses.find((each) => each === status),
    search: text('search')?.slice(0, searchCharsMax),
    labels: search.getAll('labels').filter((label) => /^[^:]+:/.test(label)),
    triggers: triggers.filter((trigger) => list('triggers').includes(trigger)),
    workflowIds: list('workflowIds'),
    folderIds: list('folderIds'),
    range: from || to ? { from, to } : isRange(range) ? range : rangeDefault,
    executionId: text('executionId'),
    ...{ minDurationMs: number('minDurationMs'), maxDurationMs: number('maxDurationMs') },
    ...{ minCost: number('minCost'), maxCost: number('maxCost') },
    model: text('model'),
  }
}

/** As the service allows. */
export const searchCharsMax = 200

function isRange(text: string | undefined): text is RangeName {
  return text !== undefined && Object.hasOwn(ranges, text)
}

/** Writes filters into a URL and keeps its other parameters. Default values are omitted. */
export function writeFilter(filter: LogFilter, search: URLSearchParams): URLSearchParams {
  const { range, labels, ...rest } = filter
  const next = new URLSearchParams(search)
  const put = (name: string, value: string | number | undefined) => {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, String(value))
  }
  for (const [name, value] of Object.entries(rest)) put(name, typeof value === 'object' ? value.join(',') : value)
  next.delete('labels')
  for (const label of labels) next.append('labels', label)
  // Addresses of earlier versions have it.
  next.delete('level')
  const isNamed = typeof range === 'string'
  put('range', isNamed && range !== rangeDefault ? range : undefined)
  put('startDate', isNamed ? undefined : range.from)
  put('endDate', isNamed ? undefined : range.to)
  return next
}

export type Parameters = Readonly<Record<string, string | number | readonly string[] | undefined>>

/** The start and end of the range; undefined means open. `now` is in epoch milliseconds. */
export function timesOf({ range }: Pick<LogFilter, 'range'>, now: number): { from?: number; to?: number } {
  if (typeof range === 'string') return range === 'all' ? {} : { from: now - ranges[range] }
  return {
    ...(range.from ? { from: Date.parse(range.from) } : {}),
    ...(range.to ? { to: Date.parse(range.to) } : {}),
  }
}

/** The query parameters for the service. */
export function parametersOf(filter: LogFilter, now: number): Parameters {
  const { range: _, triggers, workflowIds, folderIds, ...rest } = filter
  const { from, to } = timesOf(filter, now)
  return {
    ...rest,
    triggers: triggers.join(','),
    workflowIds: workflowIds.join(','),
    folderIds: folderIds.join(','),
    ...(from === undefined ? {} : { startDate: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { endDate: new Date(to).toISOString() }),
  }
}

/** Whether any filter except the time range is set. */
export function isFiltered({ range: _, ...rest }: LogFilter): boolean {
  return Object.values(rest).some((value) => (Array.isArray(value) ? value.length > 0 : value !== undefined))
}

export const noFilter: LogFilter = readFilter(new URLSearchParams())
