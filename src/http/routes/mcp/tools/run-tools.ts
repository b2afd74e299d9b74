import { Type as t } from '@sinclair/typebox'
import { sleep } from '../../../../domain/clock.ts'
import { AppError, problemsError } from '../../../../domain/errors.ts'
import { newExecutionId } from '../../../../domain/ids.ts'
import { oneOf } from '../../../../domain/one-of.ts'
import { startKinds, type WorkflowDocument } from '../../../../domain/workflow/workflow.ts'
import type { Outputs } from '../../../../engine/block.ts'
import { mayBePinned } from '../../../../engine/manual/pinned-outputs.ts'
import { findWorkflow } from '../../../access/auth.ts'
import { readCursor, writeCursor } from '../../../requests/cursor.ts'
import { everything, searchCharsMax } from '../../../requests/log-query.ts'
import type { LogList } from '../../../responses/log-schemas.ts'
import { runStatuses } from '../../../responses/run-schemas.ts'
import { runDetail } from '../../../responses/runs/run-detail.ts'
import type { Services } from '../../../services.ts'
import { idsOf } from './document-edits.ts'
import { endedRun } from './run-trace.ts'
import { type BuildingTool, defineTool } from './tool.ts'
import { workflowId } from './workflow-tools.ts'

const closed = { additionalProperties: false }
const pinsMax = 200
const cursor = t.Optional(t.String({ minLength: 1, maxLength: 1_000, description: '"nextCursor" of the page before.' }))
const executionId = t.String({ minLength: 1, maxLength: 100 })

const runDraft = defineTool({
  name: 'run_draft',
  title: 'Run a draft',
  description:
    'Runs the draft of a workflow, not the deployed version, and returns its output and what each block did. ' +
    'Fields that "input" leaves out take their "value" from the input format. Blocks have real effects, such as ' +
    'sending requests. Pin the output of a block with "pins" to use that instead of running it; outputs that people ' +
    'pinned in the editor are used, too. A run that takes longer than 50 s goes on: get_run shows it.',
  needs: 'execute',
  input: t.Object(
    {
      workflowId,
      input: t.Optional(t.Record(t.String(), t.Unknown(), { description: 'The input of the trigger.' })),
      trigger: t.Optional(oneOf(startKinds, { description: 'The trigger to start at, if there are several.' })),
      pins: t.Optional(
        t.Record(t.String({ minLength: 1, maxLength: 200 }), t.Record(t.String(), t.Unknown()), {
          description:
            'Outputs for this run by block ID, such as {"fetch":{"data":{"id":1},"status":200}}. describe_block names ' +
            'the outputs; those that are left out are null.',
          maxProperties: pinsMax,
        }),
      ),
      until: t.Optional(t.String({ minLength: 1, maxLength: 200, description: 'The ID of the last block to run.' })),
    },
    closed,
  ),
  async run(
    { services, caller, workspaceId, startRun, inTurn, signal },
    { workflowId: id, input, trigger, until, pins },
  ) {
    const given = {
      ...(input !== undefined && { input }),
      ...(trigger !== undefined && { trigger }),
      ...(until !== undefined && { until }),
    }
    const run = newExecutionId()
    const { ending } = await inTurn(async () => {
      const row = await findWorkflow(services, caller, id, 'execute')
      const pinned = pins && pinsIn(pins, row.document)
      return await startRun(row, given, { executionId: run, pins: pinned })
    })
    const cancel = () => services.runner.cancel(run, 'CANCELLED')
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    const ended = new AbortController()
    try {
      await Promise.race([ending, sleep(services.clock, waitMs, ended.signal).catch(() => undefined)])
    } finally {
      ended.abort()
      signal.removeEventListener('abort', cancel)
    }
    return await shownRun(services, workspaceId, run)
  },
})

/** Throws INVALID_INPUT for a block that cannot be pinned. */
function pinsIn(pins: Readonly<Record<string, Outputs>>, { blocks }: WorkflowDocument): ReadonlyMap<string, Outputs> {
  const problems = Object.keys(pins).flatMap((blockId) => {
    const block = Object.hasOwn(blocks, blockId) ? blocks[blockId] : undefined
    const message = !block
      ? `There is no block with the ID "${blockId}". The IDs are ${idsOf({ blocks })}.`
      : 'A response block cannot be pinned: it ends the run with the outputs of others.'
    return block && mayBePinned(block.type) ? [] : [{ path: `pins.${blockId}`, message }]
  })
  if (problems.length > 0) throw problemsError('INVALID_INPUT', problems)
  return new Map(Object.entries(pins))
}

