import type { Clock } from '../../domain/clock.ts'
import { type Limits, limitSettings } from '../../domain/limits.ts'
import type { RunFailure } from '../../domain/run/log.ts'
import type { RunRequest } from './run-request.ts'

type TimeLimits = Pick<Limits, 'runTimeoutMs'>

/** The remaining time of a run's time limit. */
export function timeLeft(request: RunRequest, { clock, limits }: { clock: Clock; limits: TimeLimits }): number {
  const { startedAt, waitedMs = 0, queuedMs = 0 } = request
  const { timeoutMs } = timeLimit(request, limits)
  return startedAt === undefined ? timeoutMs - queuedMs : timeoutMs + waitedMs - (clock.now() - startedAt)
}

/** The failure of a run that exceeded its time limit. */
export function timedOut(request: RunRequest, limits: TimeLimits): RunFailure {
  const { timeoutMs, setBy } = timeLimit(request, limits)
  const message = `The run took longer than ${timeoutMs} ms, the most that ${setBy} allows.`
  return { code: 'EXECUTION_TIMEOUT', message, blockId: null, blockName: null }
}

/** The shortest of the limits of the installation, the workflow and the caller, and the name of its source. */
function timeLimit({ plan, timeoutMs, history, input }: RunRequest, { runTimeoutMs }: TimeLimits) {
  const own = plan.limits.timeoutMs ?? Number.POSITIVE_INFINITY
  const asked = input.timeoutMs ?? Number.POSITIVE_INFINITY
  const installed = timeoutMs ?? runTimeoutMs
  if (asked < own && asked < installed) return { timeoutMs: asked, setBy: 'executionTimeoutSeconds of its start' }
  if (own < installed) return { timeoutMs: own, setBy: 'the time limit of the workflow' }
  return { timeoutMs: installed, setBy: history ? 'MILLRACE_ASYNC_TIMEOUT_MS' : limitSettings.runTimeoutMs }
}
