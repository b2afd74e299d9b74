import { ApiError } from '../../api/api-error.ts'
import { call, type ResponseOf } from '../../api/call.ts'
import type { Document } from '../document/document.ts'
import type { Finding } from '../findings.tsx'
import { type TriggerDetails, triggerDetailsOf } from '../trigger-details.ts'
import { assignedBy } from './assigned.ts'
import type { Draft } from './draft.ts'

/**
 * - `saved`: the service has this document.
 * - `unsaved`: it was changed and is about to be sent. `saving`: the request is in flight.
 * - `failed`: it could not be sent; it is retried automatically. `rejected`: the service does not accept it.
 * - `conflict`: somebody else or another tab has saved it; nothing is sent until the user chooses a version.
 */
export type SaveState =
  | { phase: 'saved' | 'unsaved' | 'saving' }
  | { phase: 'failed' | 'rejected' | 'conflict'; message: string }

export type SaveInfo = {
  readonly save: SaveState
  readonly findings: readonly Finding[]
  readonly triggerDetails: TriggerDetails
}

/**
 * Sends the draft to the service whenever it changes, one request at a time. Each request names the revision it is
 * based on, so that nobody's work is overwritten silently.
 */
export class Autosave {
  readonly #workflowId: string
  readonly #draft: Draft
  readonly #watchers = new Set<() => void>()
  #info: SaveInfo = { save: { phase: 'saved' }, findings: [], triggerDetails: {} }
  #sent: Document
  #revision: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #sending: Promise<void> | undefined

  constructor(draft: Draft, workflowId: string, revision: number) {
    this.#draft = draft
    this.#workflowId = workflowId
    this.#revision = revision
    this.#sent = draft.state().document
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

  /** Replaces the version of somebody else with this draft. */
  async overwrite(): Promise<void> {
    const { revision } = await call('GET /api/workflows/:id', { params: { id: this.#workflowId } })
    this.#revision = revision
    this.#become({ phase: 'unsaved' })
    await this.flush()
  }

  /** Replaces this draft with the given version of the service. */
  adopt(document: Document, revision: number): void {
    clearTimeout(this.#timer)
    this.#sent = document
    this.#revision = revision
    this.#draft.restart(document)
    this.#become({ phase: 'saved' })
  }

  get revision(): number {
    return this.#revision
  }

  /** Takes over the service's check of the current document. */
  setCheck({ findings, ...rest }: ResponseOf<'POST /api/editor/workflows/:id/check'>): void {
    const before = this.#info
    this.#info = {
      ...before,
      findings: sameOr(before.findings, findings),
      triggerDetails: sameOr(before.triggerDetails, triggerDetailsOf(rest)),
    }
    this.#tell()
  }

  #changed(): void {
    const { phase } = this.#info.save
    if (phase === 'conflict') return
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
    this.#sending = this.#put().finally(() => {
      this.#sending = undefined
    })
    return this.#sending
  }

  async #put(): Promise<void> {
    const { document } = this.#draft.state()
    this.#become({ phase: 'saving' })
    try {
      const saved = await call('PUT /api/workflows/:id', {
        params: { id: this.#workflowId },
        headers: { 'if-match': `"${this.#revision}"` },
        body: document,
      })
      const assigned = assignedBy(document, saved as unknown as Document)
      this.#sent = assigned?.(document) ?? document
      this.#revision = saved.revision
      if (assigned) this.#draft.amend(assigned)
      this.#info = { ...this.#info, save: { phase: 'saved' } }
      this.setCheck(saved)
      this.#changed()
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    const status = error instanceof ApiError ? error.status : 0
    if (status === 409 && error instanceof ApiError && error.details.some(({ path }) => path === 'revision')) {
      this.#become({ phase: 'conflict', message })
    } else if (status >= 400 && status < 500 && status !== 401 && status !== 429) {
      this.#become({ phase: 'rejected', message })
    } else {
      this.#become({ phase: 'failed', message })
      this.#timer = setTimeout(() => void this.flush(), retryMs)
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

/** Keeps the previous object when both are equal. A new object would redraw every card. */
function sameOr<Value>(before: Value, now: Value): Value {
  return JSON.stringify(now) === JSON.stringify(before) ? before : now
}

/** Time without changes before the document is sent. */
const quietMs = 500
const retryMs = 3_000
