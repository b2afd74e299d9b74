import type { Environment } from '../../domain/account/environment.ts'
import type { ByteGate } from '../../domain/byte-gate.ts'
import type { Clock } from '../../domain/clock.ts'
import { isRefusedForNow } from '../../domain/errors.ts'
import type { Refusal } from '../../domain/run/claim.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { Job, JobFacts, JobStatus } from '../../domain/run/job.ts'
import type { RunRecord } from '../../domain/run/log.ts'
import type { NewPause, StoredPause } from '../../domain/run/pause.ts'
import { WorkLost } from '../../domain/run/work-lost.ts'
import type { JobWrite } from '../../domain/run/write.ts'
import { type InSlices, largeBytes } from '../../domain/slices.ts'
import type { Deployment } from '../deployments.ts'
import type { LimitedJobs } from '../limits/limited-jobs.ts'
import type { RunEnd } from '../run/run-end.ts'
import { CrowdedOut, type RunMemory } from '../run/run-memory.ts'
import { Paused } from '../run/run-pauses.ts'
import type { RunRequest } from '../run/run-request.ts'
import { StepHistory } from '../run/step-history.ts'
import { crashMark, isStuck } from './crash-marks.ts'
import { endedJob, type JobEnding } from './job-record.ts'
import type { JobStore } from './job-store.ts'
import { type PauseEventOf, withEvent } from './pause-run.ts'

/** The services that running a job needs. */
export type TurnOptions = {
  store: JobStore
  /** Resolves when the write is on disk, or with a refusal when another run has its claim. */
  write(write: JobWrite): Promise<Refusal | undefined>
  /** Writes the log entry of a job that ends without a run, which also deletes the job. */
  record(record: RunRecord): Promise<unknown>
  /** Encrypts what is on disk of a job; `context` ties the result to its job. */
  seal(text: string, context: string): Uint8Array
  open(sealed: Uint8Array, context: string): string
  runner: {
    executeJob(request: RunRequest & { history: StepHistory }): Promise<RunEnd>
    memory: Pick<RunMemory, 'hasRoom' | 'hold' | 'heldBy' | 'release' | 'onFree'>
  }
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  /** A version of a workflow, compiled; also of a deleted workflow. */
  deploymentOf(workflowId: string, version: number): Promise<Deployment | undefined>
  inSlices?: InSlices
  clock: Clock
  timeoutMs: number
  /** Applies the limits of workflows to starts. Absent: no limits. */
  limited?: LimitedJobs
  /** Called when a job is paused. */
  onPaused?(pauses: readonly NewPause[]): void
  /** Called when a chat run that continued without its caller has its log entry. */
  onChatEnded?(run: { deployment: Deployment; input: TriggerInput; record: RunRecord }): Promise<void>
  /** The webhook events for pauses that begin and for pauses that have ended. */
  pauseEvents?: { begun: PauseEventOf<NewPause>; ended: PauseEventOf<StoredPause> }
  /** Called for errors of the service, not of a workflow. */
  onBug(executionId: string, error: unknown): void
}

/**
 * `done`: the job's log entry is written, or it is paused, or another process has the job. `later`: the job was
 * suspended, or the disk refuses writes at the moment. `again`: it can continue at once. `parked`: the limits of its
 * workflow allow no further run now.
 */
export type TurnEnd = 'done' | 'later' | 'again' | 'parked'

/** A job that has left the queue. */
export type ActiveJob = {
  job: JobFacts
  isCancelled: boolean
  /** Whether the runner has received it. */
  isRunning: boolean
  /** Set when its acceptance could not be written. */
  isUnwritten?: boolean
  /** Set when it was suspended because all runs together held too much: what it held itself. */
  crowdedBytes?: number
  /** Resolves when its turn has ended. */
  ended: PromiseWithResolvers<TurnEnd>
}

/** One job's turn: from the queue to its end, or back into the queue. */
export type Turn = TurnOptions & {
  active: ActiveJob
  /** For the large steps of all jobs. */
  gate: ByteGate
  isStopped(): boolean
}

type RunnableJob = JobFacts & Pick<Job, 'version' | 'trigger'> & Partial<Pick<Job, 'waitedMs' | 'hasPauses'>>

/** `inputBytes`: the length of its JSON text. */
export type JobInput = { input: TriggerInput; inputBytes: number }

