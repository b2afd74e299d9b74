import type { EntryOutcome, EntryRequest } from '../../../domain/entry/entry.ts'
import {
  type DoneChange,
  type EntryState,
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
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'
import { deleteExpired } from './upkeep.ts'

/** Changes of one workspace wait for each other, so that its bytes are exact and no change is lost. */
export async function changeEntries(
  sql: Sql,
  requests: readonly EntryRequest[],
  bytesMax: number,
): Promise<EntryOutcome[]> {
  const outcomes: EntryOutcome[] = requests.map(() => unknownScope)
  const bytes = await lockWorkspaces(sql, requests)
  const placed = await placesOf(sql, requests, bytes)
  if (placed.length === 0) return outcomes
  await makeRoom(sql, placed, bytes, bytesMax)
  const before = new Map(bytes)
  const planned = planChanges(placed, await stateOf(sql, placed, bytes), bytesMax)
  for (const [at, { index }] of placed.entries()) outcomes[index] = planned.outcomes[at]!
  await write(sql, planned, before, bytes)
  return outcomes
}

type Placed = PlacedRequest & { index: number }
type Locked = { id: string; number: number; bytes: number }

/** Locks the bytes of all workspaces, in one order, and returns them by the number of the workspace. */
async function lockWorkspaces(sql: Sql, requests: readonly EntryRequest[]): Promise<Map<number, number>> {
  const ids = [...new Set(requests.map(({ workspaceId }) => storable(workspaceId)))]
  let locked = await sql.all<Locked>(lock, listOf(ids))
  if (locked.length < ids.length) {
    await sql.run(
      `INSERT INTO millrace.store_usage (workspace, bytes)
       SELECT number, 0 FROM millrace.workspaces WHERE id = ANY($1::text[]) ORDER BY number ON CONFLICT DO NOTHING`,
      listOf(ids),
    )
    locked = await sql.all<Locked>(lock, listOf(ids))
  }
  return new Map(locked.map(({ number, bytes }) => [number, bytes]))
}

const lock = `
  SELECT w.id, w.number, u.bytes
  FROM millrace.store_usage u JOIN millrace.workspaces w ON w.number = u.workspace
  WHERE w.id = ANY($1::text[]) ORDER BY w.number FOR UPDATE OF u`

/** Those whose workflow or workspace exists. Also finds deleted workflows: their accepted runs still run. */
async function placesOf(
  sql: Sql,
  requests: readonly EntryRequest[],
  bytes: ReadonlyMap<number, number>,
): Promise<Placed[]> {
  if (bytes.size === 0) return []
  const rows = requests.map(({ workspaceId, workflowId }, index) => ({
    index,
    workspaceId: storable(workspaceId),
    workflowId: workflowId === null ? null : storable(workflowId),
  }))
  const found = await sql.all<{ index: number; workspace: number; workflow: number }>(
    `SELECT r.index, w.number AS workspace, coalesce(f.number, 0) AS workflow
     FROM json_to_recordset($1::text::json) AS r (index integer, "workspaceId" text, "workflowId" text)
       JOIN millrace.workspaces w ON w.id = r."workspaceId"
       LEFT JOIN millrace.workflows f ON f.id = r."workflowId" AND f.workspace = w.number
     WHERE r."workflowId" IS NULL OR f.number IS NOT NULL ORDER BY r.index`,
    rowsOf(rows),
  )
  return found.map(({ index, ...place }) => ({ ...requests[index]!, ...place, index }))
}

async function makeRoom(
  sql: Sql,
  requests: readonly Placed[],
  bytes: Map<number, number>,
  bytesMax: number,
): Promise<void> {
  for (const [workspace, growth] of growthOf(requests)) {
    const used = bytes.get(workspace) ?? 0
    if (used + growth <= bytesMax) continue
    const { freed } = await deleteExpired(sql, workspace, requests[0]!.now, expiredAtOnceMax)
    bytes.set(workspace, used - freed)
  }
}

async function stateOf(sql: Sql, requests: readonly Placed[], bytes: Map<number, number>): Promise<EntryState> {
  const reading = new Set(requests.filter(({ change }) => readsValue(change)).map(placeOf))
  const places = new Map(requests.map((request) => [placeOf(request), request]))
  const rows = Array.from(places, ([place, { workspace, workflow, key }]) => {
    return { workspace, workflow, key, reads: reading.has(place) }
  })
  const kept = await sql.all<KeptEntry & Pick<PlacedRequest, 'workspace' | 'workflow' | 'key'>>(
    `SELECT e.workspace, e.workflow, e.key, CASE WHEN r.reads THEN e.value ELSE '' END AS value, e.bytes,
       e.expires_at AS "expiresAt"
     FROM json_to_recordset($1::text::json) AS r (workspace integer, workflow integer, key text, reads boolean)
       JOIN millrace.store_entries e ON e.workspace = r.workspace AND e.workflow = r.workflow AND e.key = r.key`,
    rowsOf(rows),
  )
  const entries = new Map(kept.map((entry) => [placeOf(entry), entry]))
  return { bytes, entries, done: await doneOf(sql, requests) }
}

async function doneOf(sql: Sql, requests: readonly Placed[]): Promise<Map<string, DoneChange>> {
  const wanted = requests.flatMap(({ once }) => (once ? [once] : []))
  if (wanted.length === 0) return new Map()
  const done = await sql.all<DoneChange & { executionId: string; operation: string }>(
    `SELECT c.execution_id AS "executionId", c.operation, c.found, c.sum AS number
     FROM json_to_recordset($1::text::json) AS r ("executionId" text, operation text)
       JOIN millrace.store_changes c ON c.execution_id = r."executionId" AND c.operation = r.operation`,
    rowsOf(wanted),
  )
  return new Map(done.map((each) => [onceOf(each), each]))
}

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
