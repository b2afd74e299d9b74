import { changesBetween } from '../../../domain/edits/change.ts'
import { type Conflict, changesToTheirs } from '../../../domain/edits/merge.ts'
import { ApiError } from '../../api/api-error.ts'
import { call, type ResponseOf } from '../../api/call.ts'
import type { Document } from '../document/document.ts'
import { documentOf } from '../document/document-of.ts'
import { applyEdit, type Edit, mergeDrafts } from '../document/edit.ts'
import { loadNewer, loadWorkflow } from '../editor-queries.ts'
import type { Finding } from '../findings.tsx'
import { type TriggerDetails, triggerDetailsOf } from '../trigger-details.ts'
import { assignedBy } from './assigned.ts'
import type { Draft } from './draft.ts'

/**
 * - `saved`: the service has this document.
 * - `unsaved`: it was changed and is about to be sent. `saving`: the request is in flight.
 * - `failed`: it could not be sent; it is retried automatically. `rejected`: the service does not accept it.
 * - `conflict`: somebody else or another tab changed the same values; nothing is sent until the user chooses.
 */
export type SaveState =
  | { phase: 'saved' | 'unsaved' | 'saving' }
  | { phase: 'failed' | 'rejected'; message: string }
  | { phase: 'conflict'; conflicts: readonly Conflict[]; theirs: Document; savedAt: string }

export type SaveInfo = {
  readonly save: SaveState
  /** The revision that the service has of this draft. */
  readonly revision: number
  readonly findings: readonly Finding[]
  /** The document that the findings are about. */
  readonly checked: Document
  readonly triggerDetails: TriggerDetails
}

/** Keeps a copy of work that the service does not have. */
export type CopyKeeper = {
  keep(copy: { base: Document; document: Document; revision: number }): void
  clear(): void
}

/**
 * Sends the draft to the service whenever it changes, one request at a time. Each request names the revision it is
 * based on. If somebody else has saved in the meantime, their changes are merged into the draft and its history, so
 * that undo reverts only what was done here, and the result is sent.
 */
export class Autosave {
  readonly #workflowId: string
  readonly #draft: Draft
  readonly #copies: CopyKeeper | undefined
  readonly #watchers = new Set<() => void>()
  #info: SaveInfo
  /** The document that the service has, and the same as an object of the draft's history while nothing is unsaved. */
  #base: Document
  #sent: Document
  #timer: ReturnType<typeof setTimeout> | undefined
  #sending: Promise<void> | undefined
  #isMerging = false
  #hasLeft = false