/** Runs a job that is on disk, from its start or from where it was interrupted. */
export async function resumeJob(turn: Turn, executionId: string): Promise<TurnEnd> {
  const bytes = turn.runner.memory.heldBy(turn.active.job)
  const load = () => loadJob(turn, executionId)
  // While a large job is being read, it is in memory several times.
  const loaded = await (bytes > largeBytes ? turn.gate.run(bytes, load) : load())
  if (typeof loaded === 'string') return loaded
  return await runJob(turn, loaded.job, loaded.input, loaded.steps, undefined, loaded.pauses)
}

type LoadedJob = { job: RunnableJob; input: JobInput; steps: readonly string[]; pauses: readonly StoredPause[] }

/** Reads a job and marks it as started. A job that cannot run ends. */
async function loadJob(turn: Turn, executionId: string): Promise<LoadedJob | TurnEnd> {
  const { store, open, seal, write, clock } = turn
  const stored = await store.getJob(executionId)
  if (!stored) return 'done'
  const { input: sealed, ...job } = stored
  // It continued in an earlier turn, and waits for something else now.
  if (job.state === 'paused') return 'done'
  const openInput = () => JSON.parse(open(sealed, executionId)) as TriggerInput
  if (!turn.active.isCancelled && (await turn.limited?.mayRun(job, openInput)) === false) return 'parked'
  const texts = await stepsOf(turn, job)
  const at = clock.now()
  const waitedMs = job.waitedMs + Math.max(0, at - (job.waitingSince ?? at))
  const started = { ...job, startedAt: job.startedAt ?? at, waitedMs }
  const pauses = job.hasPauses ? await store.listRunPauses(executionId) : []
  if (isStuck(texts, job.interruptions)) {
    const open = pauses.filter(({ state }) => state === 'open')
    if (open.length === 0) return await endJob(turn, started, { code: 'INTERRUPTED' }, texts)
    // The run may have been waiting at the pause during the crashes. It continues when its pause has ended.
    return (await write({ kind: 'job-start', executionId, at })) ? 'done' : await pauseJob(turn, job, open)
  }
  const mark = crashMark(texts, job.interruptions)
  const event = pauses.length === 0 ? undefined : await turn.pauseEvents?.ended(job, pauses)
  const writes: JobWrite[] = [{ kind: 'job-start', executionId, at, ...(event && { event }) }]
  if (mark !== undefined) {
    writes.push({ kind: 'job-step', executionId, number: texts.length + 1, content: seal(mark, executionId) })
    texts.push(mark)
  }
  const [refusal] = await Promise.all(writes.map(write))
  // Another process has started it.
  if (refusal) return 'done'
  turn.limited?.begin(executionId)
  const text = open(sealed, executionId)
  return {
    job: started,
    pauses,
    input: { input: JSON.parse(text) as TriggerInput, inputBytes: text.length },
    steps: texts,
  }
}

/** `steps`: those recorded before the interruption. `accepted`: set for a job that is still being written. */
export async function runJob(
  turn: Turn,
  job: RunnableJob,
  { input, inputBytes }: JobInput,
  steps: readonly string[],
  accepted?: Promise<unknown>,
  knownPauses: readonly StoredPause[] = [],
): Promise<TurnEnd> {
  const { executionId, workflowId, workspaceId, version, trigger, createdAt, startedAt, waitedMs = 0 } = job
  const { runner, deploymentOf, timeoutMs, seal, write, clock, active } = turn
  const deployment = await deploymentOf(workflowId, version)
  if (!deployment?.plan) {
    const message = goneMessage(version, deployment)
    return await endJob(turn, job, { code: 'EXECUTION_FAILED', message }, steps)
  }
  if (active.isCancelled) return await endJob(turn, job, { code: 'CANCELLED' }, steps)
  if (turn.isStopped()) return 'later'
  const writeStep = async (number: number, text: string) => {
    const refusal = await write({ kind: 'job-step', executionId, number, content: seal(text, executionId) })
    if (refusal) throw new WorkLost()
  }
  const history = new StepHistory(steps, writeStep, accepted, turn.inSlices, turn.gate)
  active.isRunning = true
  const end = await runner.executeJob({
    plan: deployment.plan,
    workflowId,
    workspaceId,
    version,
    trigger,
    input,
    inputBytes,
    executionId,
    createdAt,
    startedAt: startedAt ?? clock.now(),
    waitedMs,
    timeoutMs,
    history,
    knownPauses,
  })
  const { suspension } = end
  if (!suspension) {
    if (trigger === 'chat') await turn.onChatEnded?.({ deployment, input, record: end.record })
    return 'done'
  }
  active.isRunning = false
  const { cause } = suspension
  if (cause instanceof Paused) return await pauseJob(turn, job, cause.pauses)
  if (cause instanceof CrowdedOut) {
    active.crowdedBytes = cause.bytes
    // So that neither a crash nor the time until it resumes counts.
    if (await write({ kind: 'job-wait', executionId, at: clock.now() })) return 'done'
    // It would have to wait for memory to end.
    if (active.isCancelled) return await endSuspended(turn, executionId)
  }
  if (turn.isStopped() || isRefusedForNow(cause)) return 'later'
  throw cause
}

