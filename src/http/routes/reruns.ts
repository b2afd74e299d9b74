import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { logIdOf, sequenceAt } from '../../domain/ids.ts'
import { oneOf } from '../../domain/one-of.ts'
import { recordOf } from '../../domain/record-of.ts'
import { type Rerun, type RerunEntry, rerunEntriesMax } from '../../engine/manual/reruns.ts'
import type { LogFilter, LogPosition } from '../../store/log-query.ts'
import { assertMay, mayStillExecute } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import type { PeerCall } from '../peers/peers.ts'
import { readShape } from '../requests/body.ts'
import { logsPageMax, readRerunFilter } from '../requests/log-query.ts'
import { isoTime, maybe, Time } from '../responses/schema-parts.ts'
import type { Services } from '../services.ts'
import { createManualStart } from './editor/manual-start.ts'

const NewRerun = t.Object({
  filter: recordOf(t.Unknown(), {
    description:
      'Filters of `GET /api/v1/logs` by their names, such as `{ "status": "error", "search": "timed out" }`. A list may ' +
      'be an array.',
  }),
  version: t.Optional(
    oneOf(['ran', 'live', 'draft'], {
      default: 'ran',
      description: 'The version to use: the one that ran (which may have been a draft), the active one, or the draft.',
    }),
  ),
  perSecond: t.Optional(
    t.Number({ exclusiveMinimum: 0, maximum: 100, default: 5, description: 'Runs that start in a second, at most.' }),
  ),
})

const RerunResponse = t.Object(
  {
    id: t.String(),
    workspaceId: t.String(),
    state: oneOf(['collecting', 'running', 'done', 'cancelled', 'failed']),
    version: oneOf(['ran', 'live', 'draft']),
    perSecond: t.Number(),
    total: maybe(t.Integer({ description: 'Entries to run again; null while they are collected.' })),
    started: t.Integer({ description: 'Runs that have started.' }),
    refused: t.Integer({ description: 'Entries that could not run again.' }),
    problems: t.Array(t.Object({ logId: t.String(), message: t.String() }), {
      description: 'The first refused entries, with the reasons.',
    }),
    error: maybe(t.String({ description: 'Why the job failed.' })),
    createdAt: Time,
    endedAt: maybe(Time),
    statusUrl: t.String({ description: 'Where to watch and to stop it.' }),
  },
  { $id: 'Rerun' },
)

