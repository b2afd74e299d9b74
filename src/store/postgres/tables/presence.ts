import type { DraftNote, EditorPresence, WorkflowPresence } from '../../presence-store.ts'
import { type Sql, storable } from '../connection.ts'

/**
 * Also removes editors of processes that ended without withdrawing them, and notes of workflows that nobody has open.
 * The number of editors is limited by each process, so this reads few rows.
 */
export async function announceEditor(sql: Sql, editor: EditorPresence): Promise<void> {
  await sql.run(deleteNotes)
  await sql.run(
    `INSERT INTO millrace.editors (workflow_id, editor_id, user_id, email, block_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (workflow_id, editor_id)
     DO UPDATE SET email = excluded.email, block_id = excluded.block_id, expires_at = excluded.expires_at`,
    ...[editor.workflowId, editor.editorId, editor.userId, storable(editor.email)],
    ...[editor.blockId === null ? null : storable(editor.blockId), editor.expiresAt],
  )
  // Rows that another process is changing are left to it: processes that lock the same rows in different orders would
  // wait for each other for ever.
  await sql.run(
    `DELETE FROM millrace.editors WHERE (workflow_id, editor_id) IN (
       SELECT workflow_id, editor_id FROM millrace.editors WHERE expires_at <= $1 FOR UPDATE SKIP LOCKED)`,
    editor.expiresAt - keptMs,
  )
}

export async function withdrawEditor(sql: Sql, workflowId: string, editorId: string): Promise<void> {
  await sql.run('DELETE FROM millrace.editors WHERE workflow_id = $1 AND editor_id = $2', workflowId, editorId)
  await sql.run(deleteNotes)
}

const deleteNotes = `
  DELETE FROM millrace.draft_notes WHERE workflow_id IN (
    SELECT workflow_id FROM millrace.draft_notes d
    WHERE NOT EXISTS (SELECT FROM millrace.editors e WHERE e.workflow_id = d.workflow_id) FOR UPDATE SKIP LOCKED)`

export async function noteDraft(sql: Sql, { workflowId, revision, savedAt, savedBy }: DraftNote): Promise<void> {
  await sql.run(
    `INSERT INTO millrace.draft_notes AS d (workflow_id, revision, saved_at, saved_by)
     SELECT $1, $2::bigint, $3::bigint, $4
     WHERE EXISTS (SELECT FROM millrace.editors WHERE workflow_id = $1)
     ON CONFLICT (workflow_id)
     DO UPDATE SET revision = excluded.revision, saved_at = excluded.saved_at, saved_by = excluded.saved_by
     WHERE d.revision < excluded.revision`,
    ...[workflowId, revision, savedAt, savedBy],
  )
}

export async function readPresence(sql: Sql, workflowId: string, now: number): Promise<WorkflowPresence> {
  const rows = await sql.all<EditorPresence & { [Key in keyof SqlNote]: SqlNote[Key] | null }>(
    `SELECT e.workflow_id AS "workflowId", e.editor_id AS "editorId", e.user_id AS "userId", e.email,
       e.block_id AS "blockId", e.expires_at AS "expiresAt",
       d.revision, d.saved_at AS "savedAt", d.saved_by AS "savedBy"
     FROM millrace.editors e LEFT JOIN millrace.draft_notes d ON d.workflow_id = e.workflow_id
     WHERE e.workflow_id = $1 AND e.expires_at > $2 ORDER BY e.number`,
    ...[workflowId, now],
  )
  const [first] = rows
  return {
    editors: rows.map(({ revision: _, savedAt: _savedAt, savedBy: _savedBy, ...editor }) => editor),
    draft:
      first && first.revision !== null && first.savedAt !== null
        ? { workflowId, revision: first.revision, savedAt: first.savedAt, savedBy: first.savedBy }
        : null,
  }
}

type SqlNote = Omit<DraftNote, 'workflowId'>

/** How long an editor's row is kept after it has expired, which does not depend on the clock of one process. */
const keptMs = 3_600_000
