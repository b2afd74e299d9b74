import { type Document, handleOf } from '../document/document.ts'
import type { Edit } from '../document/edit.ts'
import { amend, type History, perform, redo, seal, startHistory, undo } from './history.ts'

/** A snapshot of the draft, as shown by the screen. */
export type DraftState = {
  readonly document: Document
  /** Output ports with at least one connection: `<block> <handle>`; and `<block> ` for blocks that lead further. */
  readonly usedPorts: ReadonlySet<string>
  readonly canUndo: boolean
  readonly canRedo: boolean
  /** Ids of the selected blocks and notes. */
  readonly selected: ReadonlySet<string>
  readonly selectedEdges: ReadonlySet<string>
  /** Counts changes that did not come from typing: undo, redo, reload. */
  readonly jumps: number
}

/** The document being edited, with its history and selection. Nothing else changes a document. */
export class Draft {
  #history: History
  #state: DraftState
  readonly #watchers = new Set<() => void>()

  constructor(document: Document) {
    this.#history = startHistory(document)
    this.#state = {
      ...{ document, usedPorts: usedPorts(document), canUndo: false, canRedo: false, jumps: 0 },
      ...{ selected: new Set<string>(), selectedEdges: new Set<string>() },
    }
  }

  readonly state = (): DraftState => this.#state

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Applies edits as one undo step. Consecutive calls with the same `merge` form one step. */
  perform(edits: Edit | readonly Edit[], merge?: string): void {
    this.#become(perform(this.#history, Array.isArray(edits) ? edits : [edits as Edit], merge))
  }

  /** The next edit starts a new undo step. */
  seal(): void {
    this.#history = seal(this.#history)
  }

  undo(): void {
    this.#become(undo(this.#history), 1)
  }

  redo(): void {
    this.#become(redo(this.#history), 1)
  }

  /** Applies a change that was not made here to the draft and its history. Undo does not revert it. */
  amend(change: (document: Document) => Document): void {
    if (change(this.#state.document) !== this.#state.document) this.#become(amend(this.#history, change))
  }

  select(ids: Iterable<string>, edges: Iterable<string> = []): void {
    const selected = new Set(ids)
    const selectedEdges = new Set(edges)
    if (sameSet(selected, this.#state.selected) && sameSet(selectedEdges, this.#state.selectedEdges)) return
    this.#state = { ...this.#state, selected, selectedEdges }
    this.#tell()
  }

  #become(history: History, jump = 0): void {
    if (history === this.#history) return
    this.#history = history
    const { present: document, past, future } = history
    const { selected, selectedEdges, jumps } = this.#state
    const used = document.edges === this.#state.document.edges ? this.#state.usedPorts : usedPorts(document)
    const isThere = (id: string) => document.blocks[id] !== undefined || document.notes?.[id] !== undefined
    const edgeIds = new Set(document.edges.map(({ id }) => id))
    this.#state = {
      ...{ document, usedPorts: used, canUndo: past.length > 0, canRedo: future.length > 0, jumps: jumps + jump },
      selected: filtered(selected, isThere),
      selectedEdges: filtered(selectedEdges, (id) => edgeIds.has(id)),
    }
    this.#tell()
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) watcher()
  }
}

function usedPorts(document: Document): ReadonlySet<string> {
  const used = new Set<string>()
  for (const edge of document.edges) {
    const handle = handleOf(document, edge)
    used.add(`${edge.source} ${handle}`)
    if (handle !== 'error' && !handle.endsWith('-start-source')) used.add(`${edge.source} `)
  }
  return used
}

function filtered(set: ReadonlySet<string>, keep: (id: string) => boolean): ReadonlySet<string> {
  return [...set].every(keep) ? set : new Set([...set].filter(keep))
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item))
}
