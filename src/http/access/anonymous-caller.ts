import { AppError } from '../../domain/errors.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'

/**
 * Replaces the reason for a failure with a message for anonymous visitors, because the reason may name services, blocks
 * and values. The log keeps it.
 */
export function withoutDetails(end: RunEnd, message: string): RunEnd {
  const { failure } = end.record
  if (!failure) return end
  const hidden = { ...failure, message, blockId: null, blockName: null }
  return { ...end, record: { ...end.record, failure: hidden, output: null } }
}

/** Hides from anonymous visitors which limit of the owner or the workflow refuses the work. */
export async function hideLimits<Value>(
  { isAnonymous, message }: { isAnonymous: boolean; message: string },
  work: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await work()
  } catch (cause) {
    if (!isAnonymous || !(cause instanceof AppError)) throw cause
    const { code, retryAfterS } = cause
    throw new AppError(code, message, { cause, ...(retryAfterS !== undefined && { retryAfterS }) })
  }
}
