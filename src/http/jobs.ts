import { isObject } from '../domain/input.ts'
import type { LogDetailRow, Store } from '../store/store.ts'
import { isoTime } from './answers.ts'
import { JsonText, writeObject } from './json-text.ts'
import type { RunInFlight, Services } from './services.ts'

/** A run, in flight or ended. */
export type Job = { workflowId: string; workspaceId: string; text: JsonText; ended: boolean }

/** A run by its execution id; undefined when there is none, or its log entry is gone. */
export async function findJob(
  { runner, store }: Pick<Services, 'runner'> & { store: Pick<Store, 'getExecution'> },
  executionId: string,
): Promise<Job | undefined> {
  const run = runner.find(executionId)
  if (run) return { ...run, text: writeRun(run), ended: false }
  const row = await store.getExecution(executionId)
  return row && { workflowId: row.workflowId, workspaceId: row.workspaceId, text: writeEnded(row), ended: true }
}

function writeRun({ executionId, startedAt }: RunInFlight): JsonText {
  const started = isoTime(startedAt)
  return writeObject({
    success: true,
    taskId: executionId,
    executionId,
    status: 'processing',
    metadata: { createdAt: started, startedAt: started, completedAt: null, duration: null },
  })
}

function writeEnded(row: LogDetailRow): JsonText {
  const { executionId, startedAt, endedAt, durationMs, level, finalOutput } = row
  const started = isoTime(startedAt)
  const error = level === 'error' ? errorOf(finalOutput) : undefined
  const cancelled = error?.code === 'CANCELLED' || error?.code === 'CLIENT_CLOSED'
  return writeObject({
    success: !error,
    taskId: executionId,
    executionId,
    status: error ? (cancelled ? 'cancelled' : 'failed') : 'completed',
    metadata: { createdAt: started, startedAt: started, completedAt: isoTime(endedAt), duration: durationMs },
    output: error ? undefined : new JsonText(finalOutput),
    error,
  })
}

/** The final output of a run that failed, as the `error` of a job. */
function errorOf(finalOutput: string): { code: string; message: string; blockId?: unknown; blockName?: unknown } {
  const failure: unknown = JSON.parse(finalOutput)
  if (!isObject(failure)) return { code: 'EXECUTION_FAILED', message: 'The run failed.' }
  const { error, code, blockId, blockName } = failure
  return { code: String(code), message: String(error), blockId, blockName }
}
