import type { Document } from '../document/document.ts'
import { applyEdit, type Edit } from '../document/edit.ts'

/**
 * A document and its history. Consecutive edits with the same `merge` form one step, such as typing a word or moving a
 * block with the arrow keys.
 */
export type History = {
  readonly present: Document
  readonly past: readonly Document[]
  readonly future: readonly Document[]
  readonly merge: string | undefined
}

export function startHistory(document: Document): History {
  return { present: document, past: [], future: [], merge: undefined }
}

/** Applies edits as one step. Returns the same history when they change nothing. */
export function perform(history: History, edits: readonly Edit[], merge?: string): History {
  const present = edits.reduce(applyEdit, history.present)
  if (present === history.present) return history
  const joins = merge !== undefined && merge === history.merge
  const past = joins ? history.past : [...history.past.slice(-(stepsMax - 1)), history.present]
  return { present, past, future: [], merge }
}

/** The next edit starts a new step. */
export function seal(history: History): History {
  return history.merge === undefined ? history : { ...history, merge: undefined }
}

/** Applies the same change to the present, past and future documents, so that undo does not revert it. */
export function amend(history: History, change: (document: Document) => Document): History {
  const { present, past, future, merge } = history
  return { present: change(present), past: past.map(change), future: future.map(change), merge }
}

export function undo(history: History): History {
  const before = history.past.at(-1)
  if (!before) return history
  return {
    present: before,
    past: history.past.slice(0, -1),
    future: [history.present, ...history.future],
    merge: undefined,
  }
}

export function redo(history: History): History {
  const [after, ...future] = history.future
  if (!after) return history
  return { present: after, past: [...history.past, history.present], future, merge: undefined }
}

/** Maximum number of undo steps. Documents share unchanged parts, so a step is small. */
const stepsMax = 300