/** How long `run_draft` waits. Clients give up after 60 s unless they are told otherwise. */
const waitMs = 50_000

const listRuns = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description: 'Lists the runs of the workspace, newest first. list_failed lists failed runs with their errors.',
  needs: 'read',
  input: t.Object(
    {
      workflowId: t.Optional(workflowId),
      status: t.Optional(oneOf(runStatuses)),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })),
      cursor,
    },
    closed,
  ),
  async run({ api, workspaceId }, { limit = 20, ...filters }) {
    const query = new URLSearchParams({ ...filters, limit: String(limit) })
    const { data, nextCursor } = await api('GET', `/api/workspaces/${encodeURIComponent(workspaceId)}/runs?${query}`)
    return { runs: data, nextCursor }
  },
})

const listFailed = defineTool({
  name: 'list_failed',
  title: 'List what failed',
  description:
    'Lists the failed runs of the workspace with the error and the block of each, newest first. get_run shows what ' +
    'each block of one of them got and returned.',
  needs: 'read',
  input: t.Object(
    {
      workflowId: t.Optional(workflowId),
      search: t.Optional(
        t.String({ minLength: 1, maxLength: searchCharsMax, description: 'A part of the error or of the name.' }),
      ),
      since: t.Optional(t.String({ maxLength: 40, description: 'A time, such as "2027-01-31T08:00:00Z".' })),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })),
      cursor,
    },
    closed,
  ),
  async run({ services: { store, unsent }, workspaceId }, given) {
    const { workflowId: only, search, since, limit = 20, cursor: from } = given
    const startDate = since === undefined ? undefined : Date.parse(since)
    if (Number.isNaN(startDate)) throw invalid('since', 'It must be a time, such as "2027-01-31T08:00:00Z".')
    const filters = JSON.stringify([only, search, startDate])
    const scope = { of: `${workspaceId} failed`, order: 'desc', filters } as const
    const after = from === undefined ? undefined : readCursor(from, scope)
    if (from !== undefined && !after) throw invalid('cursor', 'It belongs to another query. Start without a cursor.')
    const workflowIds = only === undefined ? undefined : [only]
    return await unsent.inTurn(async () => {
      const { entries, end, position } = await store.queryLogs({
        ...{ workspaceId, order: 'desc', limit, after },
        filter: { ...everything, statuses: ['error'], workflowIds, search, startDate },
        show: { details: true, finalOutput: false, traceSpans: false, failure: true },
      })
      const nextCursor = end === 'last' || position === null ? null : writeCursor(position, scope)
      return { failed: (JSON.parse(`[${entries}]`) as LogEntry[]).map(failedFacts), nextCursor }
    })
  },
})

type LogEntry = LogList['data'][number]

function failedFacts({ executionId, workflowId: id, workflow, version, trigger, startedAt, error }: LogEntry): object {
  return { executionId, workflowId: id, workflowName: workflow?.name, version, trigger, startedAt, error }
}

const invalid = (path: string, message: string) => problemsError('INVALID_INPUT', [{ path, message }])

const getRun = defineTool({
  name: 'get_run',
  title: 'Read a run',
  description:
    'Returns the state of a run: after its end the output, the error, and the input and output of each block; before ' +
    'that the blocks that have run so far and the pauses that it waits for.',
  needs: 'read',
  input: t.Object({ executionId }, closed),
  run: async ({ services, workspaceId }, { executionId: id }) => await shownRun(services, workspaceId, id),
})

async function shownRun(services: Services, workspaceId: string, id: string): Promise<object> {
  const detail = await runDetail(services, workspaceId, id)
  const found = detail?.logId === null ? detail : await endedRun(services, workspaceId, id)
  if (found) return found
  const message = `There is no run "${id.slice(0, 100)}" in this workspace. list_runs shows the runs. A run of another process appears when it has ended.`
  throw new AppError('NOT_FOUND', message)
}

export const runTools: readonly BuildingTool[] = [runDraft, listRuns, listFailed, getRun]
