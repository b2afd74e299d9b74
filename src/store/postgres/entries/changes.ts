import type { EntryOutcome, EntryRequest } from '../../../domain/entry/entry.ts'
import {
  type EntryState,
  growthOf,
  onceOf,
  type PlacedRequest,
  type PlannedChanges,
  placeOf,
  planChanges,
  readsValue,
  unknownScope,
} from '../../../domain/entry/plan-changes.ts'
import { expiredAtOnceMax } from '../../entries/entry-store.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'
import { deleteExpired } from './upkeep.ts'

/** Changes of one workspace wait for each other, so that its bytes are exact and no change is lost. */
export async function changeEntries(
  sql: Sql,
  requests: readonly EntryRequest[],
  bytesMax: number,
): Promise<EntryOutcome[]> {
  const outcomes: EntryOutcome[] = requests.map(() => unknownScope)
  const locked = await lockWorkspaces(sql, requests)
  if (locked.length === 0) return outcomes
  const bytes = await makeRoom(sql, requests, locked, bytesMax)
  const before = new Map(bytes)
  const { placed, ...state } = await readState(sql, requests)
  const planned = planChanges(placed, { ...state, bytes }, bytesMax)
  for (const [at, { index }] of placed.entries()) outcomes[index] = planned.outcomes[at]!
  await write(sql, planned, before, bytes)
  return outcomes
}

type Placed = PlacedRequest & { index: number }
type Locked = { id: string; number: number; bytes: number }

/** Locks the bytes of all workspaces, in one order. */
async function lockWorkspaces(sql: Sql, requests: readonly EntryRequest[]): Promise<Locked[]> {
  const ids = [...new Set(requests.map(({ workspaceId }) => storable(workspaceId)))]
  const locked = await sql.all<Locked>(lock, listOf(ids))
  if (locked.length === ids.length) return locked
  await sql.run(
    `INSERT INTO millrace.store_usage (workspace, bytes)
     SELECT number, 0 FROM millrace.workspaces WHERE id = ANY($1::text[]) ORDER BY number ON CONFLICT DO NOTHING`,
    listOf(ids),
  )
  return await sql.all<Locked>(lock, listOf(ids))
}

const lock = `
  SELECT w.id, w.number, u.bytes
  FROM millrace.store_usage u JOIN millrace.workspaces w ON w.number = u.workspace
  WHERE w.id = ANY($1::text[]) ORDER BY w.number FOR UPDATE OF u`

/** Deletes expired entries where there may not be enough room. Returns the bytes of each workspace, by its number. */
async function makeRoom(
  sql: Sql,
  requests: readonly EntryRequest[],
  locked: readonly Locked[],
  bytesMax: number,
): Promise<Map<number, number>> {
  const bytes = new Map(locked.map(({ number, bytes }) => [number, bytes]))
  const numbers = new Map(locked.map(({ id, number }) => [id, number]))
  const placed = requests.flatMap((request) => {
    const workspace = numbers.get(request.workspaceId)
    return workspace === undefined ? [] : [{ ...request, workspace, workflow: 0 }]
  })
  for (const [workspace, growth] of growthOf(placed)) {
    const used = bytes.get(workspace) ?? 0
    if (used + growth <= bytesMax) continue
    const { freed } = await deleteExpired(sql, workspace, requests[0]!.now, expiredAtOnceMax)
    bytes.set(workspace, used - freed)
  }
  return bytes
}

type StateRow = Pick<Placed, 'index' | 'workspace' | 'workflow'> & {
  bytes: number | null
  value: string
  expiresAt: number | null
  found: boolean | null
  sum: number | null
}

/**
 * The requests whose workflow or workspace exists, their entries, and the changes that were made before: in one
 * statement, because each further one would be another round trip while the workspace is locked. Also finds deleted
 * workflows: their accepted runs still run.
 */
