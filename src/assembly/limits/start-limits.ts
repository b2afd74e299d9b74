import type { StartLimits } from '../../engine/compile/start-limits.ts'
import type { Deployments } from '../../engine/deployments.ts'
import type { Jobs } from '../../engine/jobs/jobs.ts'
import { Debouncer } from '../../engine/limits/debouncer.ts'
import { LimitedExecution } from '../../engine/limits/limited-execution.ts'
import { LimitedJobs } from '../../engine/limits/limited-jobs.ts'
import { SharedStartLimiter } from '../../engine/limits/shared-start-limiter.ts'
import type { CountedStart, StartOutcome } from '../../engine/limits/start-counter.ts'
import { StartLimiter, type Starts } from '../../engine/limits/start-limiter.ts'
import type { Runner } from '../../engine/run/runner.ts'
import type { Base } from '../base.ts'

export type StartLimitsOptions = Base & {
  deployments: Deployments
  runner: Runner
  jobs(): Jobs
}

/** Applies the limits of workflows to their starts: to runs with a waiting caller, and to asynchronous runs. */
export function assembleStartLimits(options: StartLimitsOptions) {
  const { config, store, clock, metrics, logger, deployments, events, runner, jobs } = options
  const limiting = {
    clock,
    cancel(executionId: string) {
      jobs()
        .cancel(executionId)
        .catch((cause: unknown) => logger.warn('a replaced run could not be cancelled', { executionId, cause }))
    },
    limitsOf: async (workflowId: string) => (await deployments.load(workflowId))?.plan?.startLimits,
    onOutcome(outcome: StartOutcome, workflowId: string, refused?: CountedStart) {
      metrics.runs.limited(outcome)
      if (outcome === 'refused' || outcome === 'skipped') {
        // The start of an event has a chain of causes under its execution ID. Other refused starts have no run.
        events.limitReached(workflowId, refused?.trigger === 'event' ? refused.executionId : undefined)
      }
    },
  }
  const limiter: Starts = store.sharesStarts
    ? new SharedStartLimiter({ ...limiting, exchange: (asks) => store.exchangeStarts(asks) })
    : new StartLimiter(limiting)
  const debouncer = new Debouncer({
    clock,
    join: (start) => store.joinDebounce(start),
    end: (executionId, now, isForced) => store.endDebounce(executionId, now, isForced),
  })
  const execution = new LimitedExecution({
    ...{ limiter, clock, timeoutMs: config.runTimeoutMs, waitingMax: config.runsMax, shareFactor: config.shareFactor },
    execute: (request) => runner.execute(request),
  })
  const limitsOf = (workflowId: string): StartLimits | undefined | Promise<StartLimits | undefined> => {
    const known = deployments.get(workflowId)
    if (known) return known.plan?.startLimits
    return deployments.load(workflowId).then((loaded) => loaded?.plan?.startLimits)
  }
  /** Call this when another version of a workflow is active. */
  const changed = (workflowId: string) =>
    void limiter
      .changed(workflowId)
      .catch((cause: unknown) => logger.warn('the limits of a workflow could not be read', { workflowId, cause }))
  return { limiter, execution, changed, ofJobs: new LimitedJobs({ limiter, debouncer, limitsOf }) }
}