/** Writes that a job is paused. When one of its pauses has ended meanwhile, it continues. */
async function pauseJob(turn: Turn, job: RunnableJob, pauses: readonly NewPause[]): Promise<TurnEnd> {
  const { write, store, clock, active, pauseEvents } = turn
  const { executionId } = job
  const pausing = { kind: 'job-pause' as const, executionId, at: clock.now(), pauses }
  if (await write(pauseEvents ? await withEvent(pausing, job, pauseEvents.begun) : pausing)) return 'done'
  if (active.isCancelled) return await endSuspended(turn, executionId)
  turn.onPaused?.(pauses)
  const stored = await store.findJob(executionId)
  return stored?.state === 'interrupted' ? 'again' : 'done'
}

async function endSuspended(turn: Turn, executionId: string): Promise<TurnEnd> {
  const job = await turn.store.findJob(executionId)
  return job ? await endJob(turn, job, { code: 'CANCELLED' }, await stepsOf(turn, job)) : 'done'
}

/** Ends a job whose turn failed, so that it does not stay in the state "processing". Never rejects. */
export async function failJob(options: TurnOptions, executionId: string, error: unknown): Promise<TurnEnd> {
  if (isRefusedForNow(error)) return 'later'
  if (error instanceof WorkLost) return 'done'
  const { store, onBug } = options
  onBug(executionId, error)
  try {
    const job = await store.findJob(executionId)
    if (!job) return 'done'
    // Unreadable steps may be what failed the turn.
    const steps = await stepsOf(options, job).catch(() => [])
    return await endJob(
      options,
      job,
      { code: 'EXECUTION_FAILED', message: 'The run failed for an internal error.' },
      steps,
    )
  } catch {
    return 'later'
  }
}

/** Ends a job without running it (any further). Rejects when its log entry cannot be written. */
export async function endJob(
  { store, record, environmentOf, clock }: Pick<TurnOptions, 'store' | 'record' | 'environmentOf' | 'clock'>,
  job: JobFacts & Pick<Job, 'version' | 'trigger'> & Partial<Pick<Job, 'hasPauses'>>,
  ending: JobEnding,
  steps: readonly string[],
): Promise<TurnEnd> {
  // Without steps there is nothing to hide, so a job can end even if its environment cannot be read.
  const redactor = steps.length === 0 ? undefined : (await environmentOf(job.workspaceId)).redactor
  const pauses = job.hasPauses ? await store.listRunPauses(job.executionId) : []
  await record(endedJob(job, { ...ending, pauses }, new StepHistory(steps, noWrite), clock.now(), redactor))
  return 'done'
}

/** The steps that were recorded before a job was interrupted. */
export async function stepsOf({ store, open }: Pick<TurnOptions, 'store' | 'open'>, job: JobStatus): Promise<string[]> {
  if (job.state === 'queued') return []
  const steps = await store.getJobSteps(job.executionId)
  return steps.map((sealed) => open(sealed, job.executionId))
}

const noWrite = () => Promise.resolve()

function goneMessage(version: number, deployment: Deployment | undefined): string {
  const problems =
    deployment?.findings.map(({ message }) => message).join(' ') ?? 'the version does not exist any more.'
  return `Version ${version} of the workflow can no longer run: ${problems}`
}
