import type { Refusal } from '../../../domain/run/claim.ts'
import type { LogWrite, Write } from '../../../domain/run/write.ts'
import type { Sql } from '../connection.ts'
import { keepTurns } from './chats.ts'
import { makeClaims } from './claims.ts'
import { endJobs, insertJobs, insertOutputs, insertSteps, moveJobs } from './jobs.ts'
import { appendLogs, appendNewLogs } from './logs.ts'

/**
 * Writes any group. Returns which writes were refused; undefined when none was.
 *
 * Each kind of write is one statement for the whole group. Claims come first because they decide which jobs there are.
 * Jobs end before their log entries are written: of two processes that end the same job, the second waits here until it
 * can see the entry of the first.
 */
export async function append(sql: Sql, writes: readonly Write[]): Promise<readonly Refusal[] | undefined> {
  const logs = ofKind(writes, 'log')
  const refusals = await makeClaims(sql, writes)
  const refused = new Set(refusals.map(({ index }) => index))
  const ended = new Set(logs.map(({ row }) => row.executionId))
  // A run that ends in the group that accepts it need not become a job.
  const jobs = writes.flatMap((write, index) =>
    write.kind === 'job' && !refused.has(index) && !ended.has(write.row.executionId) ? [write.row] : [],
  )
  await insertJobs(sql, jobs)
  await moveJobs(
    sql,
    writes.filter((write) => write.kind === 'job-start' || write.kind === 'job-wait'),
  )
  await insertSteps(sql, ofKind(writes, 'job-step'))
  const fromJobs = logs.filter(({ row }) => row.createdAt !== null)
  await endJobs(sql, fromJobs)
  await insertOutputs(sql, fromJobs)
  await keepTurns(sql, ofKind(writes, 'chat'))
  await appendLogs(sql, logs)
  return refusals.length > 0 ? refusals : undefined
}

/** Writes a group of synchronous runs the fastest way. False when it cannot: then nothing was written. */
export async function appendPlain(database: Sql, writes: readonly Write[]): Promise<boolean> {
  const logs = ofKind(writes, 'log')
  if (logs.length < writes.length || !logs.every(isPlain)) return false
  return await appendNewLogs(database, logs)
}

const isPlain = ({ row, claim }: LogWrite) => row.createdAt === null && !claim

type WriteOf<Kind extends Write['kind']> = Extract<Write, { kind: Kind }>

function ofKind<Kind extends Write['kind']>(writes: readonly Write[], kind: Kind): WriteOf<Kind>[] {
  return writes.filter((write): write is WriteOf<Kind> => write.kind === kind)
}
