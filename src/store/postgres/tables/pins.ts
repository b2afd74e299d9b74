import { pinsBytesMax } from '../../../domain/workflow/pin.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import { pinsTooLarge, workflowNotFound } from '../../errors/workflow-errors.ts'
import type { NewPin, PinRow } from '../../workflow-store.ts'
import { listOf, type Sql, storable } from '../connection.ts'

/** In the order of their blocks' IDs. */
export function listPins(sql: Sql, workflowId: string): Promise<PinRow[]> {
  return sql.all<PinRow>(
    `SELECT p.block AS "blockId", p.content, p.updated_at AS "updatedAt"
     FROM millrace.pins p JOIN millrace.workflows f ON f.number = p.workflow WHERE f.id = $1 ORDER BY p.block`,
    workflowId,
  )
}

export async function setPin(sql: Sql, workflowId: string, { blockId, content, bytes, at }: NewPin): Promise<void> {
  const workflow = await sql.get<{ number: number; document: string }>(
    'SELECT number, document FROM millrace.workflows WHERE id = $1 AND deleted_at IS NULL',
    workflowId,
  )
  if (!workflow) throw workflowNotFound(workflowId)
  // Not when a block is deleted: the author may undo that. PostgreSQL's own JSON functions refuse the escape of U+0000.
  const { blocks } = JSON.parse(workflow.document) as WorkflowDocument
  await sql.run(
    'DELETE FROM millrace.pins WHERE workflow = $1 AND block <> ALL ($2::text[])',
    workflow.number,
    listOf(Object.keys(blocks).map(storable)),
  )
  await sql.run(
    `INSERT INTO millrace.pins (workflow, block, bytes, updated_at, content)
     VALUES ($1, $2, $3::bigint, $4::bigint, $5)
     ON CONFLICT (workflow, block)
     DO UPDATE SET bytes = excluded.bytes, updated_at = excluded.updated_at, content = excluded.content`,
    workflow.number,
    storable(blockId),
    bytes,
    at,
    content,
  )
  // Checked after the write, in the same transaction: an error rolls the write back.
  const sum = await sql.get<{ bytes: number }>(
    'SELECT sum(bytes)::bigint AS bytes FROM millrace.pins WHERE workflow = $1',
    workflow.number,
  )
  if ((sum?.bytes ?? 0) > pinsBytesMax) throw pinsTooLarge()
}

export async function deletePin(sql: Sql, workflowId: string, blockId: string): Promise<boolean> {
  const deleted = await sql.run(
    `DELETE FROM millrace.pins
     WHERE workflow = (SELECT number FROM millrace.workflows WHERE id = $1 AND deleted_at IS NULL) AND block = $2`,
    workflowId,
    storable(blockId),
  )
  return deleted > 0
}

/** Removes all pins of a workflow. */
export async function deletePins(sql: Sql, workflowId: string): Promise<void> {
  await sql.run(
    'DELETE FROM millrace.pins WHERE workflow = (SELECT number FROM millrace.workflows WHERE id = $1)',
    workflowId,
  )
}

/** Gives a new workflow the pins of another one. */
export async function copyPins(sql: Sql, from: string, to: string): Promise<void> {
  await sql.run(
    `INSERT INTO millrace.pins (workflow, block, bytes, updated_at, content)
     SELECT (SELECT number FROM millrace.workflows WHERE id = $2), p.block, p.bytes, p.updated_at, p.content
     FROM millrace.pins p JOIN millrace.workflows f ON f.number = p.workflow WHERE f.id = $1`,
    from,
    to,
  )
}
