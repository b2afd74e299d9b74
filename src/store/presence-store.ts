/**
 * The part of the port for people who have the same workflow open. A store that several processes use shares it between
 * them. It is not durable: after a restart, open editors announce themselves again.
 */
export interface PresenceStore {
  /** Announces an open editor, or renews it with its place. It counts until `expiresAt`. */
  announceEditor(editor: EditorPresence): Promise<void>
  withdrawEditor(workflowId: string, editorId: string): Promise<void>
  /** Notes that a draft was saved. Forgotten when no editor of the workflow is announced. */
  noteDraft(note: DraftNote): Promise<void>
  /** The editors that have not expired, in order of their arrival, and the note with the highest revision. */
  readPresence(workflowId: string, now: number): Promise<WorkflowPresence>
}

/** One open editor: a tab of a browser. */
export type EditorPresence = {
  workflowId: string
  editorId: string
  userId: string
  email: string
  /** The only selected block. */
  blockId: string | null
  expiresAt: number
}

/** `savedBy`: the account; null when it is not known. */
export type DraftNote = { workflowId: string; revision: number; savedAt: number; savedBy: string | null }

export type WorkflowPresence = { editors: EditorPresence[]; draft: DraftNote | null }
