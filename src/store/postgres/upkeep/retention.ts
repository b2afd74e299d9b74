import { sequenceAt, timeOfSequence } from '../../../domain/ids.ts'
import { bytesLeft } from '../../retention-progress.ts'
import type { RetentionBounds, RetentionStep } from '../../store.ts'
import { retainFirings } from '../alerts/evaluations.ts'
import type { Database, Sql } from '../connection.ts'
import { isLockTimeout } from '../failures.ts'
import { forgetTurns } from '../writes/chats.ts'
import { retainPauseEvents } from '../writes/pause-events.ts'
import { deleteBelongings, deleteEntries } from './gone-entries.ts'
import { listPartitions, lockPartitions, type Partition, setLockTimeout } from './partitions.ts'
import { usedBytesOf } from './used-bytes.ts'

/**
 * Deletes the oldest log entries while they exceed the bounds: one piece after the other, each in a transaction of its
 * own, until `workMs` have passed. There is nothing more to do when it returns `done`.
 *
 * A whole partition without pending deliveries is detached, so all its entries disappear at once. What belonged to them
 * is deleted afterwards, in pieces; the detached table remains until then, so this continues after a crash. Other
 * entries are deleted as rows. An entry stays while one of its deliveries is pending.
 *
 * Other writes do not wait for rows that are deleted, only for a partition that is detached. `heldMs` is the length of
 * the transactions: by it, the caller paces the load on the server.
 */
export async function retainLogs(
  database: Database,
  bounds: RetentionBounds,
  monotonic: () => number = () => performance.now(),
): Promise<RetentionStep> {
  const startedAt = monotonic()
  const step = { entries: 0, bytesFreed: 0, usedBytes: 0, leftBytes: 0, heldTo: bounds.after ?? 0, done: false }
  let goneTo = 0
  let mayDetach = true
  do {
    try {
      const piece = await database.maintain((sql) =>
        retainPiece(sql, { ...bounds, heldTo: step.heldTo, goneTo, mayDetach }),
      )
      step.entries += piece.entries
      step.bytesFreed += piece.bytesFreed
      step.heldTo = piece.heldTo
      step.usedBytes = piece.usedBytes
      step.leftBytes = piece.leftBytes
      step.done = piece.done
      goneTo = Math.max(goneTo, piece.goneTo)
    } catch (error) {
      // Somebody reads the log for long, or another process changes it. The next step tries again.
      if (!isLockTimeout(error)) throw error
      if (!mayDetach) return { ...step, heldMs: monotonic() - startedAt, done: true }
      mayDetach = false
    }
  } while (!step.done && monotonic() - startedAt < bounds.workMs)
  return { ...step, heldMs: monotonic() - startedAt }
}

type PieceBounds = RetentionBounds & { heldTo: number; goneTo: number; mayDetach: boolean }

/** `goneTo`: the last entry that was deleted; 0 when none was. */
type Piece = Omit<RetentionStep, 'heldMs'> & { goneTo: number }

async function retainPiece(sql: Sql, bounds: PieceBounds): Promise<Piece> {
  await sql.run(setLockTimeout)
  const { isFree, now } = (await sql.get<{ isFree: boolean; now: number }>(selectTurn, lockPartitions))!
  const nothing: Piece = {
    ...{ entries: 0, bytesFreed: 0, usedBytes: 0, leftBytes: 0, goneTo: 0, done: true },
    heldTo: bounds.heldTo,
  }
  // Another process is at it.
  if (!isFree) return nothing
  const partitions = await listPartitions(sql)
  const oldest = (await sql.get<{ sequence: number }>(selectOldest, bounds.heldTo))?.sequence ?? Number.MAX_SAFE_INTEGER
  const usedBytes = await usedBytesOf(sql, bounds.bytesMax, oldest)
  const left: Piece = {
    ...nothing,
    done: false,
    usedBytes,
    leftBytes: await leftBytesOf(sql, bounds, oldest, usedBytes),
  }

  const detached = partitions.find(({ isAttached }) => !isAttached)
  if (detached) return { ...left, ...(await discard(sql, detached)) }

  if (bounds.mayDetach) {
    const settled = sequenceAt(now - settledAfterMs)
    const first = partitions.find(({ end }) => end > bounds.heldTo)
    if (first && first.end <= settled && (await isBeyond(sql, first, bounds, { oldest, usedBytes }))) {
      if (await detach(sql, first)) return { ...left, goneTo: first.end - 1 }
    }
  }

  const rows = await deleteOldest(sql, bounds, usedBytes)
  if (rows) return { ...left, ...rows }

  const turnsBefore =
    usedBytes > bounds.bytesMax ? Number.MAX_SAFE_INTEGER : timeOfSequence(Math.max(bounds.before, bounds.goneTo))
  if ((await forgetTurns(sql, turnsBefore)) > 0) return left
  return { ...nothing, usedBytes }
}

/** Whether all entries of a partition have to go, or none is left. */
async function isBeyond(
  sql: Sql,
  { name, first, end }: Partition,
  { before, bytesMax }: RetentionBounds,
  { oldest, usedBytes }: { oldest: number; usedBytes: number },
): Promise<boolean> {
  if (end <= before || end <= oldest) return true
  if (oldest < first || usedBytes <= bytesMax) return false
  return usedBytes - bytesMax >= (await sizeOf(sql, name))
}

