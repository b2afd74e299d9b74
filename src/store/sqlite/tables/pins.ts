import { pinsBytesMax } from '../../../domain/workflow/pin.ts'
import { pinsTooLarge, workflowNotFound } from '../../errors/workflow-errors.ts'
import type { NewPin, PinRow } from '../../workflow-store.ts'
import type { Sql } from '../connection.ts'

/** In the order of their blocks' IDs. */
export function listPins(sql: Sql, workflowId: string): PinRow[] {
  return sql.all<PinRow>(
    `SELECT p.block AS blockId, p.content, p.updated_at AS updatedAt
     FROM pins p JOIN workflows f ON f.number = p.workflow WHERE f.id = ? ORDER BY p.block`,
    workflowId,
  )
}

export function setPin(sql: Sql, workflowId: string, { blockId, content, bytes, at }: NewPin): void {
  const workflow = numberOf(sql, workflowId)
  if (workflow === undefined) throw workflowNotFound(workflowId)
  // Not when a block is deleted: the author may undo that.
  sql.run(deletePinsWithoutBlock, workflow)
  sql.run(
    `INSERT INTO pins (workflow, block, bytes, updated_at, content) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (workflow, block)
     DO UPDATE SET bytes = excluded.bytes, updated_at = excluded.updated_at, content = excluded.content`,
    workflow,
    blockId,
    bytes,
    at,
    content,
  )
  // Checked after the write, in the same transaction: an error rolls the write back.
  const sum = sql.get<{ bytes: number }>('SELECT sum(bytes) AS bytes FROM pins WHERE workflow = ?', workflow)
  if ((sum?.bytes ?? 0) > pinsBytesMax) throw pinsTooLarge()
}

export function deletePin(sql: Sql, workflowId: string, blockId: string): boolean {
  const workflow = numberOf(sql, workflowId)
  return workflow !== undefined && sql.run('DELETE FROM pins WHERE workflow = ? AND block = ?', workflow, blockId) > 0
}

/** Removes all pins of a workflow. */
export function deletePins(sql: Sql, workflowId: string): void {
  sql.run('DELETE FROM pins WHERE workflow = (SELECT number FROM workflows WHERE id = ?)', workflowId)
}

/** Gives a new workflow the pins of another one. */
export function copyPins(sql: Sql, from: string, to: string): void {
  sql.run(
    `INSERT INTO pins (workflow, block, bytes, updated_at, content)
     SELECT (SELECT number FROM workflows WHERE id = ?2), p.block, p.bytes, p.updated_at, p.content
     FROM pins p JOIN workflows f ON f.number = p.workflow WHERE f.id = ?1`,
    from,
    to,
  )
}

function numberOf(sql: Sql, workflowId: string): number | undefined {
  return sql.get<{ number: number }>('SELECT number FROM workflows WHERE id = ? AND deleted_at IS NULL', workflowId)
    ?.number
}

const deletePinsWithoutBlock = `
  DELETE FROM pins WHERE workflow = ?1 AND block NOT IN (
    SELECT b.key FROM workflows f, json_each(f.document, '$.blocks') b WHERE f.number = ?1)`
