import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { newExecutionId } from '../../../domain/ids.ts'
import type { RunFile } from '../../../domain/run/file.ts'
import type { TriggerInput } from '../../../domain/run/input.ts'
import type { LiveEvent } from '../../../domain/run/live-event.ts'
import { readTrace } from '../../../domain/run/trace.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { PlanTrigger } from '../../../engine/compile/plan.ts'
import { planPartial } from '../../../engine/manual/partial-plan.ts'
import { PreviousRun } from '../../../engine/manual/previous-run.ts'
import type { Watcher } from '../../../events/bus.ts'
import { pastMessages } from '../../../events/live-text.ts'
import type { LogDetailRow } from '../../../store/run-store.ts'
import type { WorkflowRow } from '../../../store/workflow-store.ts'
import { assertMay, findWorkflow } from '../../access/auth.ts'
import { allowSilence } from '../../access/connection.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { chooseTrigger, manualInput, NewManualRun, previousInput } from '../../requests/manual-run.ts'
import { boundedFindings } from '../../responses/findings.ts'
import { findingsError } from '../../responses/findings-error.ts'
import { endingOf } from '../../responses/log-entry.ts'
import { FindingResponse } from '../../responses/workflow-schemas.ts'
import type { Services } from '../../services.ts'
import { liveStream, pastStream } from '../../streams/live-stream.ts'

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
  return new Elysia()
    .post(
      '/workflows/:id/runs',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        door.note(request, { workflowId: id })
        const workflow = await findWorkflow(services, caller, id, 'execute')
        const { workspaceId } = workflow
        const body = await readShape(request, NewManualRun, settings.bodyWithFiles)
        const document = await documentOf(workflow, body.version)
        const through = [body.from?.blockId, body.until].filter((id) => id !== undefined)
        const reach = body.only ? { only: body.only.blockId } : { trigger: body.trigger, through }
        const { plan, findings } = manual.compile(document, workspaceId, reach)
        if (!plan) throw findingsError(findings, 'run')
        const previous = await findPreviousRun(body.from?.executionId ?? body.only?.executionId, workflow)
        const partial =
          body.from || body.until !== undefined || body.only
            ? planPartial(plan, { from: body.from, until: body.until, only: body.only }, previous?.run)
            : undefined
        const trigger = chooseTrigger(plan, body.trigger, previous?.run)
        if (!trigger && !body.only) throw withoutTrigger()
        const executionId = newExecutionId()
        const owner = { workspaceId, workflowId: id, executionId }
        const runsAgain = (body.from ?? body.only)?.blockId === trigger?.node.id
        const input = await inputOf({ trigger, given: body.input, previous, owner, runsAgain })
        try {
          const version = body.version ?? (await store.keepDraft(id, services.secrets.sealed(document, workspaceId)))
          const facts = { plan, workflowId: id, workspaceId, version, trigger: 'manual' as const, input, executionId }
          manual.start({ ...facts, ...(trigger && { entry: trigger.node }), ...(partial && { partial }) })
        } catch (error) {
          // The run has not started, so nothing else uses its files.
          if (input.files) await manual.removeFiles(owner).catch(() => undefined)
          throw error
        }
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
          'Runs the draft, or a part of it. It counts against no limit. Blocks that the run cannot reach may be invalid.',
        body: NewManualRun,
        responses: { 202: StartedRun },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'NOT_FOUND', 'CONFLICT'],
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

  async function documentOf({ id, document }: WorkflowRow, version: number | undefined): Promise<WorkflowDocument> {
    if (version === undefined) return document
    const found = await store.getDocument(id, version)
    if (found) return found
    throw new AppError('NOT_FOUND', `The workflow has no version ${version}.`)
  }

  type Previous = { run: PreviousRun; files: readonly RunFile[] }

  /** An earlier run of the workflow: unredacted while it is in memory, otherwise from the log. */
  async function findPreviousRun(
    executionId: string | undefined,
    { id, workspaceId }: WorkflowRow,
  ): Promise<Previous | undefined> {
    if (executionId === undefined) return undefined
    const secrets = await manual.secretsOf(workspaceId)
    const whole = manual.find(executionId)
    if (whole?.workflowId === id) {
      return { run: new PreviousRun(whole.root, { secrets, isWhole: true }), files: whole.files ?? [] }
    }
    const row = await store.getExecution(executionId)
    if (row?.workflowId !== id) throw new AppError('NOT_FOUND', `The workflow has no run ${executionId} in the log.`)
    const written = row.files === null ? [] : [row.files]
    const [trace, fileText] = await Promise.all([
      files.freshen(row.traceSpans, written),
      files.freshen(row.files ?? '[]', written),
    ])
    return {
      run: new PreviousRun(readTrace(trace), { secrets, isWhole: false }),
      files: JSON.parse(fileText) as RunFile[],
    }
  }

  type Wanted = {
    trigger: PlanTrigger | undefined
    given: unknown
    previous: Previous | undefined
    /** Whether the trigger itself runs again. */
    runsAgain: boolean
    owner: { workspaceId: string; workflowId: string; executionId: string }
  }

  async function inputOf({ trigger, given, previous, owner, runsAgain }: Wanted): Promise<TriggerInput> {
    if (!trigger) return { input: {}, fields: {} }
    if (previous?.run.span(trigger.node.id, []) && given === undefined) {
      return previousInput(trigger, previous.run, { files: previous.files, runsAgain })
    }
    if (trigger.fileFields.length === 0) return manualInput(trigger, given, clock.now())
    // The size was checked when it was read. Written again it may be longer, for example 1e20.
    const portions = portionsOf(JSON.stringify(given ?? {}))
    const { bytes, files: fileLimit } = settings.bodyWithFiles
    const limits = { text: { ...bytes, max: Number.POSITIVE_INFINITY }, files: fileLimit }
    const upload = await manual.receiveFiles(portions, trigger.fileFields, limits)
    try {
      const input = manualInput(trigger, JSON.parse(upload.text), clock.now())
      upload.check(input)
      return await upload.store(input, owner)
    } finally {
      await upload.discard()
    }
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

async function* portionsOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

function withoutTrigger(): AppError {
  const message = 'The workflow cannot run: it has no enabled trigger. Add one.'
  return new AppError('INVALID_INPUT', message, { details: [{ path: 'blocks', message }] })
}
