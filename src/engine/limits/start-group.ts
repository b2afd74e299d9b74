import type { Clock, Timer } from '../../domain/clock.ts'
import { RateWindow } from '../../domain/run/rate-window.ts'
import type { StartLimits } from '../compile/start-limits.ts'

/** A run that asks for a slot. `hasStarted`: it continues after a pause or a crash, so the rate does not count it. */
export type Start = { executionId: string; hasStarted?: boolean }

/** One of the slots that the concurrency of a workflow and key allows. The run holds it until `release`. */
export type Slot = {
  /** Whether a newer start replaces the run, which is then cancelled. */
  readonly isReplaced: boolean
  /** Counts the start in the rate. Call this once, when the run starts. */
  begin(): void
  /** Gives the slot to the next start. Further calls have no effect. */
  readonly release: () => void
}

/** A start that waits for a slot. */
export type Waiting = { start: Start; granted(slot: Slot): void }

export type StartGroupOptions = {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  limits: StartLimits
  /** Cancels a running run. */
  cancel(executionId: string): void
  /** Called when nothing runs or waits any more. */
  onIdle(): void
}

/** The starts of one workflow and key, in one process that counts alone: those with a slot, and those that wait. */
export class StartGroup {
  readonly #options: StartGroupOptions
  /** The oldest first. */
  readonly #slots = new Set<GroupSlot>()
  /** Runs that continue. They get slots before new starts. */
  readonly #returning = new Set<Waiting>()
  readonly #waiting = new Set<Waiting>()
  readonly #rate = new RateWindow()
  /** Slots of new runs that have not begun. The rate already counts them, because they may begin at any time. */
  #reserved = 0
  #timer: Timer | undefined
  limits: StartLimits

  constructor(options: StartGroupOptions) {
    this.#options = options
    this.limits = options.limits
  }

  get running(): number {
    return this.#slots.size
  }

  get waiting(): number {
    return this.#waiting.size + this.#returning.size
  }

  /** Whether the group can be forgotten: nothing runs or waits, and no start is in the rate's window. */
  get isEmpty(): boolean {
    return this.running === 0 && this.waiting === 0 && this.#inWindow() === 0
  }

  /** Returns a slot if the start need not wait; otherwise undefined. */
  enter(start: Start): Slot | undefined {
    const isAhead = this.#returning.size === 0 && (start.hasStarted || this.#waiting.size === 0)
    return isAhead && this.#hasRoom(start) ? this.#take(start) : undefined
  }

  wait(waiting: Waiting): void {
    const queue = waiting.start.hasStarted ? this.#returning : this.#waiting
    queue.add(waiting)
    this.advance()
  }

  /** Removes a start that waits. */
  leave(waiting: Waiting): void {
    if (!this.#returning.delete(waiting) && !this.#waiting.delete(waiting)) return
    this.#settle()
  }

  /** Seconds after which a refused caller should try again. */
  get retryAfterS(): number {
    const { rate } = this.limits
    if (!rate || this.#inWindow() < rate.count) return 1
    return Math.max(1, Math.ceil((this.#rate.freeAt(rate.count, rate) - this.#options.clock.monotonic()) / 1_000))
  }

  /** Gives the free slots to the starts that wait. */
  advance(): void {
    for (let next = this.#next(); next && this.#hasRoom(next.start); next = this.#next()) {
      this.#returning.delete(next)
      this.#waiting.delete(next)
      next.granted(this.#take(next.start))
    }
    this.#settle()
  }

  #next(): Waiting | undefined {
    for (const waiting of this.#returning) return waiting
    for (const waiting of this.#waiting) return waiting
    return undefined
  }

  #hasRoom({ hasStarted }: Start): boolean {
    const { concurrency, rate } = this.limits
    if (this.#slots.size >= concurrency) return false
    return hasStarted || !rate || this.#inWindow() + this.#reserved < rate.count
  }

  #inWindow(): number {
    const { rate } = this.limits
    return rate ? this.#rate.count(this.#options.clock.monotonic(), rate) : 0
  }

  #take(start: Start): Slot {
    if (!start.hasStarted) this.#reserved += 1
    const slot = new GroupSlot(start, this)
    this.#slots.add(slot)
    return slot
  }

  /** Called by a slot when its new run begins, or is released without having begun. */
  leftReservation(hasBegun: boolean): void {
    this.#reserved -= 1
    if (!hasBegun) return
    const { rate } = this.limits
    if (rate) this.#rate.add(this.#options.clock.monotonic(), rate)
    if (this.#waiting.size > 0) this.#settle()
  }

  /** Called by a slot when it is released. */
  released(slot: GroupSlot): void {
    this.#slots.delete(slot)
    this.advance()
  }

  #settle(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#waiting.size > 0) {
      this.#replaceOldest()
      this.#wakeLater()
    } else if (this.running === 0 && this.waiting === 0) this.#options.onIdle()
  }

  /** Cancels the oldest runs, one for each start that waits. */
  #replaceOldest(): void {
    const { beyond, concurrency } = this.limits
    if (beyond !== 'replace' || this.#slots.size < concurrency) return
    let left = this.#waiting.size
    for (const slot of this.#slots) {
      if (left === 0) return
      left -= 1
      if (slot.isReplaced) continue
      slot.isReplaced = true
      this.#options.cancel(slot.executionId)
    }
  }

  #wakeLater(): void {
    const { rate, concurrency } = this.limits
    // Without a free slot, the end of a run wakes the next start.
    if (!rate || this.#slots.size >= concurrency) return
    const waitMs = this.#rate.freeAt(rate.count - this.#reserved, rate) - this.#options.clock.monotonic()
    if (!Number.isFinite(waitMs)) return
    this.#timer = this.#options.clock.setTimer(Math.min(Math.max(Math.ceil(waitMs), 1), timerMsMax), () => {
      this.#timer = undefined
      this.advance()
    })
  }
}

/** Longer waits are divided, because system timers are limited to about 24 days. */
const timerMsMax = 3_600_000

class GroupSlot implements Slot {
  readonly executionId: string
  readonly #group: StartGroup
  /** Whether the slot still counts as reserved. */
  #isReserved: boolean
  #isReleased = false
  isReplaced = false

  constructor({ executionId, hasStarted }: Start, group: StartGroup) {
    this.executionId = executionId
    this.#isReserved = hasStarted !== true
    this.#group = group
  }

  begin(): void {
    this.#leaveReservation(true)
  }

  readonly release = (): void => {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#leaveReservation(false)
    this.#group.released(this)
  }

  #leaveReservation(hasBegun: boolean): void {
    if (!this.#isReserved) return
    this.#isReserved = false
    this.#group.leftReservation(hasBegun)
  }
}
