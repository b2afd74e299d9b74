/**
 * A timing wheel for very many timers. It has no clock: the caller passes the time. Inserting and cancelling take the
 * same few steps, however many timers there are. A timer takes 16 bytes.
 *
 * There are four levels of 256 slots. A slot of the first level is one millisecond. A slot of every other level is as
 * long as all 256 slots of the level below. A timer is on the level of the highest byte in which its time differs from
 * the wheel's time: on the first level if it is due within the current 256 ms, and so on. When the wheel's time enters
 * a slot of a higher level, the timers in that slot move down, so each timer moves at most three times. Timers beyond
 * all levels (49 days) wait in the last slot and are placed again from there. A bit for each slot says whether it holds
 * timers, so that empty slots are skipped.
 *
 * Slots are doubly linked lists in two arrays. `previous` of the first timer in a list names the slot.
 *
 * Times are milliseconds of a monotonic clock. Numbers above 2^31 would take longer to cut into bytes. Fractions are
 * rounded up.
 */
export class Wheel {
  /** Every timer that was due before or at this time has fired, except those in `overdue`. */
  #now: number
  #size = 0
  /** The first timer of each slot. */
  readonly #first = new Int32Array(slots + 2).fill(none)
  /** A bit for each slot that holds timers, 32 slots in one number. */
  readonly #occupied = new Int32Array(slots / 32)
  #next: Int32Array
  #previous: Int32Array
  #dueAt: Float64Array
  /** The first free timer number; free numbers are linked by `next`. */
  #free = none
  /** Timer numbers from here on were never used. */
  #fresh = 0

  constructor(now: number, { capacity = 1_024 }: { capacity?: number } = {}) {
    this.#now = Math.floor(now)
    this.#next = new Int32Array(capacity)
    this.#previous = new Int32Array(capacity)
    this.#dueAt = new Float64Array(capacity)
  }

  /** Timers that have neither fired nor been cancelled. */
  get size(): number {
    return this.#size
  }

  /** Returns the number of the new timer. It is reused after the timer has fired or was cancelled. */
  insert(dueAt: number): number {
    const timer = this.#take()
    this.#dueAt[timer] = dueAt
    this.#link(timer, dueAt <= this.#now ? overdue : this.#slotOf(dueAt))
    this.#size += 1
    return timer
  }

  /** False when there is no such timer. */
  cancel(timer: number): boolean {
    const previous = timer < this.#fresh ? this.#previous[timer] : undefined
    if (previous === undefined || previous === none) return false
    this.#unlink(timer)
    this.#release(timer)
    return true
  }

  /**
   * Moves to `now` and calls `fire` with the number of every timer that is due by then: first those that were already
   * due when they were inserted, then the others by time, in any order within a millisecond. `fire` may insert and
   * cancel timers. A timer that it inserts fires in the same call if it is due after the timer that is firing, and in
   * the next call otherwise.
   */
  expire(now: number, fire: (timer: number) => void): void {
    this.#expireOverdue(fire)
    for (;;) {
      const slot = this.#nextSlot()
      if (slot === none) break
      const startsAt = this.#startOf(slot)
      if (startsAt > now) break
      this.#now = startsAt
      if (slot < slotsPerLevel) this.#fireAll(slot, fire)
      else this.#moveDown(slot)
    }
    this.#now = Math.max(this.#now, Math.floor(now))
  }

  /**
   * When to call `expire` next; undefined when no timer is pending. It is never later than the earliest timer, and
   * earlier by at most the length of that timer's slot.
   */
  nextAt(): number | undefined {
    if (this.#first[overdue] !== none) return this.#now
    const slot = this.#nextSlot()
    return slot === none ? undefined : Math.max(this.#now, this.#startOf(slot))
  }

  /** Timers that are inserted while these fire wait for the next call; otherwise, it might never end. */
  #expireOverdue(fire: (timer: number) => void): void {
    const first = this.#first[overdue]!
    if (first === none) return
    this.#first[overdue] = none
    this.#first[firing] = first
    this.#previous[first] = headOf(firing)
    this.#fireAll(firing, fire)
  }

  #fireAll(slot: number, fire: (timer: number) => void): void {
    for (let timer = this.#first[slot]!; timer !== none; timer = this.#first[slot]!) {
      this.#unlink(timer)
      this.#release(timer)
      fire(timer)
    }
  }