  constructor(draft: Draft, workflowId: string, revision: number, copies?: CopyKeeper) {
    this.#draft = draft
    this.#workflowId = workflowId
    this.#copies = copies
    this.#base = draft.state().document
    this.#info = { save: { phase: 'saved' }, revision, findings: [], checked: this.#base, triggerDetails: {} }
    this.#sent = this.#base
    draft.watch(() => this.#changed())
  }

  readonly info = (): SaveInfo => this.#info

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Resolves to true once the service has everything, and to false when the draft could not be sent. */
  async flush(): Promise<boolean> {
    clearTimeout(this.#timer)
    await this.#sending
    if (this.#draft.state().document !== this.#sent && this.#info.save.phase !== 'conflict') await this.#send()
    return this.#draft.state().document === this.#sent
  }

  /** The user leaves the page. Sends what is unsaved, and keeps a copy in case that fails. */
  leave(): void {
    this.#hasLeft = true
    this.keepCopy()
    void this.flush()
  }

  /** Keeps a copy of what is unsaved in the browser. */
  keepCopy(): void {
    const { document } = this.#draft.state()
    if (document === this.#sent) return
    this.#copies?.keep({ base: this.#base, document, revision: this.#info.revision })
  }

  /**
   * Merges what somebody else has saved, if anything, and takes over its check. A save that is about to start, or is in
   * flight, finds out itself.
   */
  async pull(): Promise<void> {
    const isBusy = () => this.#info.save.phase === 'saving' || this.#info.save.phase === 'conflict'
    if (isBusy()) return
    const found = await loadNewer(this.#workflowId, this.#info.revision)
    if (!found || isBusy() || found.revision <= this.#info.revision) return
    this.#merge(documentOf(found), found.revision, found.updatedAt)
    if (this.#info.save.phase === 'saved') this.setCheck(found)
  }

  /** Ends a conflict: takes their values where they were chosen, and keeps mine elsewhere. Undo reverts the choice. */
  async resolve(taken: readonly Conflict[]): Promise<void> {
    const { save } = this.#info
    if (save.phase !== 'conflict') return
    const { document } = this.#draft.state()
    const [names, values] = [taken.filter(isName), taken.filter((conflict) => !isName(conflict))]
    const edits: Edit[] = names.map(({ path: [, id = ''], theirs }) => ({ kind: 'rename', id, name: String(theirs) }))
    const changes = changesToTheirs(values, document, save.theirs)
    if (changes.length > 0) edits.push({ kind: 'change', changes })
    this.#become({ phase: 'unsaved' })
    this.#draft.perform(edits)
    if (this.#isLikeBase()) this.#settle()
    await this.flush()
  }

  /** Offers a choice between values of the draft and of another document, which the service has. */
  dispute(conflicts: readonly Conflict[], theirs: Document): void {
    if (conflicts.length > 0) this.#become({ phase: 'conflict', conflicts, theirs, savedAt: new Date().toISOString() })
  }

  /** Takes over the service's check of the current document. */
  setCheck({ findings, ...rest }: ResponseOf<'POST /api/editor/workflows/:id/check'>): void {
    const before = this.#info
    this.#info = {
      ...before,
      findings: sameOr(before.findings, findings),
      checked: this.#base,
      triggerDetails: sameOr(before.triggerDetails, triggerDetailsOf(rest)),
    }
    this.#tell()
  }

  #changed(): void {
    const { phase } = this.#info.save
    if (phase === 'conflict' || this.#isMerging) return
    if (this.#draft.state().document === this.#sent) {
      // The change was undone before it was sent, or only the selection changed.
      if (phase === 'unsaved') this.#become({ phase: 'saved' })
      return
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.flush(), quietMs)
    if (this.#info.save.phase !== 'saving') this.#become({ phase: 'unsaved' })
  }

  #send(): Promise<void> {
    this.#sending = this.#put(triesMax).finally(() => {
      this.#sending = undefined
    })
    return this.#sending
  }

  async #put(tries: number): Promise<void> {
    const { document } = this.#draft.state()
    this.#become({ phase: 'saving' })
    try {
      const saved = await call('PUT /api/workflows/:id', {
        params: { id: this.#workflowId },
        headers: { 'if-match': `"${this.#info.revision}"` },
        body: document,
      })
      const assigned = assignedBy(document, saved as unknown as Document)
      this.#sent = assigned?.(document) ?? document
      this.#base = this.#sent
      if (assigned) this.#draft.amend(assigned)
      this.#info = { ...this.#info, save: { phase: 'saved' }, revision: saved.revision }
      this.setCheck(saved)
      this.#copies?.clear()
      this.#changed()
    } catch (error) {
      if (!isStale(error) || tries <= 1) this.#failed(error)
      else await this.#mergeAndPut(tries - 1)
    }
  }

  /** Somebody else has saved. */
  async #mergeAndPut(tries: number): Promise<void> {
    try {
      const found = await loadWorkflow(this.#workflowId)
      this.#merge(documentOf(found), found.revision, found.updatedAt)
    } catch (error) {
      this.#failed(error)
      return
    }
    if (this.#info.save.phase === 'unsaved') await this.#put(tries)
  }

  #merge(saved: Document, revision: number, savedAt: string): void {
    const base = this.#base
    // Shares everything unchanged with the draft and its history, so that each comparison skips it.
    const theirs = applyEdit(base, { kind: 'change', changes: changesBetween(base, saved) })
    const merged = new Map<Document, Document>()
    const into = (mine: Document) => {
      const found = merged.get(mine) ?? mergeDrafts({ base, mine, theirs }).document
      merged.set(mine, found)
      return found
    }
    const { document: result, conflicts } = mergeDrafts({ base, mine: this.#draft.state().document, theirs })
    merged.set(this.#draft.state().document, result)
    this.#isMerging = true
    this.#draft.amend(into)
    this.#isMerging = false
    this.#base = theirs
    this.#info = { ...this.#info, revision }
    if (this.#isLikeBase()) {
      this.#settle()
      return
    }
    this.#sent = this.#base
    clearTimeout(this.#timer)
    if (conflicts.length > 0) {
      this.#become({ phase: 'conflict', conflicts, theirs, savedAt })
      this.keepCopy()
      return
    }
    this.#timer = setTimeout(() => void this.flush(), quietMs)
    this.#become({ phase: 'unsaved' })
  }

  #isLikeBase(): boolean {
    return changesBetween(this.#base, this.#draft.state().document).length === 0
  }

  /** Nothing is unsaved. */
  #settle(): void {
    clearTimeout(this.#timer)
    this.#sent = this.#draft.state().document
    this.#base = this.#sent
    this.#copies?.clear()
    this.#become({ phase: 'saved' })
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    const status = error instanceof ApiError ? error.status : 0
    // After signing out, nothing of the account stays in the browser.
    if (this.#hasLeft && status === 401) this.#copies?.clear()
    else this.keepCopy()
    if (status >= 400 && status < 500 && status !== 401 && status !== 429) {
      this.#become({ phase: 'rejected', message })
    } else {
      this.#become({ phase: 'failed', message })
      if (!this.#hasLeft) this.#timer = setTimeout(() => void this.flush(), retryMs)
    }
  }

  #become(save: SaveState): void {
    this.#info = { ...this.#info, save }
    this.#tell()
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) watcher()
  }
}

/** Whether the workflow was saved after the revision that a request is based on. */
function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.details.some(({ path }) => path === 'revision')
}

function isName({ path: [collection, , member, ...rest] }: Conflict): boolean {
  return collection === 'blocks' && member === 'name' && rest.length === 0
}

/** Keeps the previous object when both are equal. A new object would redraw every card. */
function sameOr<Value>(before: Value, now: Value): Value {
  return JSON.stringify(now) === JSON.stringify(before) ? before : now
}

/** Time without changes before the document is sent. */
const quietMs = 500
const retryMs = 3_000
/** How often somebody else may be faster before the next attempt waits. */
const triesMax = 5
