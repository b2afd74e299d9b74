/** The buckets of a histogram. Times are epoch milliseconds. */
export type Buckets = { from: number; bucketMs: number; count: number }

/** Divides a time range into at most `most` buckets of a common length, starting at a round local time. */
export function bucketsFor(from: number, to: number, most: number): Buckets {
  const span = Math.max(1_000, to - from)
  const bucketMs = lengths.find((length) => span / length <= most - 1) ?? Math.ceil(span / (most - 1) / dayMs) * dayMs
  // Hours and days start in the reader's time zone, not in UTC.
  const zoneMs = -new Date(from).getTimezoneOffset() * 60_000
  const first = Math.floor((from + zoneMs) / bucketMs) * bucketMs - zoneMs
  return { from: first, bucketMs, count: Math.floor((to - first) / bucketMs) + 1 }
}

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const dayMs = 24 * hour
const lengths = [
  ...[second, 2 * second, 5 * second, 10 * second, 15 * second, 30 * second],
  ...[minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour],
  ...[dayMs, 2 * dayMs, 7 * dayMs],
]
