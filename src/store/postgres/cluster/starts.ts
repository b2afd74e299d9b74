import {
  decideStarts,
  type SharedGroup,
  type SharedGroupAnswer,
  type SharedGroupAsk,
} from '../../../domain/run/shared-starts.ts'
import { rowsOf, type Sql, storable } from '../connection.ts'

/**
 * Decides about starts of workflows with limits, for several groups at once. Each group is one row. The first statement
 * locks the rows in a fixed order, so that processes cannot deadlock.
 */
export async function exchangeStarts(sql: Sql, asks: readonly SharedGroupAsk[]): Promise<SharedGroupAnswer[]> {
  const named = asks.map((ask) => ({ ask, workflowId: storable(ask.workflowId), key: storable(ask.key) }))
  const rows = await sql.all<LockedGroup>(lock, rowsOf(named.map(({ workflowId, key }) => ({ workflowId, key }))))
  // Each time was read after its row was locked, so it is never before the time of an earlier decision.
  const now = Math.max(...rows.map((row) => row.now))
  const living = rows[0]?.living ?? []
  const found = new Map(rows.map(({ workflowId, key, starts }) => [`${workflowId} ${key}`, starts ?? undefined]))
  const moment = { owner: sql.owner, living: new Set([...living, sql.owner]), now }
  const decided = named.map(({ ask, workflowId, key }) => {
    const name = `${workflowId} ${key}`
    const { group, answer } = decideStarts(found.get(name), ask, moment)
    found.set(name, group)
    return { workflowId, key, group, answer, windowMs: ask.rate?.windowMs ?? 0 }
  })
  await sql.run(
    save,
    rowsOf(
      decided.map(({ workflowId, key, group, windowMs }) => ({
        ...{ workflowId, key, starts: group ?? null },
        owners: Object.keys(group?.owners ?? {}).map(Number),
        keptMs: windowMs,
      })),
    ),
  )
  return decided.map(({ answer }) => answer)
}

/** Deletes groups whose starts no longer count. */
export async function deleteOldStarts(sql: Sql): Promise<void> {
  await sql.run(deleteOld)
  await sql.run(deleteOldDebounces)
}

type LockedGroup = { workflowId: string; key: string; starts: SharedGroup | null; now: number; living: number[] }

const lock = `
  INSERT INTO millrace.start_groups AS g (workflow_id, key)
  SELECT DISTINCT "workflowId", key FROM json_to_recordset($1::text::json) AS r ("workflowId" text, key text) ORDER BY 1, 2
  ON CONFLICT (workflow_id, key) DO UPDATE SET kept_until = g.kept_until
  RETURNING workflow_id AS "workflowId", key, starts, extract(epoch FROM clock_timestamp())::float8 * 1000 AS now,
    (SELECT coalesce(json_agg(number), '[]') FROM millrace.processes) AS living`

const save = `
  WITH decided AS (
    SELECT * FROM json_to_recordset($1::text::json)
      AS r ("workflowId" text, key text, starts json, owners integer[], "keptMs" bigint)
  ), emptied AS (
    DELETE FROM millrace.start_groups g USING decided r
    WHERE g.workflow_id = r."workflowId" AND g.key = r.key AND r.starts IS NULL
  )
  UPDATE millrace.start_groups g SET starts = r.starts, owners = r.owners,
    kept_until = clock_timestamp() + make_interval(secs => r."keptMs" / 1000.0)
  FROM decided r WHERE g.workflow_id = r."workflowId" AND g.key = r.key AND r.starts IS NOT NULL`

const deleteOldDebounces = `
  DELETE FROM millrace.debounces WHERE (workflow_id, key) IN (
    SELECT workflow_id, key FROM millrace.debounces WHERE owner NOT IN (SELECT number FROM millrace.processes)
    FOR UPDATE SKIP LOCKED)`

const deleteOld = `
  DELETE FROM millrace.start_groups WHERE (workflow_id, key) IN (
    SELECT workflow_id, key FROM millrace.start_groups
    WHERE kept_until < now() AND NOT owners && (SELECT coalesce(array_agg(number), '{}') FROM millrace.processes)
    FOR UPDATE SKIP LOCKED)`
