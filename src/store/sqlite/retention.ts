import { timeOfSequence } from '../../domain/ids.ts'
import type { RetentionBounds } from '../store.ts'
import { forgetTurns } from './chats.ts'
import { chunkText, type SqlChunk, workspacesIn } from './chunk.ts'
import type { Sql } from './connection.ts'
import { hasPending, retainDeliveries } from './deliveries.ts'
import { retainRunFiles } from './run-files.ts'
import { deleteZones } from './zones.ts'

/** What one step did. `walBytes`: what its commit adds to the WAL, an estimate. */
export type Swept = {
  entries: number
  bytesFreed: number
  usedBytes: number
  walBytes: number
  heldTo: number
  done: boolean
}

/**
 * Deletes the oldest log entries while they are beyond the bounds, and gives the pages that were theirs back to the disk:
 * one chunk or some pages at a time, until `workMs` are over. Nothing is left to do when it says `done`.
 *
 * Entries go by whole chunks. A chunk's own text says in which workspaces it has entries, and each of those loses one
 * range of neighbouring rows: 3 µs an entry in all, a third of it for reading the text. Pages are given back as they
 * become free and not at the end, because taking a page off the end of the file searches the list of free ones.
 *
 * `holds`: whether a chunk stays while a delivery of one of its entries pends. The younger ones behind it go all the same.
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
  const touched = new Set<number>()
  let done = false
  do {
    const usedBytes = (pages.total - pages.free) * pageBytes
    const oldest = pages.free < freePagesMax ? oldestBeyond(sql, bounds, heldTo, usedBytes) : undefined
    if (oldest && holds && hasPending(sql, oldest.first_sequence, oldest.last_sequence)) {
      heldTo = oldest.last_sequence
    } else if (oldest) {
      const workspaces = workspacesOf(sql, oldest)
      for (const workspace of workspaces) {
        const range = [workspace, oldest.first_sequence, oldest.last_sequence] as const
        for (const statement of beforeEntries) sql.run(statement, ...range)
        entries += sql.run(deleteEntries, ...range)
        touched.add(workspace)
      }
      for (const statement of retainDeliveries) sql.run(statement, oldest.first_sequence, oldest.last_sequence)
      sql.run(deleteChunk, oldest.first_sequence)
      goneTo = oldest.last_sequence
      if (heldTo === 0) zonesGoneTo = goneTo
      writes += workspaces.size * pagesPerRange
    } else if (forgetTurns(sql, turnsGoneBefore(bounds, goneTo, pages, usedBytes)) > 0) {
      writes += pagesPerTurns
    } else if (pages.free > freePagesKept) {
      // Each step of this statement gives one page back, so it has to be stepped to its end.
      const { statement, pages: given } = shrinking(bounds.pagesMax ?? shrinkPages)
      sql.all(statement)
      writes += given * pagesPerMove
    } else {
      done = true
    }
    pages = pagesOf(sql)
  } while (!done && monotonic() < endAt)
  if (zonesGoneTo > 0) for (const workspace of touched) deleteZones(sql, workspace, zonesGoneTo)
  if (goneTo > 0) sql.run(writeDeletedTo, goneTo)
  return {
    entries,
    bytesFreed: (before.total - pages.total) * pageBytes,
    usedBytes: (pages.total - pages.free) * pageBytes,
    walBytes: (writes + pagesPerCommit) * pageBytes,
    heldTo,
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
const shrinkPages = 32
/** Statements are kept, so there are few: for 32 pages, 16, and so on. */
const shrinks = Array.from({ length: 6 }, (_, halvings) => {
  const pages = shrinkPages / 2 ** halvings
  return { pages, statement: `PRAGMA incremental_vacuum(${pages})` }
})

function shrinking(pagesMax: number): { pages: number; statement: string } {
  return shrinks.find(({ pages }) => pages <= pagesMax) ?? shrinks.at(-1)!
}

// Pages that a commit writes for each of these, by measurement, rounded up.
const pagesPerRange = 1.5
const pagesPerMove = 1.5
const pagesPerTurns = 20
const pagesPerCommit = 16

/**
 * What goes with entries, in the same transaction, by their workspace and range. What lies outside the database can be noted
 * here in a table of its own, to be deleted after the commit and until it is gone: a note and its entry are never there both.
 * (This commit is not flushed: whoever follows a note does so after one that is.)
 */
const beforeEntries: readonly string[] = [
  `DELETE FROM job_outputs WHERE execution_id IN (
     SELECT execution_id FROM logs WHERE workspace = ? AND sequence BETWEEN ? AND ? AND created_at NOT NULL)`,
  ...retainRunFiles,
]
const selectOldest = `
  SELECT first_sequence, last_sequence, encoding, content FROM log_chunks
  WHERE first_sequence > ? ORDER BY first_sequence LIMIT 1`
const deleteEntries = 'DELETE FROM logs WHERE workspace = ? AND sequence BETWEEN ? AND ?'
const deleteChunk = 'DELETE FROM log_chunks WHERE first_sequence = ?'
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

type OldestChunk = SqlChunk & { first_sequence: number; last_sequence: number }

function oldestBeyond(
  sql: Sql,
  { before, bytesMax }: RetentionBounds,
  heldTo: number,
  usedBytes: number,
): OldestChunk | undefined {
  const oldest = sql.get<OldestChunk>(selectOldest, heldTo)
  return oldest && (oldest.last_sequence < before || usedBytes > bytesMax) ? oldest : undefined
}

/** All that have entries, when the chunk cannot be read: a damaged one must not stay for ever. */
function workspacesOf(sql: Sql, chunk: OldestChunk): ReadonlySet<number> {
  try {
    return workspacesIn(chunkText(chunk))
  } catch {
    return new Set(sql.all<{ workspace: number }>(selectWorkspaces).map(({ workspace }) => workspace))
  }
}

/** From each workspace to the next one, instead of along all of their rows. */
const selectWorkspaces = `
  WITH RECURSIVE found (workspace) AS (
    SELECT min(workspace) FROM logs
    UNION ALL
    SELECT (SELECT min(workspace) FROM logs l WHERE l.workspace > f.workspace) FROM found f WHERE f.workspace NOT NULL
  )
  SELECT workspace FROM found WHERE workspace NOT NULL`
