import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import type { JobState } from '../../../domain/run/job.ts'
import type { RunStatus } from '../../../domain/run/log.ts'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { route } from '../../openapi/route.ts'
import { type CursorScope, readCursor, writeCursor } from '../../requests/cursor.ts'
import { everything } from '../../requests/log-query.ts'
import { Parameters } from '../../requests/parameters.ts'
import { type ListedRun, RunDetail, RunList, runStatuses } from '../../responses/run-schemas.ts'
import { openRun, runDetail, shownStatuses } from '../../responses/runs/run-detail.ts'
import { isoTime } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const pageMax = 1_000
const pageDefault = 100
type Status = ListedRun['status']

/** Runs of a workspace, ended or not: `/api/workspaces/<id>/runs`. */
export function runRoutes(services: Services, door: Door) {
  const { peers } = services
  return new Elysia()
    .get(
      '/api/workspaces/:id/runs',
      async ({ request, set, params: { id } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        return await pageOf(services, id, readQuery(request.url))
      },
      route({
        name: 'listRuns',
        summary: 'List runs',
        description:
          'First the runs that have not ended (queued, processing, paused), then the ended ones, each newest first. ' +
          '`/api/v1/logs` lists ended runs only, with more filters. With several processes, the list contains only ' +
          'those synchronous runs in flight that the responding process has.',
        tag: 'Executions',
        query: t.Object({
          status: t.Optional(oneOf(runStatuses, { description: 'Only the runs with this status.' })),
          workflowId: t.Optional(t.String({ description: 'Only the runs of this workflow.' })),
          limit: t.Optional(
            t.Integer({
              minimum: 1,
              maximum: pageMax,
              default: pageDefault,
              description: 'The most runs of a page.',
            }),
          ),
          cursor: t.Optional(
            t.String({ description: 'The `nextCursor` of the previous page, with the same filters.' }),
          ),
        }),
        responses: { 200: RunList },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/api/workspaces/:id/runs/:executionId',
      async ({ request, set, params: { id, executionId }, server }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        door.note(request, { executionId })
        const found = await runDetail(services, id, executionId)
        if (found) return found
        // A synchronous run in flight is known to its own process only, and may have ended since the others were asked.
        const elsewhere = await peers.forward({ request, server, set }, { kind: 'run', id: executionId })
        if (elsewhere) return elsewhere as never
        const ended = peers.exist ? await runDetail(services, id, executionId) : undefined
        if (!ended) throw new AppError('NOT_FOUND', 'There is no such run in this workspace.')
        return ended
      },
      route({
        name: 'getRun',
        summary: 'Get a run with its progress',
        description:
          'Until the run has ended, returns its open pauses and the blocks that have run so far, without their ' +
          'values. After that, returns the ID of its log entry.',
        tag: 'Executions',
        responses: { 200: RunDetail },
        errors: ['NOT_FOUND'],
      }),
    )
}

type Query = { status: Status | undefined; workflowId: string | undefined; limit: number; cursor: string | undefined }

async function pageOf(services: Services, workspaceId: string, query: Query): Promise<RunList> {
  const { status, workflowId, limit, cursor } = query
  const filters = JSON.stringify([status, workflowId])
  const open: CursorScope = { of: `${workspaceId} open`, order: 'desc', filters }
  const ended: CursorScope = { of: `${workspaceId} ended`, order: 'desc', filters }
  const openAfter = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, open)
  const endedAfter = cursor === undefined || openAfter ? undefined : readCursor(cursor, ended)
  if (!openAfter && !endedAfter) {
    throw new AppError('INVALID_CURSOR', 'This cursor does not belong to this query. Start without a cursor.')
  }
  const data: ListedRun[] = []
  if (openAfter) {
    const runs = await openRuns(services, workspaceId, query, openAfter[0] ?? 0)
    if (cursor === undefined) data.push(...inFlight(services, workspaceId, query))
    data.push(...runs.map(({ run }) => run))
    const last = runs.length >= limit ? runs.at(-1) : undefined
    if (last) return { data, nextCursor: writeCursor([last.number], open) }
  }
  const statusesOfEnded = endedStatuses(status)
  const room = limit - data.length
  if (statusesOfEnded?.length === 0 || room <= 0) {
    const goesOn = statusesOfEnded?.length !== 0
    return { data, nextCursor: goesOn ? writeCursor([Number.MAX_SAFE_INTEGER], ended) : null }
  }
  const page = await services.store.queryLogs({
    ...{ workspaceId, order: 'desc', limit: room, after: endedAfter },
    filter: {
      ...everything,
      workflowIds: workflowId === undefined ? undefined : [workflowId],
      statuses: statusesOfEnded,
    },
    show: { details: false, finalOutput: false, traceSpans: false, failure: false },
  })
  data.push(...(JSON.parse(`[${page.entries}]`) as LoggedRun[]).map(endedRun))
  return { data, nextCursor: page.end === 'last' || !page.position ? null : writeCursor(page.position, ended) }
}

async function openRuns(
  { store }: Services,
  workspaceId: string,
  { status, workflowId, limit }: Query,
  before: number,
) {
  const states = statesOf(status)
  const found = states.length === 0 ? [] : await store.listOpenRuns({ workspaceId, workflowId, states, before, limit })
  return found.map(({ number, ...run }) => ({ number, run: openRun(run) }))
}

/** Synchronous runs of this process. */
function inFlight({ runner }: Services, workspaceId: string, { status, workflowId }: Query): ListedRun[] {
  if (status !== undefined && status !== 'processing') return []
  const own = runner.runsOf(workspaceId).filter((run) => workflowId === undefined || run.workflowId === workflowId)
  return own.map(({ executionId, workflowId: ofWorkflow, workflowName, trigger, startedAt }) => {
    const times = { startedAt: isoTime(startedAt), endedAt: null }
    return { executionId, workflowId: ofWorkflow, workflowName, status: 'processing', trigger, ...times }
  })
}

function statesOf(status: Status | undefined): JobState[] {
  const states = { queued: ['queued'], processing: ['running', 'interrupted'], paused: ['paused'] } as const
  if (status === undefined) return [...states.queued, ...states.processing, ...states.paused]
  return status === 'queued' || status === 'processing' || status === 'paused' ? [...states[status]] : []
}

/** Undefined for all of them. */
function endedStatuses(status: Status | undefined): RunStatus[] | undefined {
  const names = { completed: 'success', failed: 'error', cancelled: 'cancelled' } as const
  if (status === undefined) return undefined
  return status === 'completed' || status === 'failed' || status === 'cancelled' ? [names[status]] : []
}

type LoggedRun = {
  executionId: string
  workflowId: string
  status: RunStatus
  trigger: string
  startedAt: string
  endedAt: string
  workflow?: { name: string }
}

function endedRun({ executionId, workflowId, status, trigger, startedAt, endedAt, workflow }: LoggedRun): ListedRun {
  const facts = { executionId, workflowId, workflowName: workflow?.name ?? null, trigger }
  return { ...facts, status: shownStatuses[status], startedAt, endedAt }
}

function readQuery(url: string): Query {
  const parameters = new Parameters(url)
  const query = {
    status: parameters.oneOf('status', runStatuses),
    workflowId: parameters.text('workflowId'),
    limit: parameters.whole('limit', 1, pageMax) ?? pageDefault,
    cursor: parameters.text('cursor'),
  }
  parameters.assertValid()
  return query
}
