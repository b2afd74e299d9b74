import type { SharedGroupAnswer, SharedGroupAsk, SharedRun } from '../../domain/run/shared-starts.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import type { Slot, Waiting } from './start-group.ts'

/** A start without a slot. `isNew`: this process has not asked the store about it yet. */
export type Asked = Waiting & { isNew: boolean }

/** A new start. `answered`: called when it has a slot or waits. `failed`: called when the store did not answer. */
export type NewStart = Asked & {
  answered(slot: Slot | undefined, waiting: Asked): void
  refused(retryAfterS: number): void
  failed(error: unknown): void
}

export type SharedGroupOptions = {
  workflowId: string
  key: string
  limits: StartLimits
  onRelease(): void
  /** Cancels a running run. */
  cancel(executionId: string): void
}

/** The starts of one workflow and key in this process. The store decides which of them get a slot. */
export class SharedGroup {
  readonly #options: SharedGroupOptions
  readonly #slots = new Map<string, SharedSlot>()
  readonly #returning = new Map<string, Asked>()
  readonly #waiting = new Map<string, Asked>()
  #new: NewStart[] = []
  /** The new starts in the current request to the store. */
  #asked = new Map<string, NewStart>()
  limits: StartLimits
  /** Whether the store may count slots that no start of this process has. */
  isUncertain = false

  constructor(options: SharedGroupOptions) {
    this.#options = options
    this.limits = options.limits
  }

  get workflowId(): string {
    return this.#options.workflowId
  }
  get key(): string {
    return this.#options.key
  }
  get running(): number {
    return this.#slots.size
  }
  get waiting(): number {
    return this.#waiting.size + this.#returning.size
  }

  get isEmpty(): boolean {
    return this.running === 0 && this.waiting === 0 && this.#new.length === 0 && !this.isUncertain
  }

  /** Whether the group must ask the store regularly: another process may release slots or replace runs. */
  get needsNews(): boolean {
    return this.waiting > 0 || this.isUncertain || (this.limits.beyond === 'replace' && this.running > 0)
  }

  ask(start: NewStart): void {
    this.#new.push(start)
  }

  wait(asked: Asked): void {
    const queue = asked.start.hasStarted ? this.#returning : this.#waiting
    queue.set(asked.start.executionId, asked)
  }

  leave({ start }: Asked): boolean {
    return this.#returning.delete(start.executionId) || this.#waiting.delete(start.executionId)
  }

  /** The request that reports the whole state of this group to the store, and asks for slots. */
  question(): SharedGroupAsk {
    const { concurrency, rate, beyond, queueMax } = this.limits
    this.#asked = new Map(this.#new.map((start) => [start.start.executionId, start]))
    this.#new = []
    const old = [...this.#returning.values(), ...this.#waiting.values()].slice(0, startsMax)
    const starts = [...old, ...this.#asked.values()]
    return {
      ...{ workflowId: this.workflowId, key: this.key, beyond, queueMax },
      ...(Number.isFinite(concurrency) && { concurrency }),
      ...(rate && { rate }),
      running: this.running,
      ...(beyond === 'replace' && { runs: this.#runs() }),
      waiting: this.waiting,
      starts: starts.map(({ start: { executionId, hasStarted = false }, isNew }) => ({
        executionId,
        hasStarted,
        isNew,
      })),
    }
  }

  answer({ granted, queued, refused, retryAfterMs, replaced }: SharedGroupAnswer): void {
    this.isUncertain = false
    for (const { executionId, at } of granted) this.#grant(executionId, at)
    for (const executionId of queued) {
      const start = this.#asked.get(executionId)
      if (!start) continue
      const waiting: Asked = { start: start.start, granted: start.granted, isNew: false }
      this.wait(waiting)
      start.answered(undefined, waiting)
    }
    for (const id of refused) this.#asked.get(id)?.refused(Math.max(1, Math.ceil(retryAfterMs / 1_000)))
    this.#asked.clear()
    for (const executionId of replaced) {
      const slot = this.#slots.get(executionId)
      if (!slot) continue
      slot.isReplaced = true
      this.#options.cancel(executionId)
    }
  }

  fail(error: unknown): void {
    for (const start of this.#asked.values()) start.failed(error)
    this.#asked.clear()
  }

  #grant(executionId: string, at: number): void {
    const start = this.#asked.get(executionId)
    const waiting = this.#returning.get(executionId) ?? this.#waiting.get(executionId)
    if (!start && !waiting) {
      // The start has left in the meantime, so the store must take the slot back.
      this.#options.onRelease()
      return
    }
    const slot = new SharedSlot(at, () => {
      if (this.#slots.delete(executionId)) this.#options.onRelease()
    })
    this.#slots.set(executionId, slot)
    if (start) start.answered(slot, start)
    else if (waiting) {
      this.leave(waiting)
      waiting.granted(slot)
    }
  }

  #runs(): SharedRun[] {
    return [...this.#slots].map(([executionId, { at, isReplaced }]) => ({ executionId, at, isReplaced }))
  }
}

class SharedSlot implements Slot {
  readonly at: number
  readonly release: () => void
  isReplaced = false

  constructor(at: number, release: () => void) {
    this.at = at
    this.release = release
  }

  /** Does nothing: the store counted the start when it granted the slot. */
  begin(): void {}
}

/** How many waiting starts one request contains, the oldest first. */
const startsMax = 100
