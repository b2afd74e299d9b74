import { AppError } from '../domain/errors.ts'
import type { TriggerInput } from '../domain/input.ts'
import type { Job, JobFacts } from '../domain/job.ts'
import type { Deployment } from './deployments.ts'
import { failedJob, interrupted } from './job-record.ts'
import type { JobsOptions } from './jobs.ts'
import { Journal } from './journal.ts'

/** `done`: the job's log entry is written. `later`: it was stopped where it is, or the disk does not take it now. */
export type TurnEnd = 'done' | 'later'

/** A job that has been taken out of the line. */
export type ActiveJob = {
  job: JobFacts
  isCancelled: boolean
  /** Whether the runner has it, or had it. */
  isWalked: boolean
}

/** One job's turn: from the line to its end, or back. */
export type Turn = JobsOptions & { active: ActiveJob; isStopped(): boolean }

/** Takes a job from the disk, from its beginning or from where it was cut. */
export async function resumeJob(turn: Turn, executionId: string): Promise<TurnEnd> {
  const { store, open, write, clock, record, environmentOf } = turn
  const job = await store.getJob(executionId)
  if (!job) return 'done'
  const steps = job.state === 'queued' ? [] : await store.getJobSteps(executionId)
  const at = job.startedAt ?? clock.now()
  const started = { ...job, startedAt: at }
  const texts = steps.map((sealed) => open(sealed, executionId))
  if (job.cuts >= cutsMax) {
    const { redactor } = await environmentOf(job.workspaceId)
    await record(interrupted(started, new Journal(texts, noWrite), clock.now(), redactor))
    return 'done'
  }
  await write({ kind: 'job-start', executionId, at })
  return await walkJob(turn, started, JSON.parse(open(job.input, executionId)) as TriggerInput, texts)
}

/** `steps`: what was kept of the job before it was cut. */
export async function walkJob(
  turn: Turn,
  job: JobFacts & Pick<Job, 'version' | 'trigger'>,
  input: TriggerInput,
  steps: readonly string[],
): Promise<TurnEnd> {
  const { executionId, workflowId, workspaceId, version, trigger, createdAt, startedAt } = job
  const { runner, deploymentOf, timeoutMs, seal, write, record, clock, active } = turn
  const deployment = await deploymentOf(workflowId, version)
  if (!deployment?.plan) {
    await record(failedJob(job, 'EXECUTION_FAILED', clock.now(), goneMessage(version, deployment)))
    return 'done'
  }
  if (active.isCancelled) {
    await record(failedJob(job, 'CANCELLED', clock.now()))
    return 'done'
  }
  if (turn.isStopped()) return 'later'
  const journal = new Journal(steps, (number, text) =>
    write({ kind: 'job-step', executionId, number, content: seal(text, executionId) }),
  )
  active.isWalked = true
  const { suspension } = await runner.executeJob({
    plan: deployment.plan,
    workflowId,
    workspaceId,
    version,
    trigger,
    input,
    executionId,
    createdAt,
    startedAt: startedAt ?? clock.now(),
    timeoutMs,
    journal,
  })
  if (!suspension) return 'done'
  active.isWalked = false
  if (turn.isStopped() || isPassing(suspension.cause)) return 'later'
  throw suspension.cause
}

/** What becomes of a job whose turn broke off: it must not be left "processing". Never rejects. */
export async function failJob(options: JobsOptions, executionId: string, error: unknown): Promise<TurnEnd> {
  if (isPassing(error)) return 'later'
  const { store, record, clock, onBug } = options
  onBug(executionId, error)
  try {
    const job = await store.getJob(executionId)
    if (job) await record(failedJob(job, 'EXECUTION_FAILED', clock.now(), 'The run failed for an internal error.'))
    return 'done'
  } catch {
    return 'later'
  }
}

/** A job that was cut this often is taken for the cause. */
const cutsMax = 3

const noWrite = () => Promise.resolve()

/** What the disk or the queue in front of it refuses now, and takes later. */
function isPassing(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'STORAGE_UNAVAILABLE' || error.code === 'OVERLOADED')
}

function goneMessage(version: number, deployment: Deployment | undefined): string {
  const problems = deployment?.findings.map(({ message }) => message).join(' ') ?? 'it is gone.'
  return `Version ${version} of the workflow can no longer run: ${problems}`
}
