import type { FreshenFiles } from '../../domain/run/file.ts'
import { isObject } from '../../domain/run/input.ts'
import type { StoredPause } from '../../domain/run/pause.ts'
import type { RunState } from '../../domain/run/run-state.ts'
import type { LogDetailRow } from '../../store/run-store.ts'
import type { Store } from '../../store/store.ts'
import type { JobInFlight, Services } from '../services.ts'
import { JsonText, writeObject } from './json-text.ts'
import { pauseFacts } from './pauses/paused-response.ts'
import { isoTime } from './schema-parts.ts'

/** A run, in flight or ended. */
export type Job = { workflowId: string; workspaceId: string; text: JsonText; ended: boolean }

/** Finds a run by its execution id; undefined when there is none, or its log entry was deleted. */
export async function findJob(
  { runner, jobs, outputOf, files, store }: JobServices,
  executionId: string,
): Promise<Job | undefined> {
  // In this order: a run that ends meanwhile moves from one place to the next, and is found there.
  const job = await jobs.find(executionId)
  if (job) {
    const pauses = job.status === 'paused' ? await store.listRunPauses(executionId) : undefined
    return { ...job, text: writeInFlight(job, pauses), ended: false }
  }
  const run = runner.find(executionId)
  if (run)
    return { ...run, text: writeInFlight({ ...run, createdAt: run.startedAt, status: 'processing' }), ended: false }
  const row = await store.getExecution(executionId)
  if (!row) return undefined
  const output = row.createdAt === null || row.level === 'error' ? undefined : await outputOf(executionId)
  return {
    workflowId: row.workflowId,
    workspaceId: row.workspaceId,
    text: await freshened(writeEnded(row, output), row.files, files.freshen),
    ended: true,
  }
}

/** Finds a run as `findJob` does. */
export async function findRunState(
  { runner, jobs, outputOf, store }: Omit<JobServices, 'files'>,
  executionId: string,
): Promise<RunState | undefined> {
  const job = await jobs.find(executionId)
  if (job) return { workflowId: job.workflowId, status: job.status }
  const run = runner.find(executionId)
  if (run) return { workflowId: run.workflowId, status: 'processing' }
  const row = await store.getExecution(executionId)
  if (!row) return undefined
  const { workflowId, trigger, level, finalOutput } = row
  if (level !== 'error') {
    return { workflowId, trigger, status: 'completed', output: (await outputOf(executionId)) ?? finalOutput }
  }
  const { code, message } = errorOf(finalOutput)
  return { workflowId, trigger, status: wasCancelled(code) ? 'cancelled' : 'failed', error: message }
}

function wasCancelled(code: string): boolean {
  return code === 'CANCELLED' || code === 'CLIENT_CLOSED'
}

async function freshened(response: JsonText, runFiles: string | null, freshen: FreshenFiles): Promise<JsonText> {
  return runFiles === null ? response : new JsonText(await freshen(response.text, [runFiles]))
}

type JobServices = Pick<Services, 'runner' | 'jobs' | 'outputOf' | 'files'> & {
  store: Pick<Store, 'getExecution' | 'listRunPauses'>
}

function writeInFlight(
  { executionId, createdAt, startedAt, status }: JobInFlight,
  pauses?: readonly StoredPause[],
): JsonText {
  return writeObject({
    success: true,
    taskId: executionId,
    executionId,
    status,
    metadata: {
      createdAt: isoTime(createdAt),
      startedAt: startedAt === null ? null : isoTime(startedAt),
      completedAt: null,
      duration: null,
    },
    paused: pauses?.filter(({ state }) => state === 'open').map(pauseFacts),
  })
}

function writeEnded(row: LogDetailRow, output = row.finalOutput): JsonText {
  const { executionId, createdAt, startedAt, endedAt, durationMs, level } = row
  const hasBegun = createdAt === null || startedAt < endedAt || !row.traceSpans.endsWith(noChildren)
  const error = level === 'error' ? errorOf(output) : undefined
  return writeObject({
    success: !error,
    taskId: executionId,
    executionId,
    status: error ? (wasCancelled(error.code) ? 'cancelled' : 'failed') : 'completed',
    metadata: {
      createdAt: isoTime(createdAt ?? startedAt),
      startedAt: hasBegun ? isoTime(startedAt) : null,
      completedAt: isoTime(endedAt),
      duration: durationMs,
    },
    output: error ? undefined : new JsonText(output),
    error,
  })
}

/**
 * How the trace ends when nothing ran, not even the trigger: a job that ended while it was queued. Its log entry starts
 * and ends at the same time.
 */
const noChildren = '"children":[]}]'

/** The final output of a failed run, as the `error` of a job. */
function errorOf(finalOutput: string): { code: string; message: string; blockId?: unknown; blockName?: unknown } {
  const failure: unknown = JSON.parse(finalOutput)
  if (!isObject(failure)) return { code: 'EXECUTION_FAILED', message: 'The run failed.' }
  const { error, code, blockId, blockName } = failure
  return { code: String(code), message: String(error), blockId, blockName }
}
