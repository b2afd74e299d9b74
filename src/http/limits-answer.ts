import type { LimitsReport, RateState } from '../accounts/limits.ts'
import { isoTime, type LimitsAnswer } from './answers.ts'

/** The limits object of the interface: times as on the wire. */
export function limitsAnswer({ workflowExecutionRateLimit, usage }: LimitsReport): LimitsAnswer {
  const { sync, async } = workflowExecutionRateLimit
  return { workflowExecutionRateLimit: { sync: rateAnswer(sync), async: rateAnswer(async) }, usage: { ...usage } }
}

function rateAnswer({ limit, remaining, resetAt }: RateState) {
  return { limit, remaining, resetAt: isoTime(resetAt) }
}
