import { timeOfSequence } from '../../domain/ids.ts'
import type { RetentionBounds } from '../store.ts'
import { forgetTurns } from './chats.ts'
import { chunkCharsMax, chunkText, type SqlChunk, workspacesIn } from './chunk.ts'
import type { Sql } from './connection.ts'
import { hasPending, retainDeliveries } from './deliveries.ts'
import { retainRunFiles } from './run-files.ts'
import { deleteZoneMaps, hasGoneZoneMaps } from './zone-maps.ts'

/** What one step did. `walBytes`: what its commit adds to the WAL, an estimate. */
export type Swept = {
  entries: number
  bytesFreed: number
  usedBytes: number
  walBytes: number
  heldTo: number
  leftBytes: number
  done: boolean
}

/**
 * Deletes the oldest log entries while they are beyond the bounds, and gives the pages that were theirs back to the
 * disk: some chunks or some pages at a time, until `workMs` are over. Nothing is left to do when it says `done`.
 *
 * Entries go by whole chunks, so many at once as make one that is packed: runs that ended alone have chunks of their
 * own. In each workspace that has entries there they are one range of neighbouring rows: 2 µs an entry in all. Where
 * workspaces are many, the chunks' own texts say which. Pages are given back as they become free and not at the end,
 * because taking a page off the end of the file searches the list of free ones.
 *
 * `holds`: whether a chunk stays while a delivery of one of its entries pends. The younger ones behind it go all the
 * same.
 */
export function retainLogs(sql: Sql, bounds: RetentionBounds, monotonic: () => number, holds = true): Swept {
  const endAt = monotonic() + bounds.workMs
  const { page_size: pageBytes } = sql.get<{ page_size: number }>('PRAGMA page_size')!
  const before = pagesOf(sql)
  let pages = before
  let entries = 0
  let writes = 0
  let goneTo = 0
  let heldTo = bounds.after ?? 0
  // Zones are taken off the beginning only: what is held has to stay in one.
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
      // Each step of this statement gives one page back, so it has to be stepped to its end.
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
  if (goneTo > 0) sql.run(writeDeletedTo, goneTo)
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

/** The sequence up to which entries were deleted; 0 when none were. */
export function deletedTo(sql: Sql): number {
  return sql.get<{ value: number }>("SELECT value FROM marks WHERE name = 'deleted'")?.value ?? 0
}

/** Free pages that stay for the next entries: 4 MB, so that a full file does not shrink and grow all the time. */
const freePagesKept = 1_024
/** Beyond these, pages are given back before more become free. */
const freePagesMax = freePagesKept + 256
/** So few that it looks at the time soon again: each may have to be read from the disk, and moved. */
const shrinkPages = 8
const shrink = `PRAGMA incremental_vacuum(${shrinkPages})`

// Pages that a commit writes for each of these, by measurement, rounded up.
const pagesPerRange = 1.5
const pagesPerMove = 1.5
const pagesPerTurns = 20
const pagesPerCommit = 16

/**
 * What goes with entries, in the same transaction, by their workspace and range. What lies outside the database can be
 * noted here in a table of its own, to be deleted after the commit and until it is gone: a note and its entry are never
 * there both. (This commit is not flushed: whoever follows a note does so after one that is.)
 */
function beforeEntries(sql: Sql): readonly string[] {
  // Few jobs leave any, and to find theirs takes a sixth of what the entries take.
  return sql.get(selectJobOutput) ? [deleteJobOutputs, ...retainRunFiles] : retainRunFiles
}

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

/** What was said in chats goes with the entries of its time; when no entry is left to go, at whatever time. */
function turnsGoneBefore(
  { before, bytesMax }: RetentionBounds,
  goneTo: number,
  pages: Pages,
  usedBytes: number,
): number {
  if (usedBytes > bytesMax && pages.free < freePagesMax) return Number.MAX_SAFE_INTEGER
  return timeOfSequence(Math.max(before, goneTo))
}

/** Chunks that are neighbours, by their sequences. */
type Chunks = { first: number; last: number }

/** As many chunks as make one that is packed, or the first of them, if a delivery of any of them pends. */
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

/** All that have entries, when a chunk cannot be read: a damaged one must not stay for ever. */
function workspacesOf(sql: Sql, { first, last }: Chunks): Iterable<number> {
  try {
    return new Set(sql.all<SqlChunk>(selectTexts, first, last).flatMap((chunk) => [...workspacesIn(chunkText(chunk))]))
  } catch {
    return sql.all<{ workspace: number }>(selectAllWorkspaces).map(({ workspace }) => workspace)
  }
}

/** How much is still to go, an estimate: by the time it was recorded, if every time had as much. */
function leftOf(sql: Sql, { before, bytesMax }: RetentionBounds, heldTo: number, usedBytes: number): number {
  const oldest = sql.get<{ first_sequence: number }>(selectFirst, heldTo)?.first_sequence
  if (oldest === undefined) return 0
  const newest = sql.get<{ first_sequence: number }>(selectLast)!.first_sequence
  const tooOld = Math.min(Math.max((before - oldest) / Math.max(newest - oldest, 1), 0), 1)
  return Math.max(usedBytes - bytesMax, usedBytes * tooOld, 0)
}

const selectTexts =
  'SELECT encoding, content FROM log_chunks WHERE first_sequence BETWEEN ? AND ? ORDER BY first_sequence'
const selectFirst = 'SELECT first_sequence FROM log_chunks WHERE first_sequence > ? ORDER BY first_sequence LIMIT 1'
const selectLast = 'SELECT first_sequence FROM log_chunks ORDER BY first_sequence DESC LIMIT 1'

/** To ask each of so many for its entries takes less than to read a chunk. */
const workspacesMax = 16
/** From each workspace to the next one, instead of along all of their rows. */
const selectAllWorkspaces = `
  WITH RECURSIVE found (workspace) AS (
    SELECT min(workspace) FROM logs
    UNION ALL
    SELECT (SELECT min(workspace) FROM logs l WHERE l.workspace > f.workspace) FROM found f WHERE f.workspace NOT NULL
  )
  SELECT workspace FROM found WHERE workspace NOT NULL`
const selectWorkspaces = `${selectAllWorkspaces} LIMIT ${workspacesMax}`
