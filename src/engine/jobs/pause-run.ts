import type { JobFacts, NewJob } from '../../domain/run/job.ts'
import type { NewPause, PauseWrite } from '../../domain/run/pause.ts'
import { WorkLost } from '../../domain/run/work-lost.ts'
import type { JobWrite } from '../../domain/run/write.ts'
import type { InSlices } from '../../domain/slices.ts'
import type { PauseEvent } from '../../domain/webhook/run-event.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
import type { OpeningPause, PausedRun, RunRequest, StepWriter } from '../run/run-request.ts'
import { inputText } from './job-record.ts'

export type PauseRunOptions = {
  /** Encrypts what is on disk of a job. */
  seal(text: string, executionId: string): Uint8Array
  /** Resolves with a refusal when the job is not this process's. */
  write(write: JobWrite): Promise<unknown>
  inSlices: InSlices
  /** Makes the webhook event for pauses that begin. */
  eventOf: PauseEventOf<NewPause>
}

/** The webhook event about pauses of a run; undefined when nobody is notified of them. */
export type PauseEventOf<Pause> = (
  run: Pick<JobFacts, 'executionId' | 'workflowId' | 'workspaceId'> & { trigger: StartKind },
  pauses: readonly Pause[],
) => PauseEvent | undefined | Promise<PauseEvent | undefined>

/** Adds the webhook event for the pauses that begin. */
export async function withEvent(
  write: PauseWrite,
  { workflowId, workspaceId, trigger }: Pick<RunRequest, 'workflowId' | 'workspaceId' | 'trigger'>,
  eventOf: PauseEventOf<NewPause>,
): Promise<PauseWrite> {
  const { executionId, pauses } = write
  const event = await eventOf({ executionId, workflowId, workspaceId, trigger }, pauses)
  return event ? { ...write, event } : write
}

/** Writes that a run is paused whose caller was waiting. */
export async function pauseRun(
  { request, record, history, pauses }: PausedRun,
  options: PauseRunOptions,
): Promise<void> {
  const { executionId, startedAt, endedAt } = record
  const pausing = { kind: 'job-pause' as const, executionId, at: endedAt, pauses }
  const write = await withEvent(pausing, request, options.eventOf)
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
  const opening: PauseWrite = { kind: 'job-pause', executionId, at: pause.since, pauses: [pause], goesOn: true }
  const write = await withEvent(opening, request, options.eventOf)
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
