import { timeOfSequence } from '../../../domain/ids.ts'
import { bytesLeft } from '../../retention-progress.ts'
import type { RetentionBounds } from '../../store.ts'
import { retainFirings } from '../alerts/evaluations.ts'
import type { Sql } from '../connection.ts'
import { chunkCharsMax, chunkText, type SqlChunk, workspacesIn } from '../logs/chunk.ts'
import { deleteZoneMaps, hasGoneZoneMaps } from '../logs/zone-maps.ts'
import { deleteLogNotes } from '../tables/log-notes.ts'
import { retainRunFiles } from '../tables/run-files.ts'
import { forgetTurns } from '../writes/chats.ts'
import { hasPending, retainDeliveries } from '../writes/deliveries.ts'
import { retainPauseEvents } from '../writes/pause-events.ts'

/** The result of one step. `walBytes`: an estimate of what its commit adds to the WAL. */
export type RetentionResult = {
  entries: number
  bytesFreed: number
  usedBytes: number
  walBytes: number
  heldTo: number
  leftBytes: number
  done: boolean
}

/**
 * Deletes the oldest log entries while they exceed the bounds, and returns their pages to the disk: some chunks or some
 * pages at a time, until `workMs` have passed. There is nothing more to do when it returns `done`.
 *
 * Entries are deleted by whole chunks, as many at once as make one compacted chunk, because runs that ended alone have
 * chunks of their own. In each workspace these entries are one range of neighbouring rows: 2 µs per entry in all. With
 * many workspaces, the chunks' texts show which ones are affected. Pages are returned as they become free and not at
 * the end, because taking a page off the end of the file searches the list of free pages.
 *
 * `holds`: whether a chunk stays while one of its entries has a pending delivery. Younger chunks are deleted all the
 * same.
 */
export function retainLogs(sql: Sql, bounds: RetentionBounds, monotonic: () => number, holds = true): RetentionResult {
  const endAt = monotonic() + bounds.workMs
  const { page_size: pageBytes } = sql.get<{ page_size: number }>('PRAGMA page_size')!
  const before = pagesOf(sql)
  let pages = before
  let entries = 0
  let writes = 0
  let goneTo = 0
  let heldTo = bounds.after ?? 0
  // Zone maps are deleted from the beginning only: entries that are held must stay in one.
  let zonesGoneTo = 0
  let workspacesKnown: readonly number[] | undefined
  const statements = beforeEntries(sql)
  const touched = new Set<number>()
  let done = false
  do {
    const usedBytes = (pages.total - pages.free) * pageBytes
    const oldest = pages.free < freePagesMax ? oldestBeyond(sql, bounds, heldTo, usedBytes, holds) : undefined
    if (oldest?.isHeld) {
      heldTo = oldest.last
    } else if (oldest) {
      workspacesKnown ??= sql.all<{ workspace: number }>(selectWorkspaces).map(({ workspace }) => workspace)
      const workspaces = workspacesKnown.length < workspacesMax ? workspacesKnown : workspacesOf(sql, oldest)
      for (const workspace of workspaces) {
        const range = [workspace, oldest.first, oldest.last] as const
        for (const statement of statements) sql.run(statement, ...range)
        const deleted = sql.run(deleteEntries, ...range)
        if (deleted === 0) continue
        entries += deleted
        touched.add(workspace)
        writes += pagesPerRange
      }
      for (const statement of retainDeliveries) sql.run(statement, oldest.first, oldest.last)
      sql.run(deleteChunks, oldest.first, oldest.last)
      goneTo = oldest.last
      if (heldTo === 0) zonesGoneTo = goneTo
    } else if (forgetTurns(sql, turnsGoneBefore(bounds, goneTo, pages, usedBytes)) > 0) {
      writes += pagesPerTurns
    } else if (pages.free > freePagesKept) {
      // Each step of this statement returns one page, so all its steps are needed.
      sql.all(shrink)
      writes += shrinkPages * pagesPerMove
    } else {
      done = true
    }
    pages = pagesOf(sql)
  } while (!done && monotonic() < endAt)
  for (const workspace of touched) {
    if (hasGoneZoneMaps(sql, workspace, zonesGoneTo)) deleteZoneMaps(sql, workspace, zonesGoneTo)
  }
  if (goneTo > 0) {
    retainPauseEvents(sql, goneTo)
    retainFirings(sql, goneTo)
    sql.run(writeDeletedTo, goneTo)
  }
  const usedBytes = (pages.total - pages.free) * pageBytes
  return {
    entries,
    bytesFreed: (before.total - pages.total) * pageBytes,
    usedBytes,
    walBytes: (writes + pagesPerCommit) * pageBytes,
    heldTo,
    leftBytes: done ? 0 : leftOf(sql, bounds, heldTo, usedBytes),
    done,
  }
}

/** Free pages that stay for new entries: 4 MB, so that a full file does not shrink and grow all the time. */
const freePagesKept = 1_024
/** With more free pages than this, pages are returned before more entries are deleted. */
const freePagesMax = freePagesKept + 256
/** A small number, so that the time is checked often: each page may have to be read from the disk and moved. */
const shrinkPages = 8
const shrink = `PRAGMA incremental_vacuum(${shrinkPages})`

// Pages that a commit writes for each of these, measured and rounded up.
const pagesPerRange = 1.5
const pagesPerMove = 1.5
const pagesPerTurns = 20
const pagesPerCommit = 16

