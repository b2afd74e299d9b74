import type { PauseWrite } from '../../domain/run/pause.ts'
import type { InSlices } from '../../domain/slices.ts'
import type { PausedRun } from '../run/run-request.ts'
import { inputText } from './job-record.ts'

export type PauseRunOptions = {
  /** Encrypts what is on disk of a job. */
  seal(text: string, executionId: string): Uint8Array
  write(write: PauseWrite): Promise<unknown>
  inSlices: InSlices
}

/** Makes a paused job of a run whose caller was waiting, with the steps that it has recorded. */
export async function pauseRun(
  { request, record, history, pauses }: PausedRun,
  { seal, write, inSlices }: PauseRunOptions,
): Promise<void> {
  const { executionId, workflowId, workspaceId, version, trigger, startedAt, endedAt } = record
  const given = inputText(request.input, inSlices)
  const text = typeof given === 'string' ? given : await given
  const steps = await history.heldTexts()
  const row = {
    ...{ executionId, workflowId, workspaceId, version: version ?? 0, trigger, createdAt: startedAt, startedAt },
    input: seal(text, executionId),
  }
  await write({
    ...{ kind: 'job-pause', executionId, at: endedAt, pauses },
    accepts: {
      ...{ row, steps: steps.map((step) => seal(step, executionId)) },
      ...(request.claim ? { claim: request.claim } : {}),
    },
  })
}
