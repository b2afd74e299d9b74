import type { EntryOutcome, EntryRequest } from '../../../domain/entry/entry.ts'
import {
  type DoneChange,
  type EntryState,
  type EntryWrite,
  growthOf,
  type KeptEntry,
  onceOf,
  type PlacedRequest,
  type PlannedChanges,
  placeOf,
  planChanges,
  readsValue,
  unknownScope,
} from '../../../domain/entry/plan-changes.ts'
import { expiredAtOnceMax } from '../../entries/entry-store.ts'
import type { Sql } from '../connection.ts'
import { executionKey } from '../tables/rows.ts'
import { bytesOf, scopeOf, setBytes } from './places.ts'
import { deleteExpired } from './upkeep.ts'

export function changeEntries(sql: Sql, requests: readonly EntryRequest[], bytesMax: number): EntryOutcome[] {
  const outcomes: EntryOutcome[] = requests.map(() => unknownScope)
  const placed = requests.flatMap((request, index) => {
    const place = scopeOf(sql, request)
    return place ? [{ ...request, ...place, index }] : []
  })
  const state = stateOf(sql, placed, bytesMax)
  const before = new Map(state.bytes)
  const planned = planChanges(placed, state, bytesMax)
  for (const [at, { index }] of placed.entries()) outcomes[index] = planned.outcomes[at]!
  for (const each of planned.writes) writeEntry(sql, each)
  for (const [workspace, bytes] of state.bytes) {
    if (bytes !== before.get(workspace)) setBytes(sql, workspace, bytes)
  }
  remember(sql, planned.done)
  return outcomes
}

function stateOf(sql: Sql, requests: readonly PlacedRequest[], bytesMax: number): EntryState {
  const state: EntryState = { bytes: new Map(), entries: new Map(), done: new Map() }
  const now = requests[0]?.now ?? 0
  for (const [workspace, growth] of growthOf(requests)) {
    if (bytesOf(sql, workspace) + growth > bytesMax) deleteExpired(sql, workspace, now, expiredAtOnceMax)
  }
  for (const { workspace } of requests) {
    if (!state.bytes.has(workspace)) state.bytes.set(workspace, bytesOf(sql, workspace))
  }
  // An entry is read with its value if one of its changes needs it.
  const reading = new Set(requests.filter(({ change }) => readsValue(change)).map(placeOf))
  for (const request of requests) {
    const place = placeOf(request)
    if (!state.entries.has(place)) {
      const { workspace, workflow, key } = request
      const query = reading.has(place) ? selectWhole : selectFacts
      const kept = sql.get<KeptEntry>(query, workspace, workflow, key)
      if (kept) state.entries.set(place, kept)
    }
    const { once } = request
    if (!once) continue
    const done = sql.get<{ found: number; number: number | null }>(
      'SELECT found, sum AS number FROM store_changes WHERE execution_id = ? AND operation = ?',
      ...[executionKey(once.executionId), once.operation],
    )
    if (done) state.done.set(onceOf(once), { ...done, found: done.found === 1 } satisfies DoneChange)
  }
  return state
}

const fromPlace = 'FROM store_entries WHERE workspace = ? AND workflow = ? AND key = ?'
const selectWhole = `SELECT value, bytes, expires_at AS expiresAt ${fromPlace}`
const selectFacts = `SELECT '' AS value, bytes, expires_at AS expiresAt ${fromPlace}`

function writeEntry(sql: Sql, { workspace, workflow, key, entry }: EntryWrite): void {
  if (entry === null) {
    sql.run('DELETE FROM store_entries WHERE workspace = ? AND workflow = ? AND key = ?', workspace, workflow, key)
    return
  }
  const { value, bytes, updatedAt, expiresAt } = entry
  sql.run(
    `INSERT INTO store_entries (workspace, workflow, key, value, bytes, updated_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, bytes = excluded.bytes, updated_at = excluded.updated_at,
       expires_at = excluded.expires_at`,
    ...[workspace, workflow, key, value, bytes, updatedAt, expiresAt],
  )
}

function remember(sql: Sql, done: PlannedChanges['done']): void {
  for (const { executionId, operation, found, number, at } of done) {
    sql.run(
      'INSERT INTO store_changes (execution_id, operation, found, sum, at) VALUES (?, ?, ?, ?, ?)',
      ...[executionKey(executionId), operation, found ? 1 : 0, number, at],
    )
  }
}