async function readState(
  sql: Sql,
  requests: readonly EntryRequest[],
): Promise<Omit<EntryState, 'bytes'> & { placed: Placed[] }> {
  const reading = new Set(requests.filter(({ change }) => readsValue(change)).map(({ key }) => key))
  const rows = requests.map(({ workspaceId, workflowId, key, once }, index) => ({
    ...{ index, workspaceId: storable(workspaceId), key: storable(key), reads: reading.has(key) },
    workflowId: workflowId === null ? null : storable(workflowId),
    ...once,
  }))
  const found = await sql.all<StateRow>(selectState, rowsOf(rows))
  const state: Omit<EntryState, 'bytes'> = { entries: new Map(), done: new Map() }
  const placed = found.map(({ index, workspace, workflow, bytes, value, expiresAt, found, sum }) => {
    const request: Placed = { ...requests[index]!, index, workspace, workflow }
    if (bytes !== null) state.entries.set(placeOf(request), { bytes, value, expiresAt })
    if (found !== null && request.once) state.done.set(onceOf(request.once), { found, number: sum })
    return request
  })
  return { ...state, placed }
}

const selectState = `
  SELECT r.index, w.number AS workspace, coalesce(f.number, 0) AS workflow, e.bytes,
    CASE WHEN r.reads THEN e.value ELSE '' END AS value, e.expires_at AS "expiresAt", c.found, c.sum
  FROM json_to_recordset($1::text::json) AS r (index integer, "workspaceId" text, "workflowId" text, key text,
      reads boolean, "executionId" text, operation text)
    JOIN millrace.workspaces w ON w.id = r."workspaceId"
    LEFT JOIN millrace.workflows f ON f.id = r."workflowId" AND f.workspace = w.number
    LEFT JOIN millrace.store_entries e ON e.workspace = w.number AND e.workflow = coalesce(f.number, 0)
      AND e.key = r.key
    LEFT JOIN millrace.store_changes c ON c.execution_id = r."executionId" AND c.operation = r.operation
  WHERE r."workflowId" IS NULL OR f.number IS NOT NULL ORDER BY r.index`

/** All rows in one statement: each further one would be another round trip while the workspace is locked. */
async function write(
  sql: Sql,
  { writes, done }: PlannedChanges,
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
): Promise<void> {
  if (writes.length === 0) return
  const usage = Array.from(after, ([workspace, bytes]) => ({ workspace, bytes })).filter(
    ({ workspace, bytes }) => bytes !== before.get(workspace),
  )
  const put = writes.flatMap(({ entry, ...place }) => (entry ? [{ ...place, ...entry }] : []))
  const gone = writes.filter(({ entry }) => entry === null)
  await sql.run(writeAll, rowsOf(put), rowsOf(gone), rowsOf(done), rowsOf(usage))
}

const writeAll = `
  WITH put AS (
    INSERT INTO millrace.store_entries AS e (workspace, workflow, key, value, bytes, updated_at, expires_at)
    SELECT * FROM json_to_recordset($1::text::json) AS r
      (workspace integer, workflow integer, key text, value text, bytes integer, "updatedAt" bigint, "expiresAt" bigint)
    ON CONFLICT (workspace, workflow, key) DO UPDATE SET value = excluded.value, bytes = excluded.bytes,
      updated_at = excluded.updated_at, expires_at = excluded.expires_at
  ), gone AS (
    DELETE FROM millrace.store_entries e
    USING json_to_recordset($2::text::json) AS r (workspace integer, workflow integer, key text)
    WHERE e.workspace = r.workspace AND e.workflow = r.workflow AND e.key = r.key
  ), done AS (
    INSERT INTO millrace.store_changes (execution_id, operation, found, sum, at)
    SELECT * FROM json_to_recordset($3::text::json) AS r
      ("executionId" text, operation text, found boolean, number double precision, at bigint)
  )
  UPDATE millrace.store_usage u SET bytes = r.bytes
  FROM json_to_recordset($4::text::json) AS r (workspace integer, bytes bigint) WHERE u.workspace = r.workspace`