  #moveDown(slot: number): void {
    for (let timer = this.#first[slot]!; timer !== none; timer = this.#first[slot]!) {
      this.#unlink(timer)
      this.#link(timer, this.#slotOf(this.#dueAt[timer]!))
    }
  }

  /** The slot for a time, relative to the wheel's time. A time in the past is in the current slot. */
  #slotOf(dueAt: number): number {
    const at = Math.min(Math.max(Math.ceil(dueAt), this.#now), this.#now + rangeMs)
    const level = (31 - Math.clz32((at ^ this.#now) | 1)) >> 3
    return (level << 8) | ((at >>> (level << 3)) & 255)
  }

  /** The slot whose time comes first. Lower levels always come before higher ones. */
  #nextSlot(): number {
    for (let level = 0; level < levels; level += 1) {
      const present = (this.#now >>> (level << 3)) & 255
      const slot = this.#occupiedFrom(level, present)
      if (slot !== none) return slot
    }
    // The last level wraps around.
    return this.#occupiedFrom(levels - 1, 0)
  }

  #occupiedFrom(level: number, from: number): number {
    const base = level << 3
    let word = from >>> 5
    let bits = this.#occupied[base + word]! & (-1 << (from & 31))
    while (bits === 0) {
      word += 1
      if (word === 8) return none
      bits = this.#occupied[base + word]!
    }
    return (level << 8) | (word << 5) | (31 - Math.clz32(bits & -bits))
  }

  /** The first time in a slot that is not before the wheel's time. */
  #startOf(slot: number): number {
    const level = slot >>> 8
    const width = 256 ** level
    const round = width * 256
    const startsAt = this.#now - (this.#now % round) + (slot & 255) * width
    return startsAt + width <= this.#now ? startsAt + round : startsAt
  }

  #link(timer: number, slot: number): void {
    const first = this.#first[slot]!
    this.#next[timer] = first
    this.#previous[timer] = headOf(slot)
    if (first !== none) this.#previous[first] = timer
    else if (slot < slots) this.#occupied[slot >>> 5]! |= 1 << (slot & 31)
    this.#first[slot] = timer
  }

  #unlink(timer: number): void {
    const next = this.#next[timer]!
    const previous = this.#previous[timer]!
    if (next !== none) this.#previous[next] = previous
    if (previous >= 0) {
      this.#next[previous] = next
      return
    }
    const slot = headOf(previous)
    this.#first[slot] = next
    if (next === none && slot < slots) this.#occupied[slot >>> 5]! &= ~(1 << (slot & 31))
  }

  #take(): number {
    const free = this.#free
    if (free !== none) {
      this.#free = this.#next[free]!
      return free
    }
    if (this.#fresh === this.#next.length) this.#grow()
    this.#fresh += 1
    return this.#fresh - 1
  }

  #release(timer: number): void {
    this.#previous[timer] = none
    this.#next[timer] = this.#free
    this.#free = timer
    this.#size -= 1
  }

  #grow(): void {
    const capacity = this.#next.length * 2
    const grown = <Numbers extends Int32Array | Float64Array>(to: Numbers, from: Numbers): Numbers => {
      to.set(from)
      return to
    }
    this.#next = grown(new Int32Array(capacity), this.#next)
    this.#previous = grown(new Int32Array(capacity), this.#previous)
    this.#dueAt = grown(new Float64Array(capacity), this.#dueAt)
  }
}

const levels = 4
const slotsPerLevel = 256
const slots = levels * slotsPerLevel
/** Two more lists: timers that were due when they were inserted, and those of them that fire now. */
const overdue = slots
const firing = slots + 1
const none = -1

/** The range of the last level, less one of its slots, so that a time in the current slot is always in this round. */
const rangeMs = 256 ** levels - 256 ** (levels - 1)

/** How `previous` names a slot; the function is its own inverse. */
function headOf(slot: number): number {
  return -2 - slot
}
