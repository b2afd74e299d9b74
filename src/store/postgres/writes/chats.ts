import type { ChatWrite } from '../../../domain/run/write.ts'
import { rowsOf, type Sql, storable } from '../connection.ts'

/** Skips the exchanges of deleted workflows. */
export async function keepTurns(sql: Sql, turns: readonly ChatWrite[]): Promise<void> {
  if (turns.length === 0) return
  const rows = turns.map((turn, index) => ({ ...turn, index, conversationId: storable(turn.conversationId) }))
  await sql.run(insertTurns, rowsOf(rows))
  const conversations = new Map(rows.map((row) => [JSON.stringify([row.workflowId, row.conversationId]), row]))
  const kept = [...conversations.values()].map(({ workflowId, conversationId, kept }) => ({
    workflowId,
    conversationId,
    kept,
  }))
  await sql.run(deleteOlder, rowsOf(kept))
}

/** The latest exchanges of a conversation, oldest first. */
export async function listTurns(
  sql: Sql,
  workflowId: string,
  conversationId: string,
  limit: number,
): Promise<Uint8Array[]> {
  const turns = await sql.all<{ content: Uint8Array }>(selectTurns, workflowId, storable(conversationId), limit)
  return turns.map(({ content }) => content).reverse()
}

/** Deletes some exchanges before a time, oldest first, and returns how many. */
export function forgetTurns(sql: Sql, before: number): Promise<number> {
  return sql.run(deleteTurns, before)
}

// The lock makes a deletion of the workflow come before or after, never in between.
const insertTurns = `
  INSERT INTO millrace.chat_turns (workflow, conversation, at, content)
  SELECT f.number, r."conversationId", r.at, decode(r.content, 'base64')
  FROM json_to_recordset($1::text::json)
      AS r (index integer, "workflowId" text, "conversationId" text, at bigint, content text)
    JOIN millrace.workflows f ON f.id = r."workflowId" AND f.deleted_at IS NULL
  ORDER BY r.index FOR SHARE OF f`
const deleteOlder = `
  DELETE FROM millrace.chat_turns t
  USING json_to_recordset($1::text::json) AS r ("workflowId" text, "conversationId" text, kept integer)
    JOIN millrace.workflows f ON f.id = r."workflowId"
  WHERE t.workflow = f.number AND t.conversation = r."conversationId" AND t.number <= (
    SELECT o.number FROM millrace.chat_turns o WHERE o.workflow = f.number AND o.conversation = r."conversationId"
    ORDER BY o.number DESC OFFSET r.kept LIMIT 1)`
const selectTurns = `
  SELECT t.content FROM millrace.chat_turns t JOIN millrace.workflows f ON f.number = t.workflow
  WHERE f.id = $1 AND t.conversation = $2 ORDER BY t.number DESC LIMIT $3::integer`
const deleteTurns = `
  DELETE FROM millrace.chat_turns WHERE (workflow, conversation, number) IN (
    SELECT workflow, conversation, number FROM millrace.chat_turns WHERE at < $1::bigint
    ORDER BY at LIMIT 100 FOR UPDATE SKIP LOCKED)`
