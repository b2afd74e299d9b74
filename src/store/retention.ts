import type { Clock, Timer } from '../domain/clock.ts'
import { sequenceAt } from '../domain/ids.ts'
import type { RetentionStep, Store } from './store.ts'

export type RetentionOptions = {
  store: Pick<Store, 'retain'>
  clock: Clock
  /** Days that entries are kept, counted from when they were recorded. */
  days: number
  /** Size that the database may have, in bytes. */
  bytesMax: number
  /** Called after each round that deleted something. */
  onRound(round: { entries: number; bytesFreed: number }): void
  /** Called when a step failed; the next round tries again. */
  onFailure(error: unknown): void
}

/** Totals since the start, for metrics. */
export type RetentionCounters = {
  entries: number
  bytesFreed: number
  /** The longest time that a step kept other writes waiting, in milliseconds. */
  heldMsMax: number
  /** When the last round ended; undefined before the first. */
  lastRoundAt: number | undefined
}

/**
 * Keeps the log within its bounds. Every few seconds it begins a round: one small step after the other, until there is
 * nothing more to do. A step delays every other write, so it is short. When commits take long its own work becomes
 * shorter, but not so short that most of the step is its commit. The pause between two steps is many times as long, so
 * few callers meet a step.
 *
 * It adapts the pauses during the round. Every second it checks how much is left, and estimates the end. If the end is
 * more than some seconds away, or out of reach because as much is recorded as is deleted, the pauses become half as
 * long; near the end they become longer.
 *
 * A step that delayed others for far too long halves the next one, each time again; only many short steps in a row
 * double it. So it proceeds in small pieces on a machine that is busy with something else.
 */
export class Retention {
  readonly #options: RetentionOptions
  readonly #counters: RetentionCounters = { entries: 0, bytesFreed: 0, heldMsMax: 0, lastRoundAt: undefined }
  #workMs = workMsMin
  /** The average time of a step beyond its work: its commit. */
  #overMs = 0
  /** The share of the largest step: 1, a half or a quarter. */
  #share = 1
  /** Since the share last changed. */
  #shortSteps = 0
  #timer: Timer | undefined
  /** The step in progress. */
  #step: Promise<void> = Promise.resolve()
  #stopped = false
  #round = { entries: 0, bytesFreed: 0 }
  /** The pause after a step, as a multiple of its length. */
  #pauses = pausesMax
  /** The last check of how much is left; undefined between two rounds. */
  #looked: { at: number; leftBytes: number } | undefined
  /** Up to this sequence the round has kept only entries with pending deliveries. */
  #heldTo = 0

  constructor(options: RetentionOptions) {
    this.#options = options
    this.#after(firstRoundMs)
  }

  get counters(): Readonly<RetentionCounters> {
    return this.#counters
  }

  /** Resolves when the step in progress has ended; no other one begins. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#step
  }

  #after(delayMs: number): void {
    if (this.#stopped) return
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      this.#step = this.#take()
    })
  }

  async #take(): Promise<void> {
    const { store, clock, days, bytesMax, onFailure } = this.#options
    try {
      const before = sequenceAt(clock.now() - days * dayMs)
      const step = await store.retain({ before, bytesMax, workMs: this.#workMs, after: this.#heldTo })
      this.#heldTo = step.heldTo
      this.#learn(step)
      this.#look(step.leftBytes)
      if (!step.done) return this.#after(Math.max(pauseMsMin, step.heldMs * this.#pauses))
    } catch (error) {
      onFailure(error)
    }
    this.#after(this.#endRound())
  }

  #look(leftBytes: number): void {
    const at = this.#options.clock.monotonic()
    this.#looked ??= { at, leftBytes }
    const passedMs = at - this.#looked.at
    if (passedMs < lookMs) return
    const goneBytes = this.#looked.leftBytes - leftBytes
    // With no entry left to delete, the rest is free pages, which disturb nobody.
    const never = leftBytes > 0 && goneBytes <= 0
    const endsInMs = never ? Number.POSITIVE_INFINITY : (leftBytes / Math.max(goneBytes, 1)) * passedMs
    const least = Math.min(this.#pauses, never ? pausesMinGrowing : pausesMin)
    if (endsInMs > endsInMsMost) this.#pauses = Math.max(this.#pauses / 2, least)
    else if (endsInMs < endsInMsMost / 4) this.#pauses = Math.min(this.#pauses * 2, pausesMax)
    this.#looked = { at, leftBytes }
  }

  #learn({ entries, bytesFreed, heldMs }: RetentionStep): void {
    this.#round.entries += entries
    this.#round.bytesFreed += bytesFreed
    this.#counters.entries += entries
    this.#counters.bytesFreed += bytesFreed
    this.#counters.heldMsMax = Math.max(this.#counters.heldMsMax, heldMs)
    const overMs = Math.max(0, heldMs - this.#workMs)
    this.#overMs += (overMs - this.#overMs) / stepsRemembered
    this.#learnShare(heldMs)
    const workMs = Math.min(Math.max(heldMsWanted - this.#overMs, this.#overMs), workMsMax * this.#share)
    this.#workMs = Math.max(workMs, workMsMin)
  }

  #learnShare(heldMs: number): void {
    this.#shortSteps += 1
    if (heldMs > heldMsMost) this.#share = Math.max(this.#share / 2, shareMin)
    else if (this.#shortSteps >= shortStepsMin) this.#share = Math.min(this.#share * 2, 1)
    else return
    this.#shortSteps = 0
  }

  /** Returns the time until the next round. */
  #endRound(): number {
    const { entries } = this.#round
    const foundOnlyHeld = this.#heldTo > 0 && entries === 0
    this.#counters.lastRoundAt = this.#options.clock.now()
    if (this.#round.entries > 0) this.#options.onRound(this.#round)
    this.#round = { entries: 0, bytesFreed: 0 }
    this.#pauses = pausesMax
    this.#looked = undefined
    this.#heldTo = 0
    return foundOnlyHeld ? heldRoundMs : entries > 0 ? nextRoundMs : roundMs
  }
}

const dayMs = 86_400_000
/** After the start, when the first callers have been served. */
const firstRoundMs = 1_000
const roundMs = 5_000
/** After a round that deleted entries. Until the next one, the log grows beyond its limit by what is recorded. */
const nextRoundMs = 1_000
/** After a round that read many entries and could delete none, because their deliveries are pending. */
const heldRoundMs = 60_000

/** A delay that callers hardly notice next to the time of their own commit. */
const heldMsWanted = 1.5
const workMsMin = 0.4
/**
 * On a disk where the commit alone exceeds the wanted time, a step must still do enough work to be worth its commit.
 */
const workMsMax = 5
const stepsRemembered = 8
/** Well below the limit of 50 ms per step, because the next step may take longer than this one. */
const heldMsMost = 20
const shortStepsMin = 32
/** Smaller steps would be little more than their commits. */
const shareMin = 1 / 4
const pausesMax = 16
/**
 * With these the p99 of runs was 1.3 to 1.45 times what it was without retention (bench/README.md), where 1.5 is the
 * most.
 */
const pausesMin = 4
/** While the log grows beyond its limit although entries are deleted. Otherwise it might fill the disk. */
const pausesMinGrowing = 1
const lookMs = 1_000
/** A round that would go on for longer makes its pauses shorter: the log should fit again after 10 seconds. */
const endsInMsMost = 6_000
const pauseMsMin = 2
