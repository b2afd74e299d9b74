import { AppError } from '../../domain/errors.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'

/**
 * Replaces the reason for a failure by a message for anonymous visitors: it may name services, blocks and values. The
 * log keeps it.
 */
export function withoutDetails(end: RunEnd, message: string): RunEnd {
  const { failure } = end.record
  if (!failure) return end
  const hidden = { ...failure, message, blockId: null, blockName: null }
  return { ...end, record: { ...end.record, failure: hidden, output: null } }
}

/** Refuses because of the owner's limits, but hides from anonymous visitors what the limits are. */
export async function hideLimits(
  { isAnonymous, message }: { isAnonymous: boolean; message: string },
  assert: () => void | Promise<void>,
): Promise<void> {
  try {
    await assert()
  } catch (cause) {
    if (!isAnonymous || !(cause instanceof AppError)) throw cause
    throw new AppError(cause.code, message, { cause })
  }
}
