import { sleep } from '../domain/clock.ts'
import { backoffMs, delayWithRetryAfter, retryAfterMs } from '../domain/run/backoff.ts'
import type { SpanAttempt } from '../domain/run/log.ts'
import type { BlockContext } from '../engine/block.ts'

/**
 * Waits until a failed request may be sent again. Resolves with `again`, or with `ended` if the run has ended
 * meanwhile. Resolves at once with a text for the error message if the wait would be too long.
 */
export async function pauseBeforeRetry(
  failedAttempts: number,
  retryAfter: string | undefined,
  context: Pick<BlockContext, 'clock' | 'signal' | 'random'>,
): Promise<'again' | 'ended' | { refusal: string }> {
  const { clock, signal } = context
  const asked = retryAfterMs(retryAfter, clock.now())
  const delayMs = delayWithRetryAfter(backoffMs(failedAttempts, context.random()), asked)
  if (delayMs === undefined) {
    return { refusal: `its Retry-After is ${Math.ceil(asked! / 1000)} s, longer than this block waits` }
  }
  return await sleep(clock, delayMs, signal).then(
    () => 'again' as const,
    () => 'ended' as const,
  )
}

/** One attempt for the trace. `durationMs` is rounded to microseconds. */
export function spanAttempt(
  number: number,
  startTime: number,
  durationMs: number,
  { status, message }: { status?: number | null | undefined; message?: string | undefined },
): SpanAttempt {
  const attempt: SpanAttempt = { number, startTime, durationMs: Math.round(durationMs * 1000) / 1000 }
  if (status !== null && status !== undefined) attempt.status = status
  if (message !== undefined) attempt.error = message
  return attempt
}
