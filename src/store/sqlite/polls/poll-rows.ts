import {
  type NewPoll,
  type PollCommit,
  type PollKind,
  type PollNote,
  type PollPlace,
  type PollRow,
  pollKinds,
  seenMax,
} from '../../../domain/poll/poll.ts'
import type { ScheduleRule } from '../../../domain/schedule/schedule.ts'
import type { Sql } from '../connection.ts'

type Registering = { workflow: number; version: number; polls: readonly NewPoll[] }

/** Registers the polls of an active version. Those that poll the same thing as before keep what they remember. */
export function registerPolls(sql: Sql, { workflow, version, polls }: Registering): void {
  const kept = new Set<number>()
  const before = sql.all<Known>('SELECT number, block, kind, identity, rule FROM polls WHERE workflow = ?', workflow)
  for (const { blockId, kind, identity, rule, dueAt, firstAt } of polls) {
    const number = pollKinds.indexOf(kind)
    const ruleText = rule && JSON.stringify(rule)
    const known = before.find((each) => each.block === blockId && each.kind === number && each.identity === identity)
    if (known) {
      kept.add(known.number)
      sql.run(
        `UPDATE polls SET version = ?, rule = ?, revision = revision + 1,
           due_at = CASE WHEN polled_at IS NULL THEN ? WHEN rule IS ? THEN due_at ELSE ? END
         WHERE number = ?`,
        ...[version, ruleText, firstAt, ruleText, dueAt, known.number],
      )
      continue
    }
    forget(sql, before.find((each) => each.block === blockId)?.number)
    sql.run(
      `INSERT INTO polls (workflow, block, kind, identity, version, rule, due_at, revision, failures, started)
       VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0)`,
      ...[workflow, blockId, number, identity, version, ruleText, firstAt],
    )
  }
  const blocks = new Set(polls.map(({ blockId }) => blockId))
  for (const { number, block } of before) if (!kept.has(number) && !blocks.has(block)) forget(sql, number)
}

type Known = { number: number; block: string; kind: number; identity: string }

function forget(sql: Sql, number: number | undefined): void {
  if (number === undefined) return
  sql.run('DELETE FROM poll_items WHERE poll = ?', number)
  sql.run('DELETE FROM polls WHERE number = ?', number)
}

export function listDuePolls(sql: Sql, limit: number, after?: Pick<PollRow, 'dueAt' | 'number'>): PollRow[] {
  const rows = after
    ? sql.all<SqlPoll>(
        `${selectDue} AND (p.due_at, p.number) > (?, ?) ORDER BY p.due_at, p.number LIMIT ?`,
        ...[after.dueAt, after.number, limit],
      )
    : sql.all<SqlPoll>(`${selectDue} ORDER BY p.due_at, p.number LIMIT ?`, limit)
  return rows.map(pollOf)
}

export function listPollsOfKind(sql: Sql, kind: PollKind, limit: number, after = 0): PollRow[] {
  return sql
    .all<SqlPoll>(
      `${selectPolls} WHERE p.kind = ? AND p.number > ? ORDER BY p.number LIMIT ?`,
      ...[pollKinds.indexOf(kind), after, limit],
    )
    .map(pollOf)
}

export function listPolls(sql: Sql, workflowId: string): PollRow[] {
  return sql
    .all<SqlPoll>(
      `${selectPolls} WHERE p.workflow = (SELECT number FROM workflows WHERE id = ?) ORDER BY p.number`,
      workflowId,
    )
    .map(pollOf)
}

export function makePollDue(sql: Sql, workflowId: string, blockId: string, at: number): boolean {
  const changed = sql.run(
    `UPDATE polls SET due_at = ?, revision = revision + 1
     WHERE workflow = (SELECT number FROM workflows WHERE id = ?) AND block = ? AND rule IS NOT NULL`,
    ...[at, workflowId, blockId],
  )
  return changed > 0
}

export function findSeen(sql: Sql, { number, revision }: PollPlace, hashes: readonly string[]): string[] | undefined {
  if (!sql.get('SELECT 1 FROM polls WHERE number = ? AND revision = ?', number, revision)) return undefined
  return sql
    .all<{ hash: string }>(
      'SELECT i.hash FROM json_each(?) r CROSS JOIN poll_items i ON i.poll = ? AND i.hash = r.value',
      ...[JSON.stringify(hashes), number],
    )
    .map(({ hash }) => hash)
}

export function notePolls(sql: Sql, notes: readonly PollNote[]): void {
  for (const note of notes) {
    sql.run(
      `UPDATE polls SET due_at = ?, state = ?, polled_at = ?, succeeded_at = ?, failures = ?, error = ?
       WHERE number = ? AND revision = ?`,
      ...[note.dueAt, note.state, note.polledAt, note.succeededAt, note.failures, note.error],
      ...[note.number, note.revision],
    )
  }
}

/** False, and nothing changed, when the poll is no longer as it was read. `count`: the jobs that it starts. */
export function commitPoll(sql: Sql, { number, revision, seen, ...next }: PollCommit, count: number): boolean {
  const changed = sql.run(
    `UPDATE polls SET revision = revision + 1, due_at = ?, state = ?, polled_at = ?, succeeded_at = ?, failures = ?,
       error = ?, started = started + ?, started_at = CASE WHEN ? THEN ? ELSE started_at END
     WHERE number = ? AND revision = ?`,
    ...[next.dueAt, next.state, next.polledAt, next.succeededAt, next.failures, next.error],
    ...[count, count > 0 ? 1 : 0, next.polledAt, number, revision],
  )
  if (changed === 0) return false
  if (seen.length === 0) return true
  const top = sql.get<{ place: number | null }>('SELECT max(place) AS place FROM poll_items WHERE poll = ?', number)
  const start = (top?.place ?? 0) + 1
  sql.run(
    `INSERT INTO poll_items (poll, hash, place) SELECT ?, value, ? + key FROM json_each(?) WHERE true
     ON CONFLICT (poll, hash) DO UPDATE SET place = excluded.place`,
    ...[number, start, JSON.stringify(seen)],
  )
  const keptMax = Math.max(seenMax, seen.length)
  sql.run(
    `DELETE FROM poll_items WHERE poll = ? AND place <=
       (SELECT place FROM poll_items WHERE poll = ? ORDER BY place DESC LIMIT 1 OFFSET ?)`,
    ...[number, number, keptMax],
  )
  return true
}

type SqlPoll = Omit<PollRow, 'rule' | 'kind'> & { rule: string | null; kind: number }

// CROSS JOIN makes SQLite read the tables in this order: first the polls, then their names.
const selectPolls = `
  SELECT p.number, f.id AS workflowId, w.id AS workspaceId, w.owner_id AS ownerId, p.block AS blockId, p.kind,
    p.version, p.rule, p.due_at AS dueAt, p.revision, p.state, p.polled_at AS polledAt,
    p.succeeded_at AS succeededAt, p.failures, p.error, p.started_at AS startedAt, p.started
  FROM polls p CROSS JOIN workflows f ON f.number = p.workflow CROSS JOIN workspaces w ON w.number = f.workspace`
const selectDue = `${selectPolls} WHERE p.due_at IS NOT NULL`

const pollOf = ({ rule, kind, ...row }: SqlPoll): PollRow => ({
  ...row,
  kind: pollKinds[kind]!,
  rule: rule === null ? null : (JSON.parse(rule) as ScheduleRule),
})
