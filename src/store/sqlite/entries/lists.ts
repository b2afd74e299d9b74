import { type EntryPage, type EntryQuery, type EntryRow, keyRange, pageLength } from '../../../domain/entry/entry.ts'
import type { EntryKey } from '../../entries/entry-store.ts'
import type { Sql } from '../connection.ts'
import { bytesOf, scopeOf } from './places.ts'

export function readEntries(sql: Sql, keys: readonly EntryKey[]): (EntryRow | null)[] {
  return keys.map(({ key, now, ...scope }) => {
    const place = scopeOf(sql, scope)
    if (!place) return null
    const { workspace, workflow } = place
    return sql.get<EntryRow>(`${select} AND key = ?`, workspace, workflow, now, key) ?? null
  })
}

/** By key. */
export function listEntries(sql: Sql, query: EntryQuery): EntryPage {
  const place = scopeOf(sql, query)
  const { first, end } = keyRange(query)
  const range = [place?.workspace ?? -1, place?.workflow ?? 0, query.now, first, ...(end === undefined ? [] : [end])]
  // Literal conditions, so that SQLite reads only this range of the index.
  const keys = `key >= ? ${end === undefined ? '' : 'AND key < ?'}`
  const found = sql.all<{ key: string; bytes: number }>(
    `SELECT key, bytes ${fromScope} AND ${keys} ORDER BY key LIMIT ?`,
    ...[...range, query.limit + 1],
  )
  const length = pageLength(found, query)
  const last = found[length - 1]
  if (!last) return { entries: [], isComplete: true }
  const entries = sql.all<EntryRow>(`${select} AND ${keys} AND key <= ? ORDER BY key`, ...[...range, last.key])
  return { entries, isComplete: length === found.length }
}

export function getEntryBytes(sql: Sql, workspaceId: string): number {
  const place = scopeOf(sql, { workspaceId, workflowId: null })
  return place ? bytesOf(sql, place.workspace) : 0
}

const fromScope = 'FROM store_entries WHERE workspace = ? AND workflow = ? AND (expires_at IS NULL OR expires_at > ?)'
const select = `SELECT key, value, updated_at AS updatedAt, expires_at AS expiresAt ${fromScope}`
