import type { RetentionBounds } from './store.ts'

/** An estimate of the bytes still to delete. It assumes that entries are spread evenly over time. */
export function bytesLeft(
  { before, bytesMax }: Pick<RetentionBounds, 'before' | 'bytesMax'>,
  log: { oldest: number; newest: number },
  usedBytes: number,
): number {
  const tooOld = Math.min(Math.max((before - log.oldest) / Math.max(log.newest - log.oldest, 1), 0), 1)
  return Math.max(usedBytes - bytesMax, usedBytes * tooOld, 0)
}
