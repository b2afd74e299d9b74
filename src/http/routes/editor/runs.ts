import { Type as t } from '@sinclair/typebox'
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
import { readShape } from '../../requests/body.ts'
import { NewManualRun } from '../../requests/manual-run.ts'
import { boundedFindings } from '../../responses/findings.ts'
import { endingOf } from '../../responses/log-entry.ts'
import { FindingResponse } from '../../responses/workflow-schemas.ts'
import type { Services } from '../../services.ts'
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

/** Manual runs, and watching runs of every kind. */
export function runRoutes(services: Services, door: Door) {
  const { store, clock, manual, files, settings } = services
  const startManualRun = createManualStart(services)
  return new Elysia()
    .post(
      '/workflows/:id/runs',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        door.note(request, { workflowId: id })
        const workflow = await findWorkflow(services, caller, id, 'execute')
        const body = await readShape(request, NewManualRun, settings.bodyWithFiles)
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
        const run = manual.inFlight(executionId) ?? (await services.jobs.find(executionId))
        if (run) {
          const { workspaceId } = run
          assertMay(caller, workspaceId, 'read', 'run')
          allowSilence(request, server)
          const { signal } = request
          const expected = { executionId, workspaceId }
          const watch = (watcher: Watcher) => manual.watch(executionId, watcher, expected)
          const mayWatch = () => door.mayStillRead(request, workspaceId)
          const live = liveStream({ clock, signal, headers, watch, mayWatch })
          if (live) {
            await settle(executionId)
            return live
          }
        }
        const row = await store.getExecution(executionId)
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
