import type { Clock } from './clock.ts'

/** A function that calls `read`, and shares the pending or recent result between all callers for `ageMaxMs`. */
export function shareRecent<Value>(
  read: () => Promise<Value>,
  ageMaxMs: number,
  clock: Pick<Clock, 'monotonic'>,
): () => Promise<Value> {
  let latest: { reading: Promise<Value>; askedAt: number } | undefined
  return () => {
    const now = clock.monotonic()
    if (latest === undefined || now - latest.askedAt >= ageMaxMs) latest = { reading: read(), askedAt: now }
    return latest.reading
  }
}
