import { isRefusedForNow } from '../domain/errors.ts'
import type { TriggerInput } from '../domain/input.ts'
import type { Job, JobFacts } from '../domain/job.ts'
import type { Deployment } from './deployments.ts'
import { endedJob, type JobEnding } from './job-record.ts'
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
  /** Set when it could not be written down that it was accepted. */
  isUnwritten?: boolean
  /** How its turn ended. */
  ended: PromiseWithResolvers<TurnEnd>
}

/** One job's turn: from the line to its end, or back. */
export type Turn = JobsOptions & { active: ActiveJob; isStopped(): boolean }

/** Takes a job from the disk, from its beginning or from where it was cut. */
export async function resumeJob(turn: Turn, executionId: string): Promise<TurnEnd> {
  const { store, open, write, clock } = turn
  const job = await store.getJob(executionId)
  if (!job) return 'done'
  const texts = await stepsOf(turn, job)
  const at = job.startedAt ?? clock.now()
  const started = { ...job, startedAt: at }
  if (job.cuts >= cutsMax) return await endJob(turn, started, { code: 'INTERRUPTED' }, texts)
  await write({ kind: 'job-start', executionId, at })
  return await walkJob(turn, started, JSON.parse(open(job.input, executionId)) as TriggerInput, texts)
}

/** `steps`: what was kept of the job before it was cut. `accepted`: of one that is on its way to the disk. */
export async function walkJob(
  turn: Turn,
  job: JobFacts & Pick<Job, 'version' | 'trigger'>,
  input: TriggerInput,
  steps: readonly string[],
  accepted?: Promise<unknown>,
): Promise<TurnEnd> {
  const { executionId, workflowId, workspaceId, version, trigger, createdAt, startedAt } = job
  const { runner, deploymentOf, timeoutMs, seal, write, clock, active } = turn
  const deployment = await deploymentOf(workflowId, version)
  if (!deployment?.plan) {
    const message = goneMessage(version, deployment)
    return await endJob(turn, job, { code: 'EXECUTION_FAILED', message }, steps)
  }
  if (active.isCancelled) return await endJob(turn, job, { code: 'CANCELLED' }, steps)
  if (turn.isStopped()) return 'later'
  const keep = async (number: number, text: string) => {
    await write({ kind: 'job-step', executionId, number, content: seal(text, executionId) })
  }
  const journal = new Journal(steps, keep, accepted)
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
  if (turn.isStopped() || isRefusedForNow(suspension.cause)) return 'later'
  throw suspension.cause
}

/** What becomes of a job whose turn broke off: it must not be left "processing". Never rejects. */
export async function failJob(options: JobsOptions, executionId: string, error: unknown): Promise<TurnEnd> {
  if (isRefusedForNow(error)) return 'later'
  const { store, onBug } = options
  onBug(executionId, error)
  try {
    const job = await store.getJob(executionId)
    if (!job) return 'done'
    // What cannot be read may be the very reason.
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

/** Ends a job that is not walked (on). Rejects when its entry cannot be written. */
export async function endJob(
  { record, environmentOf, clock }: Pick<JobsOptions, 'record' | 'environmentOf' | 'clock'>,
  job: JobFacts & Pick<Job, 'version' | 'trigger'>,
  ending: JobEnding,
  steps: readonly string[],
): Promise<TurnEnd> {
  // Without steps there is nothing to hide, and a job can be ended when the environment cannot be read.
  const redactor = steps.length === 0 ? undefined : (await environmentOf(job.workspaceId)).redactor
  await record(endedJob(job, ending, new Journal(steps, noWrite), clock.now(), redactor))
  return 'done'
}

/** What was kept of a job before it was cut. */
export async function stepsOf({ store, open }: Pick<JobsOptions, 'store' | 'open'>, job: Job): Promise<string[]> {
  if (job.state === 'queued') return []
  const steps = await store.getJobSteps(job.executionId)
  return steps.map((sealed) => open(sealed, job.executionId))
}

/** A job that was cut this often is taken for the cause. */
const cutsMax = 3

const noWrite = () => Promise.resolve()

function goneMessage(version: number, deployment: Deployment | undefined): string {
  const problems = deployment?.findings.map(({ message }) => message).join(' ') ?? 'it is gone.'
  return `Version ${version} of the workflow can no longer run: ${problems}`
}
