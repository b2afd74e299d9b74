import type { LimitsReport, RateState } from '../../accounts/limits.ts'
import type { LimitsResponse } from './account-schemas.ts'
import { isoTime } from './schema-parts.ts'

/** The limits object of the API, with times as on the wire. */
export function limitsResponse({ workflowExecutionRateLimit, usage }: LimitsReport): LimitsResponse {
  const { sync, async } = workflowExecutionRateLimit
  return { workflowExecutionRateLimit: { sync: rateResponse(sync), async: rateResponse(async) }, usage: { ...usage } }
}

function rateResponse({ limit, remaining, resetAt }: RateState) {
  return { limit, remaining, resetAt: isoTime(resetAt) }
}
