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
  /** Told after each round that deleted something. */
  onSwept(round: { entries: number; bytesFreed: number }): void
  /** Told when a step failed; the next round tries again. */
  onFailure(error: unknown): void
}

/** What it did since the start, for whoever watches. */
export type RetentionCounters = {
  entries: number
  bytesFreed: number
  /** The longest time that a step kept other writes waiting, in milliseconds. */
  heldMsMax: number
  /** When the last round ended; undefined before the first. */
  lastRoundAt: number | undefined
}

/**
 * Keeps the log within its bounds. Once a minute it begins a round: one small step after the other, until nothing is
 * left to do. A step holds up every other write, so it is short (commits that take long make its own work shorter, but
 * not so short that most of the step were its commit), and between two of them there is a pause that is many times as
 * long: few callers meet one.
 *
 * How many times, it learns while the round goes on: every so often it looks how much is left, and when that will be
 * gone. Where that is long, or never, because as much is recorded as it deletes, pauses become half as long, and longer
 * again when the end is in sight.
 *
 * A step that held others up for far too long halves what the next one may do, each time again, and only many short
 * ones in a row double it, so that on a machine that is busy with something else it goes on in small pieces.
 */
export class Retention {
  readonly #options: RetentionOptions
  readonly #counters: RetentionCounters = { entries: 0, bytesFreed: 0, heldMsMax: 0, lastRoundAt: undefined }
  #workMs = workMsMin
  /** What a step takes beyond its work, on average: its commit. */
  #overMs = 0
  /** Of what a step may do at most: 1, a half or a quarter. */
  #share = 1
  /** Since the share last changed. */
  #shortSteps = 0
  #timer: Timer | undefined
  /** The step under way. */
  #step: Promise<void> = Promise.resolve()
  #stopped = false
  #round = { entries: 0, bytesFreed: 0 }
  /** How many times as long as a step the pause behind it is. */
  #pauses = pausesMax
  /** When it last looked at how much is left, and what that was; undefined between two rounds. */
  #looked: { at: number; leftBytes: number } | undefined
  /** What the round has left behind it, because deliveries need it. */
  #heldTo = 0

  constructor(options: RetentionOptions) {
    this.#options = options
    this.#after(firstRoundMs)
  }

  get counters(): Readonly<RetentionCounters> {
    return this.#counters
  }

  /** Resolves when the step under way has ended; no other one begins. */
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
    this.#endRound()
    this.#after(roundMs)
  }

  #look(leftBytes: number): void {
    const at = this.#options.clock.monotonic()
    this.#looked ??= { at, leftBytes }
    const passedMs = at - this.#looked.at
    if (passedMs < lookMs) return
    const goneBytes = this.#looked.leftBytes - leftBytes
    // Where no entry is left to go, the rest is free pages, which are in nobody's way.
    const never = leftBytes > 0 && goneBytes <= 0
    const endsInMs = never ? Number.POSITIVE_INFINITY : (leftBytes / Math.max(goneBytes, 1)) * passedMs
    if (endsInMs > endsInMsMost) this.#pauses = Math.max(this.#pauses / 2, pausesMin)
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

  #endRound(): void {
    this.#counters.lastRoundAt = this.#options.clock.now()
    if (this.#round.entries > 0) this.#options.onSwept(this.#round)
    this.#round = { entries: 0, bytesFreed: 0 }
    this.#pauses = pausesMax
    this.#looked = undefined
    this.#heldTo = 0
  }
}

const dayMs = 86_400_000
/** After the start, when whoever waited for it has been served. */
const firstRoundMs = 1_000
const roundMs = 60_000

/** What a caller hardly notices beside the time that its own commit takes. */
const heldMsWanted = 1.5
const workMsMin = 0.4
/** On a disk where the commit alone takes longer than wished, a step has to be worth it all the same. */
const workMsMax = 5
const stepsRemembered = 8
/** Well below the 50 ms that no step may take: the next one may meet more than this one did. */
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
/** Long enough that what is recorded meanwhile is neither a burst nor a lull. */
const lookMs = 15_000
/** A round that would go on for longer makes its pauses shorter. */
const endsInMsMost = 180_000
const pauseMsMin = 2
