import { Type as t } from '@sinclair/typebox'
import { sleep } from '../../../../domain/clock.ts'
import { AppError } from '../../../../domain/errors.ts'
import { newExecutionId } from '../../../../domain/ids.ts'
import { oneOf } from '../../../../domain/one-of.ts'
import { startKinds } from '../../../../domain/workflow/workflow.ts'
import { findWorkflow } from '../../../access/auth.ts'
import { runStatuses } from '../../../responses/run-schemas.ts'
import { runDetail } from '../../../responses/runs/run-detail.ts'
import type { Services } from '../../../services.ts'
import { endedRun } from './run-trace.ts'
import { type BuildingTool, defineTool } from './tool.ts'
import { workflowId } from './workflow-tools.ts'

const closed = { additionalProperties: false }
const executionId = t.String({ minLength: 1, maxLength: 100 })

const runDraft = defineTool({
  name: 'run_draft',
  title: 'Run a draft',
  description:
    'Runs the draft of a workflow, not the deployed version, and returns its output and what each block did. ' +
    'Fields that "input" leaves out take their "value" from the input format. Outputs that are pinned in the editor ' +
    'are used instead of running their blocks. Blocks have real effects, such as sending requests. A run that takes ' +
    'longer than 50 s goes on: get_run shows it.',
  needs: 'execute',
  input: t.Object(
    {
      workflowId,
      input: t.Optional(t.Record(t.String(), t.Unknown(), { description: 'The input of the trigger.' })),
      trigger: t.Optional(oneOf(startKinds, { description: 'The trigger to start at, if there are several.' })),
      until: t.Optional(t.String({ minLength: 1, maxLength: 200, description: 'The ID of the last block to run.' })),
    },
    closed,
  ),
  async run({ services, caller, workspaceId, startRun, signal }, { workflowId: id, input, trigger, until }) {
    const row = await findWorkflow(services, caller, id, 'execute')
    const given = {
      ...(input !== undefined && { input }),
      ...(trigger !== undefined && { trigger }),
      ...(until !== undefined && { until }),
    }
    const run = newExecutionId()
    const { ending } = await startRun(row, given, { executionId: run })
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

/** How long `run_draft` waits. Clients give up after 60 s unless they are told otherwise. */
const waitMs = 50_000

const listRuns = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description: 'Lists the runs of the workspace, newest first. "status": "failed" lists what failed.',
  needs: 'read',
  input: t.Object(
    {
      workflowId: t.Optional(workflowId),
      status: t.Optional(oneOf(runStatuses)),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })),
      cursor: t.Optional(t.String({ minLength: 1, maxLength: 1_000, description: '"nextCursor" of the page before.' })),
    },
    closed,
  ),
  async run({ api, workspaceId }, { limit = 20, ...filters }) {
    const query = new URLSearchParams({ ...filters, limit: String(limit) })
    const { data, nextCursor } = await api('GET', `/api/workspaces/${encodeURIComponent(workspaceId)}/runs?${query}`)
    return { runs: data, nextCursor }
  },
})

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

export const runTools: readonly BuildingTool[] = [runDraft, listRuns, getRun]
