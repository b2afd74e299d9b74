import { applyChanges, type Change, changesBetween, inverseOf } from '../../../domain/edits/change.ts'
import { keptDraftKeys, keptDraftsPrefix } from '../../shell/kept-drafts.ts'
import type { Document } from '../document/document.ts'
import type { CopyKeeper } from './autosave.ts'

/** Work that the service does not have, as the browser keeps it. */
export type UnsavedCopy = { key: string; keptAt: number; revision: number; base: Document; document: Document }

type Stored = { keptAt: number; revision: number; document: Document; changes: Change[] }
type Owner = { userId: string; workflowId: string }

/**
 * Copies of unsaved work in the browser's storage, per account and workflow. Each open editor writes one of its own.
 * The number and the size of copies are limited; the oldest ones make room.
 */
export class UnsavedCopies {
  readonly #storage: Storage | undefined
  readonly #prefix: string

  constructor(storage: Storage | undefined, { userId, workflowId }: Owner) {
    this.#storage = storage
    this.#prefix = `${keptDraftsPrefix}${userId}.${workflowId}.`
  }

  /** The copies of earlier editors, newest first. */
  list(): UnsavedCopy[] {
    return this.#keys()
      .filter((key) => key.startsWith(this.#prefix))
      .flatMap((key) => this.#read(key) ?? [])
      .toSorted((a, b) => b.keptAt - a.keptAt)
  }

  discard({ key }: Pick<UnsavedCopy, 'key'>): void {
    this.#storage?.removeItem(key)
  }

  /** The copy of the editor with this ID. */
  keeper(editorId: string, now: () => number): CopyKeeper {
    const key = this.#prefix + editorId
    return {
      keep: ({ base, document, revision }) => {
        const stored: Stored = { keptAt: now(), revision, document, changes: changesBetween(base, document) }
        const text = JSON.stringify(stored)
        if (text.length > charsMax) return
        this.#makeRoom(key)
        try {
          this.#storage?.setItem(key, text)
        } catch {
          // The storage is full or switched off. The page still warns before it closes.
        }
      },
      clear: () => this.#storage?.removeItem(key),
    }
  }

  #read(key: string): UnsavedCopy | undefined {
    try {
      const { keptAt, revision, document, changes } = JSON.parse(this.#storage?.getItem(key) ?? '') as Stored
      return { key, keptAt, revision, document, base: applyChanges(document, inverseOf(changes)) }
    } catch {
      this.#storage?.removeItem(key)
      return undefined
    }
  }

  #keys(): string[] {
    return this.#storage ? keptDraftKeys(this.#storage) : []
  }

  #makeRoom(key: string): void {
    const others = this.#keys().filter((other) => other !== key)
    if (others.length < copiesMax) return
    const oldest = others.toSorted((a, b) => this.#keptAt(a) - this.#keptAt(b))
    for (const other of oldest.slice(0, others.length - copiesMax + 1)) this.#storage?.removeItem(other)
  }

  #keptAt(key: string): number {
    return Number(/^\{"keptAt":(\d+)/.exec(this.#storage?.getItem(key) ?? '')?.[1] ?? 0)
  }
}

/** Browsers keep five million characters of an address. */
const charsMax = 1_000_000
const copiesMax = 4