/**
 * Statements that delete what belongs to entries, in the same transaction, by workspace and range. Data outside the
 * database is noted in a table here, and deleted after the commit; a note and its entry never exist together. (This
 * commit is not flushed, so notes may be processed only after a commit that is.)
 */
function beforeEntries(sql: Sql): readonly string[] {
  // Few jobs leave outputs, and finding them takes a sixth of the time for the entries.
  return sql.get(selectJobOutput) ? [deleteJobOutputs, ...retained] : retained
}

const retained = [...retainRunFiles, deleteLogNotes]
const selectJobOutput = 'SELECT 1 FROM job_outputs LIMIT 1'
const deleteJobOutputs = `
  DELETE FROM job_outputs WHERE execution_id IN (
    SELECT execution_id FROM logs WHERE workspace = ? AND sequence BETWEEN ? AND ? AND created_at NOT NULL)`
const selectOldest = `
  SELECT first_sequence, last_sequence, iif(encoding = 0, octet_length(content), ${chunkCharsMax}) AS bytes FROM log_chunks
  WHERE first_sequence > ? ORDER BY first_sequence`
const deleteEntries = 'DELETE FROM logs WHERE workspace = ? AND sequence BETWEEN ? AND ?'
const deleteChunks = 'DELETE FROM log_chunks WHERE first_sequence BETWEEN ? AND ?'
const writeDeletedTo =
  "INSERT INTO marks (name, value) VALUES ('deleted', ?) ON CONFLICT DO UPDATE SET value = max(value, excluded.value)"

type Pages = { total: number; free: number }

function pagesOf(sql: Sql): Pages {
  const { page_count: total } = sql.get<{ page_count: number }>('PRAGMA page_count')!
  const { freelist_count: free } = sql.get<{ freelist_count: number }>('PRAGMA freelist_count')!
  return { total, free }
}

/** Chat messages are deleted with the entries of their time; when there is no entry left to delete, at any time. */
function turnsGoneBefore(
  { before, bytesMax }: RetentionBounds,
  goneTo: number,
  pages: Pages,
  usedBytes: number,
): number {
  if (usedBytes > bytesMax && pages.free < freePagesMax) return Number.MAX_SAFE_INTEGER
  return timeOfSequence(Math.max(before, goneTo))
}

/** A range of neighbouring chunks, by sequence. */
type Chunks = { first: number; last: number }

/** As many chunks as make one compacted chunk; only the first one if any of them has a pending delivery. */
function oldestBeyond(
  sql: Sql,
  { before, bytesMax }: RetentionBounds,
  heldTo: number,
  usedBytes: number,
  holds: boolean,
): (Chunks & { isHeld: boolean }) | undefined {
  const isBeyond = ({ last_sequence }: SqlRange) => last_sequence < before || usedBytes > bytesMax
  const oldest = sql.get<SqlRange>(`${selectOldest} LIMIT 1`, heldTo)
  if (!oldest || !isBeyond(oldest)) return undefined
  const first = oldest.first_sequence
  let last = oldest.last_sequence
  let { bytes } = oldest
  for (const chunk of bytes < chunkCharsMax ? sql.all<SqlRange>(`${selectOldest} LIMIT 32`, last) : []) {
    bytes += chunk.bytes
    if (bytes > chunkCharsMax || !isBeyond(chunk)) break
    last = chunk.last_sequence
  }
  const isPending = (to: number) => holds && hasPending(sql, first, to)
  if (!isPending(last)) return { first, last, isHeld: false }
  return { first, last: oldest.last_sequence, isHeld: isPending(oldest.last_sequence) }
}

type SqlRange = { first_sequence: number; last_sequence: number; bytes: number }

/** All workspaces with entries, when a chunk cannot be read: a damaged chunk must not stay for ever. */
function workspacesOf(sql: Sql, { first, last }: Chunks): Iterable<number> {
  try {
    return new Set(sql.all<SqlChunk>(selectTexts, first, last).flatMap((chunk) => [...workspacesIn(chunkText(chunk))]))
  } catch {
    return sql.all<{ workspace: number }>(selectAllWorkspaces).map(({ workspace }) => workspace)
  }
}

function leftOf(sql: Sql, bounds: RetentionBounds, heldTo: number, usedBytes: number): number {
  const oldest = sql.get<{ first_sequence: number }>(selectFirst, heldTo)?.first_sequence
  if (oldest === undefined) return 0
  const newest = sql.get<{ first_sequence: number }>(selectLast)!.first_sequence
  return bytesLeft(bounds, { oldest, newest }, usedBytes)
}

const selectTexts =
  'SELECT encoding, content FROM log_chunks WHERE first_sequence BETWEEN ? AND ? ORDER BY first_sequence'
const selectFirst = 'SELECT first_sequence FROM log_chunks WHERE first_sequence > ? ORDER BY first_sequence LIMIT 1'
const selectLast = 'SELECT first_sequence FROM log_chunks ORDER BY first_sequence DESC LIMIT 1'

/** Querying this many workspaces takes less time than reading a chunk. */
const workspacesMax = 16
/** Goes from one workspace to the next instead of reading all rows. */
const selectAllWorkspaces = `
  WITH RECURSIVE found (workspace) AS (
    SELECT min(workspace) FROM logs
    UNION ALL
    SELECT (SELECT min(workspace) FROM logs l WHERE l.workspace > f.workspace) FROM found f WHERE f.workspace NOT NULL
  )
  SELECT workspace FROM found WHERE workspace NOT NULL`
const selectWorkspaces = `${selectAllWorkspaces} LIMIT ${workspacesMax}`
