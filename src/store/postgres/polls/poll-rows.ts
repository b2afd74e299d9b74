import {
  type NewPoll,
  type PollKind,
  type PollNote,
  type PollPlace,
  type PollRow,
  pollKinds,
} from '../../../domain/poll/poll.ts'
import type { ScheduleRule } from '../../../domain/schedule/schedule.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'

type Registering = { workflow: number; version: number; polls: readonly NewPoll[] }

/** Registers the polls of an active version. Those that poll the same thing as before keep what they remember. */
export async function registerPolls(sql: Sql, { workflow, version, polls }: Registering): Promise<void> {
  const before = await sql.all<Known>(
    'SELECT number, block, kind, identity FROM millrace.polls WHERE workflow = $1 FOR UPDATE',
    workflow,
  )
  const wanted = polls.map((poll) => ({
    ...poll,
    block: storable(poll.blockId),
    kindNumber: pollKinds.indexOf(poll.kind),
  }))
  const isSame = (known: Known, { block, kindNumber, identity }: (typeof wanted)[number]) =>
    known.block === block && known.kind === kindNumber && known.identity === identity
  const gone = before.filter((known) => !wanted.some((poll) => isSame(known, poll))).map(({ number }) => number)
  if (gone.length > 0) {
    await sql.run('DELETE FROM millrace.poll_items WHERE poll = ANY($1::bigint[])', listOf(gone))
    await sql.run('DELETE FROM millrace.polls WHERE number = ANY($1::bigint[])', listOf(gone))
  }
  for (const poll of wanted) {
    const rule = poll.rule && JSON.stringify(poll.rule)
    const known = before.find((each) => isSame(each, poll))
    if (known) {
      await sql.run(updatePoll, version, rule, poll.firstAt, poll.dueAt, known.number)
    } else {
      await sql.run(insertPoll, workflow, poll.block, poll.kindNumber, poll.identity, version, rule, poll.firstAt)
    }
  }
}

type Known = { number: number; block: string; kind: number; identity: string }

const updatePoll = `
  UPDATE millrace.polls SET version = $1::integer, rule = $2, revision = revision + 1,
    due_at = CASE WHEN polled_at IS NULL THEN $3::bigint WHEN rule IS NOT DISTINCT FROM $2 THEN due_at
      ELSE $4::bigint END
  WHERE number = $5::bigint`

const insertPoll = `
  INSERT INTO millrace.polls (workflow, block, kind, identity, version, rule, due_at, revision, failures, started)
  VALUES ($1, $2, $3::smallint, $4, $5::integer, $6, $7::bigint, 0, 0, 0)`

export async function listDuePolls(
  sql: Sql,
  limit: number,
  after?: Pick<PollRow, 'dueAt' | 'number'>,
): Promise<PollRow[]> {
  const rows = after
    ? await sql.all<SqlPoll>(
        `${selectDue} AND (p.due_at, p.number) > ($2::bigint, $3::bigint) ${inDueOrder}`,
        ...[limit, after.dueAt, after.number],
      )
    : await sql.all<SqlPoll>(`${selectDue} ${inDueOrder}`, limit)
  return rows.map(pollOf)
}

export async function listPollsOfKind(sql: Sql, kind: PollKind, limit: number, after = 0): Promise<PollRow[]> {
  const rows = await sql.all<SqlPoll>(
    `${selectPolls} WHERE p.kind = $1::smallint AND p.number > $2::bigint ORDER BY p.number LIMIT $3::bigint`,
    ...[pollKinds.indexOf(kind), after, limit],
  )
  return rows.map(pollOf)
}

export async function listPolls(sql: Sql, workflowId: string): Promise<PollRow[]> {
  const rows = await sql.all<SqlPoll>(`${selectPolls} WHERE f.id = $1 ORDER BY p.number`, storable(workflowId))
  return rows.map(pollOf)
}

export async function makePollDue(sql: Sql, workflowId: string, blockId: string, at: number): Promise<boolean> {
  const changed = await sql.run(
    `UPDATE millrace.polls SET due_at = $1::bigint, revision = revision + 1
     WHERE workflow = (SELECT number FROM millrace.workflows WHERE id = $2) AND block = $3 AND rule IS NOT NULL`,
    ...[at, storable(workflowId), storable(blockId)],
  )
  return changed > 0
}

export async function findSeen(
  sql: Sql,
  { number, revision }: PollPlace,
  hashes: readonly string[],
): Promise<string[] | undefined> {
  const rows = await sql.all<{ hash: string | null }>(
    `SELECT i.hash FROM millrace.polls p
       LEFT JOIN millrace.poll_items i ON i.poll = p.number AND i.hash = ANY($3::text[])
     WHERE p.number = $1::bigint AND p.revision = $2::bigint`,
    ...[number, revision, listOf(hashes)],
  )
  return rows.length === 0 ? undefined : rows.flatMap(({ hash }) => hash ?? [])
}

export async function notePolls(sql: Sql, notes: readonly PollNote[]): Promise<void> {
  // Sorted, so that two processes that write the same rows wait for each other in one direction only.
  const sorted = notes.toSorted((one, other) => one.number - other.number)
  await sql.run(noteRows, rowsOf(sorted))
}

const noteRows = `
  UPDATE millrace.polls p SET due_at = r."dueAt", state = r.state, polled_at = r."polledAt",
    succeeded_at = r."succeededAt", failures = r.failures, error = r.error
  FROM json_to_recordset($1::text::json) AS r (number bigint, revision bigint, "dueAt" bigint, state text,
      "polledAt" bigint, "succeededAt" bigint, failures integer, error text)
  WHERE p.number = r.number AND p.revision = r.revision`

type SqlPoll = Omit<PollRow, 'rule' | 'kind'> & { rule: string | null; kind: number }

const selectPolls = `
  SELECT p.number, f.id AS "workflowId", w.id AS "workspaceId", w.owner_id AS "ownerId", p.block AS "blockId", p.kind,
    p.version, p.rule, p.due_at AS "dueAt", p.revision, p.state, p.polled_at AS "polledAt",
    p.succeeded_at AS "succeededAt", p.failures, p.error, p.started_at AS "startedAt", p.started
  FROM millrace.polls p JOIN millrace.workflows f ON f.number = p.workflow
  JOIN millrace.workspaces w ON w.number = f.workspace`
const selectDue = `${selectPolls} WHERE p.due_at IS NOT NULL`
const inDueOrder = 'ORDER BY p.due_at, p.number LIMIT $1::bigint'

const pollOf = ({ rule, kind, ...row }: SqlPoll): PollRow => ({
  ...row,
  kind: pollKinds[kind]!,
  rule: rule === null ? null : (JSON.parse(rule) as ScheduleRule),
})
