import { backoffMs, delayWithRetryAfter, retryAfterMs } from '../domain/backoff.ts'
import { sleep } from '../domain/clock.ts'
import type { SpanAttempt } from '../domain/log.ts'
import type { BlockContext } from '../engine/block.ts'

/**
 * Waits until a request that has failed may be sent again. Resolves with `again`, with `ended` when the run has ended
 * meanwhile, or at once with the words for why nobody waits that long.
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
    return { refusal: `it asks to wait ${Math.ceil(asked! / 1000)} s, which is longer than this block waits` }
  }
  return await sleep(clock, delayMs, signal).then(
    () => 'again' as const,
    () => 'ended' as const,
  )
}

/** One attempt as the trace shows it; `durationMs` to the microsecond. */
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