/**
 * False when a delivery is pending. The lock is taken before the question: a delivery that is made pending again needs
 * its entry (writes/deliveries.ts), so it comes either before the question or after the entry has gone.
 */
async function detach(sql: Sql, { name, first, end }: Partition): Promise<boolean> {
  if (await sql.get(selectPending, first, end)) return false
  await sql.run('LOCK TABLE ONLY millrace.logs IN ACCESS EXCLUSIVE MODE')
  if (await sql.get(selectPending, first, end)) return false
  await sql.run(`ALTER TABLE millrace.logs DETACH PARTITION millrace.${name}`)
  await sql.run(writeDeletedTo, end - 1)
  return true
}

/** Deletes some of what belongs to a detached partition, and at the end the partition itself. */
async function discard(sql: Sql, partition: Partition): Promise<Pick<Piece, 'entries' | 'bytesFreed'>> {
  if ((await deleteBelongings(sql, partition)) > 0) return { entries: 0, bytesFreed: 0 }
  const bytesFreed = await sizeOf(sql, partition.name)
  const counted = await sql.get<{ entries: number }>(`SELECT count(*) AS entries FROM millrace.${partition.name}`)
  await sql.run(`DROP TABLE millrace.${partition.name}`)
  return { entries: counted!.entries, bytesFreed }
}

/** Deletes the oldest entries as rows; undefined when none exceeds the bounds. */
async function deleteOldest(
  sql: Sql,
  { before, bytesMax, heldTo }: PieceBounds,
  usedBytes: number,
): Promise<Pick<Piece, 'entries' | 'heldTo' | 'goneTo'> | undefined> {
  const entries: number[] = []
  let excess = usedBytes - bytesMax
  for (const { sequence, bytes } of await sql.all<{ sequence: number; bytes: number }>(selectEntries, heldTo)) {
    if (sequence >= before && excess <= 0) break
    entries.push(sequence)
    excess -= bytes
  }
  const last = entries.at(-1)
  if (last === undefined) return undefined
  const held = new Set(
    (await sql.all<{ sequence: number }>(lockDeliveries, entries[0]!, last)).map(({ sequence }) => sequence),
  )
  const gone = entries.filter((sequence) => !held.has(sequence))
  const goneTo = gone.at(-1) ?? 0
  const deleted = gone.length > 0 ? await deleteEntries(sql, gone) : 0
  if (goneTo > 0) {
    await retainPauseEvents(sql, goneTo)
    await retainFirings(sql, goneTo)
    await sql.run(writeDeletedTo, goneTo)
  }
  // Once an entry is held, the next piece begins behind it.
  return { entries: deleted, goneTo, heldTo: held.size > 0 || heldTo > 0 ? last : 0 }
}

async function leftBytesOf(sql: Sql, bounds: RetentionBounds, oldest: number, usedBytes: number): Promise<number> {
  const newest = (await sql.get<{ sequence: number }>(selectNewest))?.sequence
  return newest === undefined ? 0 : bytesLeft(bounds, { oldest, newest }, usedBytes)
}

async function sizeOf(sql: Sql, name: string): Promise<number> {
  const select = 'SELECT pg_total_relation_size(to_regclass($1))::bigint AS bytes'
  return (await sql.get<{ bytes: number | null }>(select, `millrace.${name}`))?.bytes ?? 0
}

/** A partition is closed this long after the end of its day, because the clocks of processes differ. */
const settledAfterMs = 3_600_000

const selectTurn = `
  SELECT pg_try_advisory_xact_lock($1) AS "isFree", (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`

const selectOldest = 'SELECT sequence FROM millrace.logs WHERE sequence > $1 ORDER BY sequence LIMIT 1'
const selectNewest = 'SELECT sequence FROM millrace.logs ORDER BY sequence DESC LIMIT 1'

const selectPending =
  'SELECT 1 AS found FROM millrace.deliveries WHERE sequence >= $1 AND sequence < $2 AND due_at IS NOT NULL LIMIT 1'

/** As many as take some milliseconds. The size of an entry is that of its texts, its row and its indexes. */
const selectEntries = `
  SELECT sequence, pg_column_size(final_output) + pg_column_size(trace_spans) + 400 AS bytes FROM millrace.logs
  WHERE sequence > $1 ORDER BY sequence LIMIT 200`

/** Entries with pending deliveries. With the lock, no other delivery becomes pending until the commit. */
const lockDeliveries = `
  WITH locked AS MATERIALIZED (
    SELECT sequence, state FROM millrace.deliveries WHERE sequence BETWEEN $1 AND $2
    ORDER BY sequence, subscription FOR UPDATE
  )
  SELECT DISTINCT sequence FROM locked WHERE state = 0`

const writeDeletedTo = `
  INSERT INTO millrace.marks AS m (name, value) VALUES ('deleted', $1)
  ON CONFLICT (name) DO UPDATE SET value = greatest(m.value, excluded.value)`
