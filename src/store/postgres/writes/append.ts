import type { Refusal } from '../../../domain/run/claim.ts'
import type { LogRow } from '../../../domain/run/log.ts'
import type { LogWrite, Write } from '../../../domain/run/write.ts'
import { writeEvaluations } from '../alerts/evaluations.ts'
import { rowsOf, type Sql } from '../connection.ts'
import { keepTurns } from './chats.ts'
import { makeClaims, releaseRequests } from './claims.ts'
import { replaceInputs } from './job-inputs.ts'
import { endJobs, insertJobs, insertOutputs, insertSteps, moveJobs, type Placed } from './jobs.ts'
import { appendLogs, appendNewLogs } from './logs.ts'
import { insertPauseEvents, type JobEvent } from './pause-events.ts'
import { pauseJobs } from './pauses.ts'
import { commitPolls } from './polls.ts'

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
  const accepted = writes.flatMap((write, index) => (write.kind === 'job' && !refused.has(index) ? [write.row] : []))
  await insertJobs(
    sql,
    accepted.filter(({ executionId }) => !ended.has(executionId)),
  )
  refusals.push(...(await commitPolls(sql, placed(writes, 'poll'))))
  refusals.push(...(await replaceInputs(sql, placed(writes, 'job-input'))))
  refusals.push(...(await moveJobs(sql, [...placed(writes, 'job-start'), ...placed(writes, 'job-wait')].sort(byIndex))))
  refusals.push(...(await insertSteps(sql, placed(writes, 'job-step'))))
  refusals.push(...(await pauseJobs(sql, placed(writes, 'job-pause'))))
  await insertPauseEvents(sql, eventsOf(writes, refusals))
  const lost = await refuseLost(sql, placed(writes, 'log'), accepted)
  refusals.push(...lost)
  const lostAt = new Set(lost.map(({ index }) => index))
  const kept = lost.length === 0 ? logs : ofKind(writes, 'log', lostAt)
  await insertOutputs(sql, kept.filter(isOfJob))
  const failed = kept.filter((log) => isOfJob(log) && log.row.level === 'error')
  await releaseRequests(
    sql,
    failed.map(({ row }) => row.executionId),
  )
  refusals.push(...(await writeEvaluations(sql, placed(writes, 'alerts'))))
  await keepTurns(sql, ofKind(writes, 'chat'))
  await appendLogs(sql, kept)
  return refusals.length > 0 ? refusals.sort(byIndex) : undefined
}

/** Completes the jobs of entries. Refuses the entries of jobs that another process has or has completed. */
async function refuseLost(
  sql: Sql,
  entries: readonly Placed<LogWrite>[],
  accepted: readonly { executionId: string }[],
): Promise<Refusal[]> {
  const acceptedHere = new Set(accepted.map(({ executionId }) => executionId))
  const ofJobs = entries.filter(({ write }) => isOfJob(write))
  const completed = await endJobs(
    sql,
    ofJobs.map(({ write }) => write),
  )
  const isOwn = ({ write: { isUnwritten, row } }: Placed<LogWrite>) =>
    isUnwritten || acceptedHere.has(row.executionId) || completed.has(row.executionId)
  const others = ofJobs.filter((entry) => !isOwn(entry))
  if (others.length === 0) return []
  const taken = await takenByOthers(
    sql,
    others.map(({ write }) => write.row),
  )
  return others.flatMap(({ index, write }) => (taken.has(write.row.executionId) ? [{ index, executionId: null }] : []))
}

/**
 * The executions whose job another process has, or has ended. An entry that is there already with the same sequence is
 * not another's: after a lost connection, a group may be written again.
 */
async function takenByOthers(
  sql: Sql,
  rows: readonly Pick<LogRow, 'sequence' | 'executionId'>[],
): Promise<ReadonlySet<string>> {
  const taken = await sql.all<{ executionId: string }>(
    `SELECT r."executionId" FROM json_to_recordset($1::text::json) AS r (sequence bigint, "executionId" text)
     WHERE EXISTS (SELECT 1 FROM millrace.jobs j WHERE j.execution_id = r."executionId")
       OR EXISTS (SELECT 1 FROM millrace.logs l WHERE l.execution_id = r."executionId" AND l.sequence <> r.sequence)`,
    rowsOf(rows.map(({ sequence, executionId }) => ({ sequence, executionId }))),
  )
  return new Set(taken.map(({ executionId }) => executionId))
}

/** The events of the writes that were not refused. */
function eventsOf(writes: readonly Write[], refusals: readonly Refusal[]): JobEvent[] {
  const refused = new Set(refusals.map(({ index }) => index))
  return writes.flatMap((write, index) => {
    if (!('event' in write) || !write.event || refused.has(index)) return []
    return [{ executionId: write.executionId, event: write.event }]
  })
}

/** Writes a group of runs without jobs the fastest way. False when it cannot: then nothing was written. */
export async function appendPlain(database: Sql, writes: readonly Write[]): Promise<boolean> {
  const logs = ofKind(writes, 'log')
  if (logs.length === 0 || logs.length < writes.length || !logs.every(isPlain)) return false
  return await appendNewLogs(database, logs)
}

const isPlain = ({ row, claim, output, isUnwritten }: LogWrite) =>
  (row.createdAt === null || isUnwritten) && output === null && !claim
const isOfJob = ({ row }: LogWrite) => row.createdAt !== null

type WriteOf<Kind extends Write['kind']> = Extract<Write, { kind: Kind }>

function ofKind<Kind extends Write['kind']>(
  writes: readonly Write[],
  kind: Kind,
  without?: ReadonlySet<number>,
): WriteOf<Kind>[] {
  return writes.filter((write, index): write is WriteOf<Kind> => write.kind === kind && !without?.has(index))
}

function placed<Kind extends Write['kind']>(writes: readonly Write[], kind: Kind): Placed<WriteOf<Kind>>[] {
  return writes.flatMap((write, index) => (write.kind === kind ? [{ index, write: write as WriteOf<Kind> }] : []))
}

const byIndex = (one: { index: number }, other: { index: number }) => one.index - other.index
