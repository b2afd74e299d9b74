import type { Clock } from '../domain/clock.ts'
import { AppError, StartSkipped } from '../domain/errors.ts'
import type { TriggerInput } from '../domain/run/input.ts'
import type { ScheduleStep } from '../domain/schedule/schedule.ts'
import type { ScheduledRun, StartOutcome } from './schedule-decision.ts'

/** The request for a scheduled run: an asynchronous run of the active version. */
export type ScheduledRequest = {
  workflowId: string
  workspaceId: string
  version: number
  trigger: 'schedule'
  input: TriggerInput
  executionId: string
}

export type ScheduledStartOptions<Account> = {
  limits: {
    account(ownerId: string): Account | Promise<Account>
    isWithinUsage(account: Account): boolean
    take(kind: 'async', account: Account): { allowed: boolean }
  }
  /** Accepts the run and takes the schedule's step in one commit; `job` is undefined when the step is refused. */
  accept(
    request: ScheduledRequest,
    claim: { kind: 'schedule'; step: ScheduleStep },
  ): Promise<{ job: { executionId: string } | undefined }>
  clock: Clock
}

/**
 * Starts runs that are due. A scheduled run counts as an asynchronous run of the workspace's owner: it needs room in
 * the owner's usage and in their rate window.
 */
export function createScheduledStart<Account>({ limits, accept, clock }: ScheduledStartOptions<Account>) {
  return async ({ row, dueAt, executionId }: ScheduledRun, step: ScheduleStep): Promise<StartOutcome> => {
    const { workflowId, workspaceId, version, ownerId } = row
    const owner = await limits.account(ownerId)
    if (!limits.isWithinUsage(owner)) return 'usage'
    if (!limits.take('async', owner).allowed) return 'rate'
    const fields = { dueAt: new Date(dueAt).toISOString(), firedAt: new Date(clock.now()).toISOString() }
    const input = { input: {}, fields }
    const request = { workflowId, workspaceId, version, trigger: 'schedule' as const, input, executionId }
    try {
      const { job } = await accept(request, { kind: 'schedule', step })
      if (!job) return 'refused'
      // A debounced start joins an earlier run, so no write has taken the step of the schedule yet.
      return job.executionId === executionId ? 'started' : 'limit'
    } catch (error) {
      if (isBeyondLimits(error)) return 'limit'
      throw error
    }
  }
}

/** Whether the workflow's own limits skip or refuse the start. */
function isBeyondLimits(error: unknown): boolean {
  return error instanceof StartSkipped || (error instanceof AppError && error.code === 'WORKFLOW_LIMIT')
}
