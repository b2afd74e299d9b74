import type { Clock } from '../domain/clock.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import type { Store } from '../store/store.ts'

export type EventNotesOptions = {
  store: Pick<Store, 'noteEvent' | 'noteEventEverywhere'>
  clock: Pick<Clock, 'now'>
  onFailure(cause: unknown): void
}

/**
 * Notes events that no transaction of the store causes. A thousand refused starts of a workflow are one event a minute,
 * so that the work for it stays small. An event that cannot be stored is lost.
 */
export class EventNotes {
  readonly #options: EventNotesOptions
  /** When the last event of a workflow was noted, and that of its starts by events; the oldest first. */
  readonly #notedAt = new Map<string, number>()
  readonly #open = new Set<Promise<void>>()

  constructor(options: EventNotesOptions) {
    this.#options = options
  }

  /** The limits of a workflow have refused or skipped a start. `executionId`: of a start that an event has caused. */
  limitReached(workflowId: string, executionId?: string): void {
    const { store, clock } = this.#options
    const at = clock.now()
    const key = executionId === undefined ? workflowId : `${workflowId} event`
    const last = this.#notedAt.get(key)
    if (last !== undefined && at >= last && at - last < everyMs) return
    this.#notedAt.delete(key)
    this.#notedAt.set(key, at)
    forgetOldest(this.#notedAt, workflowsMax)
    const detail = 'The limits of the workflow have refused or skipped a start.'
    this.#own(store.noteEvent({ type: 'limit.reached', workflowId, at, detail, ...(executionId && { executionId }) }))
  }

  /** The scheduled backup has failed. The reason is for the operator only. */
  backupFailed(): void {
    const { store, clock } = this.#options
    const detail = 'The scheduled backup of the service is overdue. Its log says why.'
    this.#own(store.noteEventEverywhere({ type: 'backup.overdue', at: clock.now(), detail }))
  }

  /** Waits for what is being stored. */
  async settled(): Promise<void> {
    await Promise.all(this.#open)
  }

  #own(noting: Promise<void>): void {
    const ended = noting
      .catch((cause: unknown) => this.#options.onFailure(cause))
      .finally(() => this.#open.delete(ended))
    this.#open.add(ended)
  }
}

const everyMs = 60_000
const workflowsMax = 10_000
