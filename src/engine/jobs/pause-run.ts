import type { NewJob } from '../../domain/run/job.ts'
import type { PauseWrite } from '../../domain/run/pause.ts'
import { WorkLost } from '../../domain/run/work-lost.ts'
import type { JobWrite } from '../../domain/run/write.ts'
import type { InSlices } from '../../domain/slices.ts'
import type { OpeningPause, PausedRun, RunRequest, StepWriter } from '../run/run-request.ts'
import { inputText } from './job-record.ts'

export type PauseRunOptions = {
  /** Encrypts what is on disk of a job. */
  seal(text: string, executionId: string): Uint8Array
  /** Resolves with a refusal when the job is not this process's. */
  write(write: JobWrite): Promise<unknown>
  inSlices: InSlices
}

/** Writes that a run is paused whose caller was waiting. */
export async function pauseRun(
  { request, record, history, pauses }: PausedRun,
  options: PauseRunOptions,
): Promise<void> {
  const { executionId, startedAt, endedAt } = record
  const write = { kind: 'job-pause' as const, executionId, at: endedAt, pauses }
  if (!history) await options.write(write)
  else {
    const steps = await history.heldTexts()
    await options.write({ ...write, accepts: await acceptance(request, executionId, startedAt, steps, options) })
  }
}

/** Writes a pause of a run that goes on, and the run itself when it is not a job yet. */
export async function openPause(
  { request, facts, startedAt, held, pause }: OpeningPause,
  options: PauseRunOptions,
): Promise<StepWriter> {
  const { executionId } = facts
  const write: PauseWrite = { kind: 'job-pause', executionId, at: pause.since, pauses: [pause], goesOn: true }
  const accepts = held && (await acceptance(request, executionId, startedAt, held, options))
  if (await options.write(accepts ? { ...write, accepts } : write)) throw new WorkLost()
  return async (number, text) => {
    const step = { kind: 'job-step' as const, executionId, number, content: options.seal(text, executionId) }
    if (await options.write(step)) throw new WorkLost()
  }
}

/** The job that a run becomes, with the steps that it has recorded. */
async function acceptance(
  { workflowId, workspaceId, version, trigger, input, claim }: RunRequest,
  executionId: string,
  startedAt: number,
  steps: readonly string[],
  { seal, inSlices }: PauseRunOptions,
): Promise<NonNullable<PauseWrite['accepts']>> {
  const given = inputText(input, inSlices)
  const text = typeof given === 'string' ? given : await given
  const facts = { executionId, workflowId, workspaceId, version, trigger }
  const row: NewJob = { ...facts, createdAt: startedAt, startedAt, input: seal(text, executionId) }
  return { row, steps: steps.map((step) => seal(step, executionId)), ...(claim ? { claim } : {}) }
}
