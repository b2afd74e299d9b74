import type { ChatWrite } from '../../../domain/run/write.ts'
import type { Sql } from '../connection.ts'

/** Does nothing when the workflow was deleted. */
export function keepTurn(sql: Sql, { workflowId, conversationId, at, kept, content }: ChatWrite): void {
  const workflow = sql.get<{ number: number }>(
    'SELECT number FROM workflows WHERE id = ? AND deleted_at IS NULL',
    workflowId,
  )?.number
  if (workflow === undefined) return
  const { latest } = sql.get<{ latest: number | null }>(selectLatest, workflow, conversationId) ?? { latest: null }
  const number = (latest ?? 0) + 1
  sql.run(
    'INSERT INTO chat_turns (workflow, conversation, number, at, content) VALUES (?, ?, ?, ?, ?)',
    workflow,
    conversationId,
    number,
    at,
    content,
  )
  sql.run(
    'DELETE FROM chat_turns WHERE workflow = ? AND conversation = ? AND number <= ?',
    workflow,
    conversationId,
    number - kept,
  )
}

export function listTurns(sql: Sql, workflowId: string, conversationId: string, limit: number): Uint8Array[] {
  return sql
    .all<{ content: Uint8Array }>(selectTurns, workflowId, conversationId, limit)
    .map(({ content }) => content)
    .reverse()
}

/** Deletes some exchanges before a time, oldest first, and returns how many. */
export function forgetTurns(sql: Sql, before: number): number {
  return sql.run(deleteTurns, before)
}

const selectLatest = 'SELECT max(number) AS latest FROM chat_turns WHERE workflow = ? AND conversation = ?'
const selectTurns = `
  SELECT content FROM chat_turns
  WHERE workflow = (SELECT number FROM workflows WHERE id = ?) AND conversation = ? ORDER BY number DESC LIMIT ?`
const deleteTurns = `
  DELETE FROM chat_turns WHERE (workflow, conversation, number) IN (
    SELECT workflow, conversation, number FROM chat_turns WHERE at < ? ORDER BY at LIMIT 100)`
