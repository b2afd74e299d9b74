import { type PollCommit, seenMax } from '../../../domain/poll/poll.ts'
import type { Refusal } from '../../../domain/run/claim.ts'
import type { PollWrite } from '../../../domain/run/write.ts'
import { listOf, type Sql, storable } from '../connection.ts'
import { insertJobs, type Placed } from './jobs.ts'

/** Commits polls with their jobs. Refuses those of polls that are no longer as they were read. */
export async function commitPolls(sql: Sql, writes: readonly Placed<PollWrite>[]): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  // By number, so that two processes wait for each other in one direction only.
  const sorted = writes.toSorted((one, other) => one.write.poll.number - other.write.poll.number)
  for (const { index, write } of sorted) {
    if (await commitPoll(sql, write.poll, write.jobs.length)) await insertJobs(sql, write.jobs)
    else refusals.push({ index, executionId: null })
  }
  return refusals
}

/** An update that had to wait checks its condition again, so only one of two processes commits from one revision. */
async function commitPoll(sql: Sql, { number, revision, seen, ...next }: PollCommit, count: number): Promise<boolean> {
  const changed = await sql.run(
    `UPDATE millrace.polls SET revision = revision + 1, due_at = $3::bigint, state = $4, polled_at = $5::bigint,
       succeeded_at = $6::bigint, failures = $7::integer, error = $8, started = started + $9::bigint,
       started_at = CASE WHEN $9::bigint > 0 THEN $5::bigint ELSE started_at END
     WHERE number = $1::bigint AND revision = $2::bigint`,
    ...[number, revision, next.dueAt, next.state && storable(next.state), next.polledAt, next.succeededAt],
    ...[next.failures, next.error && storable(next.error), count],
  )
  if (changed === 0) return false
  if (seen.length === 0) return true
  await sql.run(
    `INSERT INTO millrace.poll_items (poll, hash, place)
     SELECT $1::bigint, r.hash, r.place + coalesce((SELECT max(place) FROM millrace.poll_items WHERE poll = $1::bigint), 0)
     FROM unnest($2::text[]) WITH ORDINALITY AS r (hash, place)
     ON CONFLICT (poll, hash) DO UPDATE SET place = excluded.place`,
    ...[number, listOf([...new Set(seen)])],
  )
  await sql.run(
    `DELETE FROM millrace.poll_items WHERE poll = $1::bigint AND place <=
       (SELECT place FROM millrace.poll_items WHERE poll = $1::bigint ORDER BY place DESC LIMIT 1 OFFSET $2::bigint)`,
    ...[number, Math.max(seenMax, seen.length)],
  )
  return true
}
