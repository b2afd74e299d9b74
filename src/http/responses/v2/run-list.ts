import { AppError } from '../../../domain/errors.ts'
import type { JobState } from '../../../domain/run/job.ts'
import type { RunStatus } from '../../../domain/run/log.ts'
import { statusesV2 } from '../../../domain/run/v2/log-entry-v2.ts'
import { type TriggerKind, triggerKinds, triggerOf } from '../../../domain/workflow/workflow.ts'
import { type CursorScope, type Position, readCursor, writeCursor } from '../../requests/cursor.ts'
import { everything } from '../../requests/log-query.ts'
import type { Services } from '../../services.ts'
import { isoTime } from '../schema-parts.ts'
import type { ListedRunV2, RunListV2 } from './run-schemas.ts'
import { openStatusV2 } from './statuses.ts'

/** `trigger`: any text; an unknown one selects nothing. */
export type RunQueryV2 = {
  status: ListedRunV2['status'] | undefined
  trigger: string | undefined
  startDate: number | undefined
  endDate: number | undefined
  limit: number
  cursor: string | undefined
  order: 'asc' | 'desc'
}

type ListServices = Pick<Services, 'runner'> & { store: Pick<Services['store'], 'listOpenRuns' | 'queryLogs'> }
type Place = { workspaceId: string; workflowId: string }

/** A page of a workflow's runs. Newest first: those that have not ended, then the others. Oldest first: only those. */
export async function listRunsV2(services: ListServices, place: Place, query: RunQueryV2): Promise<RunListV2> {
  const { cursor, limit, order } = query
  const { status, trigger, startDate, endDate } = query
  const filters = JSON.stringify([status, trigger, startDate, endDate])
  const scope = (part: string): CursorScope => ({ of: `v2 ${place.workflowId} ${part}`, order, filters })
  const isFirst = cursor === undefined
  const flightAfter = isFirst ? [Number.MAX_SAFE_INTEGER, 0] : readCursor(cursor, scope('flight'))
  const openAfter = flightAfter ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor ?? '', scope('open'))
  const endedAfter = flightAfter || openAfter ? undefined : readCursor(cursor ?? '', scope('ended'))
  if (!openAfter && !endedAfter) {
    throw new AppError('INVALID_CURSOR', 'This cursor does not belong to this query. Start without a cursor.')
  }
  if (trigger !== undefined && !isTrigger(trigger)) return { data: [], nextCursor: null }
  const data: ListedRunV2[] = []
  if (flightAfter && order === 'desc') {
    const { runs, next } = inFlight(services, place, query, flightAfter)
    data.push(...runs)
    if (next) return { data, nextCursor: writeCursor(next, scope('flight')) }
  }
  if (openAfter && order === 'desc') {
    const most = limit - data.length
    const runs = await openRuns(services, place, { ...query, limit: most }, openAfter[0] ?? 0)
    data.push(...runs.map(({ run }) => run).filter((run) => admits(query, run)))
    const last = runs.length >= most ? runs.at(-1) : undefined
    if (last) return { data, nextCursor: writeCursor([last.number], scope('open')) }
  }
  const statuses = endedStatuses(status)
  if (statuses?.length === 0) return { data, nextCursor: null }
  const page = await services.store.queryLogs({
    ...{ workspaceId: place.workspaceId, order, limit: limit - data.length, after: endedAfter },
    filter: {
      ...everything,
      ...{ workflowIds: [place.workflowId], statuses, startDate, endDate },
      triggers: trigger === undefined ? undefined : [trigger as TriggerKind],
    },
    show: { details: false, finalOutput: false, traceSpans: false, failure: false },
  })
  data.push(...(JSON.parse(`[${page.entries}]`) as LoggedRun[]).map(endedRun))
  const isOver = page.end === 'last' || page.position === null
  return { data, nextCursor: isOver ? null : writeCursor(page.position!, scope('ended')) }
}

const isTrigger = (text: string): text is TriggerKind => (triggerKinds as readonly string[]).includes(text)

async function openRuns({ store }: ListServices, place: Place, { status, limit }: RunQueryV2, before: number) {
  const states = statesOf(status)
  if (states.length === 0) return []
  const found = await store.listOpenRuns({ ...place, states, before, limit })
  return found.map(({ number, executionId, workflowId, state, trigger, createdAt, startedAt }) => {
    const facts = { runId: executionId, workflowId, status: openStatusV2(state), trigger: triggerOf(trigger) }
    return { number, run: unended({ ...facts, startedAt: isoTime(startedAt ?? createdAt) }) }
  })
}

/**
 * Synchronous runs of this process, newest first. A place in them is a start time, and the number of runs with this
 * time that were listed before.
 */
function inFlight(
  { runner }: ListServices,
  { workspaceId, workflowId }: Place,
  query: RunQueryV2,
  [time = 0, listed = 0]: Position,
): { runs: ListedRunV2[]; next: Position | undefined } {
  const own = runner.runsOf(workspaceId).filter((run) => run.workflowId === workflowId && run.startedAt <= time)
  const all = own
    .toSorted((a, b) => b.startedAt - a.startedAt)
    .map(({ executionId, trigger, startedAt }) => {
      const facts = { runId: executionId, workflowId, status: 'running' as const, trigger }
      return { at: startedAt, run: unended({ ...facts, startedAt: isoTime(startedAt) }) }
    })
    .filter(({ run }) => admits(query, run))
  const before = all.filter(({ at }) => at === time).slice(0, listed).length
  const page = all.slice(before, before + query.limit)
  const last = page.length === query.limit ? page.at(-1)?.at : undefined
  const same = page.filter(({ at }) => at === last).length + (last === time ? before : 0)
  return { runs: page.map(({ run }) => run), next: last === undefined ? undefined : [last, same] }
}

function unended(facts: Omit<ListedRunV2, 'endedAt' | 'durationMs' | 'cost'>): ListedRunV2 {
  return { ...facts, endedAt: null, durationMs: null, cost: null }
}

/** For runs that have not ended; the store filters the others. */
function admits({ status, trigger, startDate, endDate }: RunQueryV2, run: ListedRunV2): boolean {
  const at = Date.parse(run.startedAt)
  if (status !== undefined && run.status !== status) return false
  if (trigger !== undefined && run.trigger !== trigger) return false
  return at >= (startDate ?? Number.NEGATIVE_INFINITY) && at <= (endDate ?? Number.POSITIVE_INFINITY)
}

function statesOf(status: RunQueryV2['status']): JobState[] {
  const states = { pending: ['queued'], running: ['running', 'interrupted'], paused: ['paused'] } as const
  if (status === undefined) return [...states.pending, ...states.running, ...states.paused]
  return status === 'pending' || status === 'running' || status === 'paused' ? [...states[status]] : []
}

/** Undefined for all of them. */
function endedStatuses(status: RunQueryV2['status']): RunStatus[] | undefined {
  if (status === undefined) return undefined
  return (Object.keys(statusesV2) as RunStatus[]).filter((each) => statusesV2[each] === status)
}

type LoggedRun = {
  executionId: string
  workflowId: string
  status: RunStatus
  trigger: string
  startedAt: string
  endedAt: string
  totalDurationMs: number
  cost: { total: number }
}

function endedRun(entry: LoggedRun): ListedRunV2 {
  const { executionId, workflowId, status, trigger, startedAt, endedAt, totalDurationMs, cost } = entry
  const facts = { runId: executionId, workflowId, status: statusesV2[status], trigger }
  return { ...facts, startedAt, endedAt, durationMs: totalDurationMs, cost: { total: cost.total } }
}
