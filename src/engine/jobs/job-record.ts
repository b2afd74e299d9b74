import type { Redactor } from '../../domain/redaction/redactor.ts'
import type { Claim } from '../../domain/run/claim.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { Job, JobFacts, NewJob } from '../../domain/run/job.ts'
import { type RunFailure, type RunRecord, type Span, sourceOf } from '../../domain/run/log.ts'
import { pausedMsOf, type StoredPause } from '../../domain/run/pause.ts'
import type { JobWrite } from '../../domain/run/write.ts'
import { type InSlices, isLargeValue, jsonInSlices } from '../../domain/slices.ts'
import { triggerOf } from '../../domain/workflow/workflow.ts'
import type { StepHistory } from '../run/step-history.ts'

/** The JSON of an input. A large one is written in slices. */
export function inputText(input: TriggerInput, inSlices?: InSlices): string | Promise<string> {
  if (!inSlices || !isLargeValue(input)) return JSON.stringify(input)
  return inSlices(jsonInSlices(input)).then(String)
}

export type AcceptanceFacts = {
  /** The input as JSON. */
  text: string
  claim: Claim | undefined
  seal(text: string, executionId: string): Uint8Array
}

/** The write that accepts a job. The input is sealed only when the write reads it: a run may have ended before that. */
export function acceptanceOf(facts: Omit<NewJob, 'input'>, { claim, seal, ...input }: AcceptanceFacts) {
  let { text } = input
  const chars = text.length
  let sealed: Uint8Array | undefined
  const row = {
    ...facts,
    get input() {
      if (sealed) return sealed
      sealed = seal(text, facts.executionId)
      // It may have ten megabytes, and the write waits for the disk.
      text = ''
      return sealed
    },
  }
  const write = { kind: 'job' as const, row, chars }
  return claim ? { ...write, claim } : write
}

/** Replaces the input of a job that has not begun. Returns false when it has begun. */
export function replaceInput(
  version: number,
  text: string,
  { seal, write }: { seal(text: string, executionId: string): Uint8Array; write(write: JobWrite): Promise<unknown> },
): (executionId: string) => Promise<boolean> {
  return async (executionId) =>
    (await write({ kind: 'job-input', executionId, version, input: seal(text, executionId) })) === undefined
}

type EndedJob = JobFacts & Pick<Job, 'version' | 'trigger'>
type JobFailureCode = Extract<RunFailure['code'], 'CANCELLED' | 'EXECUTION_FAILED' | 'INTERRUPTED'>

/** Why a job ends without running further, and the pauses that it had. */
export type JobEnding = { code: JobFailureCode; message?: string; pauses?: readonly StoredPause[] }

/** The record of such a job, with the blocks and the cost from before its interruption. */
export function endedJob(
  job: EndedJob,
  { code, message = messages[code], pauses = [] }: JobEnding,
  history: StepHistory,
  at: number,
  secrets: Redactor | undefined,
): RunRecord {
  const failure: RunFailure = { code, message, blockId: null, blockName: null }
  const { executionId, workflowId, workspaceId, version, trigger, createdAt } = job
  const source = sourceOf(trigger)
  const startedAt = Math.min(job.startedAt ?? at, at)
  const pausedMs = pausedMsOf([...pauses, ...history.pauses], at)
  const root: Span = {
    id: 's0',
    name: workflowId,
    type: 'workflow',
    blockId: null,
    status: failure.code === 'CANCELLED' ? 'cancelled' : 'error',
    startTime: startedAt,
    endTime: at,
    durationMs: at - startedAt,
    input: null,
    output: null,
    error: { code: failure.code, message: failure.message },
    attempts: null,
    children: Array.from(history.blocks, ({ span }) => span),
  }
  return {
    executionId,
    workflowId,
    workspaceId,
    version,
    trigger: triggerOf(trigger),
    createdAt,
    startedAt,
    endedAt: at,
    durationMs: at - startedAt,
    ...(pausedMs === undefined ? undefined : { pausedMs }),
    failure,
    output: null,
    cost: history.cost,
    root,
    secrets: history.hide(secrets),
    ...(source ? { source } : undefined),
  }
}

const messages: Record<JobFailureCode, string> = {
  CANCELLED: 'The run was cancelled.',
  EXECUTION_FAILED: 'The run failed.',
  INTERRUPTED:
    'The service crashed three times during this run and no block completed in between, so the run was not resumed. ' +
    'Start it again.',
}
