/** A message to an open editor of a workflow. Times are epoch milliseconds. */
export type EditorEvent =
  /** The first message. `draft`: the saved draft. */
  | { event: 'joined'; editorId: string; draft: SavedDraft }
  /** Who has the workflow open, in order of arrival; includes the reader. */
  | { event: 'editors'; editors: OpenEditor[] }
  | { event: 'saved'; draft: SavedDraft }
  /** Asks the editor to say that it is still there, because others have the workflow open too. */
  | { event: 'call' }

export type OpenEditor = { editorId: string; userId: string; email: string; blockId: string | null }

/** `savedBy`: an e-mail; null when it is not known. */
export type SavedDraft = { revision: number; savedAt: number; savedBy: string | null }
