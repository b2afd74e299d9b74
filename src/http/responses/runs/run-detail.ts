import { logIdOf } from '../../../domain/ids.ts'
import type { JobState, OpenRun } from '../../../domain/run/job.ts'
import type { RunStatus } from '../../../domain/run/log.ts'
import { triggerOf } from '../../../domain/workflow/workflow.ts'
import type { RunBlocks } from '../../../engine/jobs/run-progress.ts'
import type { Services } from '../../services.ts'
import { listedPause } from '../pauses/paused-response.ts'
import type { ListedRun, RunDetail } from '../run-schemas.ts'
import { isoTime } from '../schema-parts.ts'

type DetailServices = Pick<Services, 'runs' | 'blocksOf'> & {
  runner: Pick<Services['runner'], 'runsOf'>
  store: Pick<Services['store'], 'getOpenRun' | 'listOpenPauses' | 'getExecution'>
}

/** The most pauses that a run shows. Few, because each of them is decrypted. */
const pausesMax = 100

/** A run with its progress, or with its log entry. Undefined when there is none, or it is in another workspace. */
export async function runDetail(
  { store, runner, runs, blocksOf }: DetailServices,
  workspaceId: string,
  executionId: string,
): Promise<RunDetail | undefined> {
  // The order matters: a run that ends in the meantime moves from one source to the next, and is found there.
  const open = await store.getOpenRun(executionId)
  if (open) {
    if (open.workspaceId !== workspaceId) return undefined
    const [pauses, progress] = await Promise.all([
      open.state === 'queued' ? [] : store.listOpenPauses(executionId, pausesMax),
      blocksOf(executionId),
    ])
    const { answers } = runs.pauses
    const paused = pauses.map((pause) => listedPause(answers.readListed(pause), open.workflowName))
    return { ...openRun(open), logId: null, paused, ...shownBlocks(progress) }
  }
  const run = runner.runsOf(workspaceId).find((each) => each.executionId === executionId)
  if (run) {
    const { workflowId, workflowName, trigger, startedAt } = run
    const facts = { executionId, workflowId, workflowName, status: 'processing' as const, trigger }
    const times = { startedAt: isoTime(startedAt), endedAt: null }
    return { ...facts, ...times, logId: null, paused: [], ...shownBlocks(await blocksOf(executionId)) }
  }
  const row = await store.getExecution(executionId)
  if (row?.workspaceId !== workspaceId) return undefined
  const { sequence, workflowId, workflow, status, trigger, startedAt, endedAt } = row
  return {
    ...{ executionId, workflowId, workflowName: workflow.name, status: shownStatuses[status], trigger },
    ...{ startedAt: isoTime(startedAt), endedAt: isoTime(endedAt), logId: logIdOf(sequence) },
    ...{ paused: [], blocks: [], blocksComplete: true },
  }
}

/** A job in lists of runs. */
export function openRun(run: Omit<OpenRun, 'number'>): ListedRun {
  const { executionId, workflowId, workflowName, state, trigger, startedAt } = run
  const times = { startedAt: startedAt === null ? null : isoTime(startedAt), endedAt: null }
  const facts = { executionId, workflowId, workflowName, trigger: triggerOf(trigger) }
  return { ...facts, status: openStatus(state), ...times }
}

function openStatus(state: JobState): 'queued' | 'processing' | 'paused' {
  return state === 'queued' || state === 'paused' ? state : 'processing'
}

export const shownStatuses: Readonly<Record<RunStatus, 'completed' | 'failed' | 'cancelled'>> = {
  success: 'completed',
  error: 'failed',
  cancelled: 'cancelled',
}

function shownBlocks({ blocks, isComplete }: RunBlocks): Pick<RunDetail, 'blocks' | 'blocksComplete'> {
  const shown = blocks.map(({ name, type, blockId, status, startTime, durationMs }) => ({
    ...{ blockId, blockName: name, blockType: type, status, startedAt: isoTime(startTime) },
    durationMs: status === 'running' ? null : durationMs,
  }))
  return { blocks: shown, blocksComplete: isComplete }
}
