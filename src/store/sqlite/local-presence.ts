import type { DraftNote, EditorPresence, PresenceStore, WorkflowPresence } from '../presence-store.ts'

/**
 * The open editors of one process, in memory: only one service uses a data directory. The number of editors is limited
 * by the service, which withdraws each of them.
 */
export class LocalPresence implements PresenceStore {
  readonly #workflows = new Map<string, { editors: Map<string, EditorPresence>; draft: DraftNote | null }>()

  readonly announceEditor = async (editor: EditorPresence): Promise<void> => {
    const found = this.#workflows.get(editor.workflowId) ?? { editors: new Map(), draft: null }
    found.editors.set(editor.editorId, editor)
    this.#workflows.set(editor.workflowId, found)
  }

  readonly withdrawEditor = async (workflowId: string, editorId: string): Promise<void> => {
    const found = this.#workflows.get(workflowId)
    found?.editors.delete(editorId)
    if (found?.editors.size === 0) this.#workflows.delete(workflowId)
  }

  readonly noteDraft = async (note: DraftNote): Promise<void> => {
    const found = this.#workflows.get(note.workflowId)
    if (found && note.revision > (found.draft?.revision ?? 0)) found.draft = note
  }

  readonly readPresence = async (workflowId: string, now: number): Promise<WorkflowPresence> => {
    const found = this.#workflows.get(workflowId)
    if (!found) return { editors: [], draft: null }
    for (const [id, { expiresAt }] of found.editors) if (expiresAt <= now) found.editors.delete(id)
    if (found.editors.size === 0) this.#workflows.delete(workflowId)
    return { editors: [...found.editors.values()], draft: found.draft }
  }
}
