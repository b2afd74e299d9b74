import type { SharedGroupAnswer, SharedGroupAsk, SharedRun } from '../../domain/run/shared-starts.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import type { Place, Waiting } from './start-group.ts'

/** A start that has no place yet. `isNew`: the store has not been asked about it. */
export type Asked = Waiting & { isNew: boolean }

/** A new start. `answered`: it has a place, or waits; `failed`: the store could not be asked. */
export type NewStart = Asked & {
  answered(place: Place | undefined, waiting: Asked): void
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

/** The starts of a workflow with one key in this process, while the store decides which of them have a place. */
export class SharedGroup {
  readonly #options: SharedGroupOptions
  readonly #places = new Map<string, SharedPlace>()
  readonly #returning = new Map<string, Asked>()
  readonly #waiting = new Map<string, Asked>()
  #new: NewStart[] = []
  /** New starts in the question that is under way. */
  #asked = new Map<string, NewStart>()
  limits: StartLimits
  /** Whether the store may count starts that have no place. */
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
    return this.#places.size
  }
  get waiting(): number {
    return this.#waiting.size + this.#returning.size
  }

  get isEmpty(): boolean {
    return this.running === 0 && this.waiting === 0 && this.#new.length === 0 && !this.isUncertain
  }

  /** Whether another process may do something that concerns this one. */
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

  /** The question that tells the store everything about this group, and asks for places. */
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
      const place = this.#places.get(executionId)
      if (!place) continue
      place.isReplaced = true
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
      // It has left meanwhile: the store learns that it needs no place.
      this.#options.onRelease()
      return
    }
    const place = new SharedPlace(at, () => {
      if (this.#places.delete(executionId)) this.#options.onRelease()
    })
    this.#places.set(executionId, place)
    if (start) start.answered(place, start)
    else if (waiting) {
      this.leave(waiting)
      waiting.granted(place)
    }
  }

  #runs(): SharedRun[] {
    return [...this.#places].map(([executionId, { at, isReplaced }]) => ({ executionId, at, isReplaced }))
  }
}

class SharedPlace implements Place {
  readonly at: number
  readonly release: () => void
  isReplaced = false

  constructor(at: number, release: () => void) {
    this.at = at
    this.release = release
  }

  /** The store has counted the start when it granted the place. */
  begin(): void {}
}

/** Waiting starts in one question: the oldest. */
const startsMax = 100
