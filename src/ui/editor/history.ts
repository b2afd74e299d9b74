import type { Document } from './document.ts'
import { applyEdit, type Edit } from './edit.ts'

/**
 * A document and how it came about. Edits with the same `merge` that follow one another are one step: a word typed into a
 * field, a block pushed with the arrow keys.
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

/** Edits one after the other, as one step. The same history when they change nothing. */
export function perform(history: History, edits: readonly Edit[], merge?: string): History {
  const present = edits.reduce(applyEdit, history.present)
  if (present === history.present) return history
  const joins = merge !== undefined && merge === history.merge
  const past = joins ? history.past : [...history.past.slice(-(stepsMax - 1)), history.present]
  return { present, past, future: [], merge }
}

/** The next edit begins a step of its own, whatever it is. */
export function seal(history: History): History {
  return history.merge === undefined ? history : { ...history, merge: undefined }
}

/** The same change of a document now, before and later: what is no step that somebody took. */
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

/** Steps that can be taken back. Documents share what is the same in them, so a step is small. */
const stepsMax = 300