/** Running recorded runs again: `/api/workspaces/<id>/logs/rerun`. */
export function rerunRoutes(services: Services, door: Door) {
  const { store, clock, reruns, settings, lookUpKey, peers } = services
  const startManualRun = createManualStart(services)
  return new Elysia({ prefix: '/api/workspaces/:id/logs/rerun' })
    .post(
      '',
      async ({ request, set, params: { id: workspaceId }, server }) => {
        const caller = await door.requireKeyOrSession(request, set)
        assertMay(caller, workspaceId, 'execute', 'workspace')
        const key = keyOf(request)
        const { filter: written, version = 'ran', perSecond = 5 } = await readShape(request, NewRerun, settings.body)
        const filter = readRerunFilter(workspaceId, written)
        const before = logIdOf(sequenceAt(clock.now() + 1))
        if (await peers.isElsewhere({ kind: 'rerun-of-workspace', id: workspaceId }, { request, server })) {
          throw new AppError('CONFLICT', 'Another re-run of this workspace is in progress. Stop it first.')
        }
        const job = reruns.start({
          ...{ workspaceId, version, perSecond },
          assertAllowed: () => assertStillAllowed(caller.userId, key, workspaceId),
          collect: (signal) => collect(workspaceId, filter, before, signal),
          run: (entry) => runAgain(entry, version),
        })
        set.status = 202
        return responseOf(job)
      },
      route({
        name: 'rerunLogs',
        summary: 'Run all entries of a filter again',
        description:
          'Starts a manual run with the input of each entry, oldest first, and returns a job. Side effects happen ' +
          `again. A job has at most ${rerunEntriesMax} entries, and a workspace one job at a time. Entries recorded ` +
          'after this request are left out. The new runs have the `source` `rerun`. A job ends as `failed` when the ' +
          'account that started it loses its access, or its key is revoked. A job does not survive a restart of ' +
          'the service: it then no longer exists, and starts nothing more.',
        tag: 'Logs',
        body: NewRerun,
        responses: { 202: RerunResponse },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'INVALID_PARAMETERS', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .get(
      '/:rerunId',
      async ({ request, set, params: { id, rerunId }, server }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        const elsewhere = await forward({ request, server, set }, rerunId)
        if (elsewhere) return elsewhere as never
        return responseOf(findRerun(id, rerunId))
      },
      route({
        name: 'getRerun',
        summary: 'Watch a re-run',
        tag: 'Logs',
        responses: { 200: RerunResponse },
        errors: ['NOT_FOUND'],
      }),
    )
    .delete(
      '/:rerunId',
      async ({ request, set, params: { id, rerunId }, server }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'execute', 'workspace')
        const elsewhere = await forward({ request, server, set }, rerunId)
        if (elsewhere) return elsewhere as never
        const job = findRerun(id, rerunId)
        reruns.cancel(rerunId)
        return responseOf(job)
      },
      route({
        name: 'cancelRerun',
        summary: 'Stop a re-run',
        description: 'Starts no more runs. Runs that have started go on. A job that has ended stays as it is.',
        tag: 'Logs',
        responses: { 200: RerunResponse },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )

  /** A revoked key starts nothing more. A session may end: the account stays responsible. */
  async function assertStillAllowed(userId: string, key: string | undefined, workspaceId: string): Promise<void> {
    const found = key === undefined ? undefined : await lookUpKey(key)
    const isRevoked = key !== undefined && typeof found !== 'object'
    if (!isRevoked && (await mayStillExecute(services, userId, workspaceId))) return
    const lost = isRevoked
      ? 'The key that started this re-run was revoked, or has expired'
      : 'The account that started this re-run may no longer run workflows of this workspace'
    throw new AppError('FORBIDDEN', `${lost}, so nothing more was started.`)
  }

  /** Each re-run is in the memory of one process. */
  async function forward(call: PeerCall, id: string): Promise<Response | undefined> {
    return reruns.find(id) ? undefined : await peers.forward(call, { kind: 'rerun', id })
  }

  function findRerun(workspaceId: string, rerunId: string): Rerun {
    const job = reruns.find(rerunId)
    if (job?.workspaceId === workspaceId) return job
    throw new AppError('NOT_FOUND', 'There is no such re-run. A re-run does not survive a restart of the service.')
  }

  /**
   * Oldest first. The log is read newest first, because in the other order an entry may appear later: readers that
   * follow the log must miss nothing (store/postgres/logs/log-search.ts).
   */
  async function collect(
    workspaceId: string,
    filter: LogFilter,
    before: string,
    signal: AbortSignal,
  ): Promise<RerunEntry[]> {
    const entries: RerunEntry[] = []
    const show = { details: false, finalOutput: false, traceSpans: false, failure: false }
    for (let after: LogPosition | undefined; !signal.aborted; ) {
      const page = await store.queryLogs({ workspaceId, filter, order: 'desc', limit: logsPageMax, after, show })
      const found = JSON.parse(`[${page.entries}]`) as (RerunEntry & { id: string })[]
      const wanted = found.filter(({ id }) => id < before)
      entries.push(...wanted.map(({ id, executionId, workflowId }) => ({ logId: id, executionId, workflowId })))
      if (entries.length > rerunEntriesMax) {
        throw new AppError('INVALID_INPUT', `The filter has more than ${rerunEntriesMax} entries. Narrow it.`)
      }
      if (page.end === 'last' || page.position === null) break
      after = page.position
    }
    return entries.reverse()
  }

  async function runAgain({ executionId, workflowId }: RerunEntry, version: Rerun['version']): Promise<string> {
    const workflow = await store.getWorkflow(workflowId)
    if (!workflow) throw new AppError('NOT_FOUND', 'The workflow was deleted.')
    return (await startManualRun(workflow, { again: { executionId }, version })).executionId
  }
}

function keyOf({ headers }: Request): string | undefined {
  return headers.get('x-api-key') || undefined
}

function responseOf({ createdAt, endedAt, ...job }: Rerun) {
  const times = { createdAt: isoTime(createdAt), endedAt: endedAt === null ? null : isoTime(endedAt) }
  return { ...job, ...times, statusUrl: `/api/workspaces/${job.workspaceId}/logs/rerun/${job.id}` }
}
