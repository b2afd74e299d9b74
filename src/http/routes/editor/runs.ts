import { type Static, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import type { LiveEvent } from '../../../domain/run/live-event.ts'
import { readTrace } from '../../../domain/run/trace.ts'
import type { Watcher } from '../../../events/bus.ts'
import { pastMessages } from '../../../events/live-text.ts'
import type { LogDetailRow } from '../../../store/run-store.ts'
import { assertMay, findWorkflow } from '../../access/auth.ts'
import { allowSilence } from '../../access/connection.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import type { PeerCall } from '../../peers/peers.ts'
import { readShape } from '../../requests/body.ts'
import { NewManualRun } from '../../requests/manual-run.ts'
import { boundedFindings } from '../../responses/findings.ts'
import { endingOf } from '../../responses/log-entry.ts'
import { FindingResponse } from '../../responses/workflow-schemas.ts'
import type { JobInFlight, Services } from '../../services.ts'
import { laterStream } from '../../streams/later-stream.ts'
import { liveStream, pastStream } from '../../streams/live-stream.ts'
import { createManualStart } from './manual-start.ts'

/** The messages of `GET /api/editor/runs/<executionId>/events`, as `data:` lines. The last line is `[DONE]`. */
export type RunEvent = LiveEvent

const StartedRun = t.Object({
  success: t.Literal(true),
  executionId: t.String(),
  trigger: t.Literal('manual'),
  eventsUrl: t.String({ description: 'Where to watch it.' }),
  warnings: t.Array(FindingResponse),
})

type WatchCall = PeerCall & { headers: Record<string, string> }

/** Manual runs, and watching runs of every kind. */
export function runRoutes(services: Services, door: Door) {
  const { store, clock, manual, files, settings, peers } = services
  const startManualRun = createManualStart(services)
  return new Elysia()
    .post(
      '/workflows/:id/runs',
      async ({ request, set, params: { id }, server }) => {
        const caller = await door.requireSession(request, set)
        door.note(request, { workflowId: id })
        const workflow = await findWorkflow(services, caller, id, 'execute')
        const body = await readShape(request, NewManualRun, settings.bodyWithFiles)
        const elsewhere = await startElsewhere({ request, server, set }, body)
        if (elsewhere) return elsewhere as never
        const taken = body.listened === undefined ? undefined : takenBy(caller.userId, id, body.listened)
        const wanted = taken ? { ...body, trigger: taken.trigger } : body
        const { executionId, findings } = await startManualRun(workflow, wanted, { taken: taken?.request })
        door.note(request, { executionId })
        set.status = 202
        const eventsUrl = `/api/editor/runs/${executionId}/events`
        return {
          success: true,
          executionId,
          trigger: 'manual',
          eventsUrl,
          warnings: boundedFindings(findings),
        } as const
      },
      editorRoute({
        name: 'startManualRun',
        summary: 'Start a manual run',
        description:
          'Runs the draft or another version, or a part of it. It counts against no limit. Blocks that the run cannot reach may be invalid.',
        body: NewManualRun,
        responses: { 202: StartedRun },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'NOT_FOUND', 'CONFLICT', 'WORKFLOW_NOT_DEPLOYED'],
      }),
    )
    .get(
      '/runs/:executionId/events',
      async ({ request, set, params: { executionId }, server }) => {
        const caller = await door.requireSession(request, set)
        door.note(request, { executionId })
        const headers = { 'x-request-id': String(set.headers['x-request-id']), 'x-execution-id': executionId }
        const call = { request, server, set, headers }
        const job = manual.inFlight(executionId) ? undefined : await services.jobs.find(executionId)
        const run = manual.inFlight(executionId) ?? job
        if (run) {
          assertMay(caller, run.workspaceId, 'read', 'run')
          allowSilence(request, server)
          // Any process may start or have it.
          if (job && peers.exist && !peers.isFromPeer(request)) return followJob(call, job)
          const live = await watchHere(call, run, executionId)
          if (live) return live
        }
        const ended = await store.getExecution(executionId)
        const elsewhere = ended ? undefined : await peers.forward(call, { kind: 'run', id: executionId })
        if (elsewhere) return elsewhere
        const row = ended ?? (await store.getExecution(executionId))
        assertMay(caller, row?.workspaceId, 'read', 'run')
        return pastStream(await messagesOf(row as LogDetailRow), clock, headers)
      },
      editorRoute({
        name: 'watchRun',
        summary: 'Watch a run',
        description:
          'Sends past events first, then live ones. An ended run is sent at once; a queued run is sent when it starts.',
        responses: { 200: t.Any({ description: 'A stream of server-sent events.' }) },
        errors: ['NOT_FOUND', 'OVERLOADED'],
      }),
    )

  /** Undefined when the run is not in flight here. */
  async function watchHere(
    { request, headers }: WatchCall,
    { workspaceId }: { workspaceId: string },
    executionId: string,
  ): Promise<Response | undefined> {
    const { signal } = request
    const expected = { executionId, workspaceId }
    const watch = (watcher: Watcher) => manual.watch(executionId, watcher, expected)
    const mayWatch = () => door.mayStillRead(request, workspaceId)
    const live = liveStream({ clock, signal, headers, watch, mayWatch })
    if (live) await settle(executionId)
    return live
  }

  /** A job that is not in flight here: another process has it, or any of them will start it. */
  function followJob(call: WatchCall, { executionId, workspaceId }: JobInFlight): Response {
    const { request, headers } = call
    const next = async () => {
      if (!(await door.mayStillRead(request, workspaceId))) return new Response('')
      const run = manual.inFlight(executionId)
      if (run) return await watchHere(call, run, executionId)
      const job = await services.jobs.find(executionId)
      if (job) return job.isElsewhere ? await peers.forward(call, { kind: 'run', id: executionId }) : undefined
      const row = await store.getExecution(executionId)
      return row && pastStream(await messagesOf(row), clock, headers)
    }
    return laterStream({ clock, signal: request.signal, headers, next })
  }

  /** A manual run starts where the test request is that it takes, and where the whole values of an earlier run are. */
  async function startElsewhere(call: PeerCall, body: Static<typeof NewManualRun>): Promise<Response | undefined> {
    const { listened } = body
    if (listened !== undefined && !services.listeners.find(listened)) {
      return await peers.forward(call, { kind: 'listener', id: listened }, { body })
    }
    const earlier = (body.again ?? body.from ?? body.only)?.executionId
    if (earlier === undefined || manual.find(earlier)) return undefined
    // Otherwise it starts here, with what the log has of it.
    return await peers.forward(call, { kind: 'recent-run', id: earlier }, { body, isVital: false })
  }

  function takenBy(userId: string, workflowId: string, token: string) {
    const listener = services.listeners.find(token)
    const isOwn = listener?.userId === userId && listener.workflowId === workflowId
    if (isOwn && listener.request) return { trigger: listener.trigger, request: listener.request }
    throw new AppError('NOT_FOUND', 'This test request is no longer kept. Listen for another one.')
  }

  /** Serves a watcher that waits for the start of a run which has ended meanwhile. */
  async function settle(executionId: string): Promise<void> {
    if (!manual.isAwaited(executionId)) return
    const row = await store.getExecution(executionId)
    if (row) manual.settle(executionId, await messagesOf(row))
  }

  async function messagesOf(row: LogDetailRow): Promise<string[]> {
    const { executionId, workflowId, workspaceId, trigger, startedAt } = row
    const trace = await files.freshen(row.traceSpans, row.files === null ? [] : [row.files])
    const root = readTrace(trace)
    return pastMessages(
      { executionId, workflowId, workspaceId, trigger, startedAt, root, secrets: undefined },
      endingOf(row),
    )
  }
}
