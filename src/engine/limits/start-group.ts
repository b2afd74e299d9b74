import type { Clock, Timer } from '../../domain/clock.ts'
import { RateWindow } from '../../domain/run/rate-window.ts'
import type { StartLimits } from '../compile/start-limits.ts'

/** A run that asks for a place. `hasStarted`: it goes on after a pause or a crash, so it counts in no rate. */
export type Start = { executionId: string; hasStarted?: boolean }

/** A run's place among those of its key at the same time. */
export type Place = {
  /** Whether a newer start needs the place: the run is to be cancelled. */
  readonly isReplaced: boolean
  /** Counts the start in the rate. To be called once, when the run starts. */
  begin(): void
  /** Gives the place to the next start. Further calls have no effect. */
  readonly release: () => void
}

/** A start that waits for its place. */
export type Waiting = { start: Start; granted(place: Place): void }

export type StartGroupOptions = {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  limits: StartLimits
  /** Cancels a running run. */
  cancel(executionId: string): void
  /** Called when nothing runs or waits any more. */
  onIdle(): void
}

/** The starts of a workflow with one key, in one process: those that have a place, and those that wait for one. */
export class StartGroup {
  readonly #options: StartGroupOptions
  /** The oldest first. */
  readonly #places = new Set<GroupPlace>()
  /** Runs that go on. They are ahead of new ones. */
  readonly #returning = new Set<Waiting>()
  readonly #waiting = new Set<Waiting>()
  readonly #rate = new RateWindow()
  /** Places of new runs that have not begun. They count in the rate, which they will enter at any time. */
  #reserved = 0
  #timer: Timer | undefined
  limits: StartLimits

  constructor(options: StartGroupOptions) {
    this.#options = options
    this.limits = options.limits
  }

  get running(): number {
    return this.#places.size
  }

  get waiting(): number {
    return this.#waiting.size + this.#returning.size
  }

  /** Whether it can be forgotten: nothing runs or waits, and no start is in the rate's window. */
  get isEmpty(): boolean {
    return this.running === 0 && this.waiting === 0 && this.#inWindow() === 0
  }

  /** The place of a start that need not wait; undefined when it has to. */
  enter(start: Start): Place | undefined {
    const isAhead = this.#returning.size === 0 && (start.hasStarted || this.#waiting.size === 0)
    return isAhead && this.#hasRoom(start) ? this.#take(start) : undefined
  }

  wait(waiting: Waiting): void {
    const queue = waiting.start.hasStarted ? this.#returning : this.#waiting
    queue.add(waiting)
    this.advance()
  }

  /** Takes back a start that waits. */
  leave(waiting: Waiting): void {
    if (!this.#returning.delete(waiting) && !this.#waiting.delete(waiting)) return
    this.#settle()
  }

  /** Seconds until a start may have a place. */
  get retryAfterS(): number {
    const { rate } = this.limits
    if (!rate || this.#inWindow() < rate.count) return 1
    return Math.max(1, Math.ceil((this.#rate.freeAt(rate.count, rate) - this.#options.clock.monotonic()) / 1_000))
  }

  /** Gives places to those that wait, as far as there is room. */
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
    if (this.#places.size >= concurrency) return false
    return hasStarted || !rate || this.#inWindow() + this.#reserved < rate.count
  }

  #inWindow(): number {
    const { rate } = this.limits
    return rate ? this.#rate.count(this.#options.clock.monotonic(), rate) : 0
  }

  #take(start: Start): Place {
    if (!start.hasStarted) this.#reserved += 1
    const place = new GroupPlace(start, this)
    this.#places.add(place)
    return place
  }

  /** Called by a place when its new run begins, or leaves without having begun. */
  leftReservation(hasBegun: boolean): void {
    this.#reserved -= 1
    if (!hasBegun) return
    const { rate } = this.limits
    if (rate) this.#rate.add(this.#options.clock.monotonic(), rate)
    if (this.#waiting.size > 0) this.#settle()
  }

  /** Called by a place when it is free. */
  released(place: GroupPlace): void {
    this.#places.delete(place)
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

  /** Cancels as many of the oldest runs as newer ones wait for their places. */
  #replaceOldest(): void {
    const { beyond, concurrency } = this.limits
    if (beyond !== 'replace' || this.#places.size < concurrency) return
    let left = this.#waiting.size
    for (const place of this.#places) {
      if (left === 0) return
      left -= 1
      if (place.isReplaced) continue
      place.isReplaced = true
      this.#options.cancel(place.executionId)
    }
  }

  #wakeLater(): void {
    const { rate, concurrency } = this.limits
    // Otherwise the end of a run makes room.
    if (!rate || this.#places.size >= concurrency) return
    const waitMs = this.#rate.freeAt(rate.count - this.#reserved, rate) - this.#options.clock.monotonic()
    if (!Number.isFinite(waitMs)) return
    this.#timer = this.#options.clock.setTimer(Math.min(Math.max(Math.ceil(waitMs), 1), timerMsMax), () => {
      this.#timer = undefined
      this.advance()
    })
  }
}

/** System timers cannot be much longer than that. */
const timerMsMax = 3_600_000

class GroupPlace implements Place {
  readonly executionId: string
  readonly #group: StartGroup
  /** Whether it still counts as reserved. */
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
