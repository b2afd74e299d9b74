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
 * Keeps the log within its bounds. Once a minute it begins a round: one small step after the other, until nothing is left to
 * do. A step holds up every other write, so it is short (commits that take long make its own work shorter), and between two
 * of them there is a pause that is many times as long: few callers meet one. Only a round that goes on for long, because
 * more is recorded than it deletes, makes its pauses shorter.
 *
 * A step that held others up for far too long halves what the next one may do, each time again, and only many short ones in a
 * row double it, so that on a machine that is busy with something else it goes on in small pieces.
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
  #roundStartedAt: number | undefined
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
      this.#roundStartedAt ??= clock.monotonic()
      const before = sequenceAt(clock.now() - days * dayMs)
      const step = await store.retain({ before, bytesMax, workMs: this.#workMs, after: this.#heldTo })
      this.#heldTo = step.heldTo
      this.#learn(step)
      if (!step.done) return this.#after(Math.max(pauseMsMin, step.heldMs * this.#pausesPerStep()))
    } catch (error) {
      onFailure(error)
    }
    this.#endRound()
    this.#after(roundMs)
  }

  #pausesPerStep(): number {
    const roundMs = this.#options.clock.monotonic() - (this.#roundStartedAt ?? 0)
    return Math.max(pausesPerStepMin, pausesPerStepMax / 2 ** Math.floor(roundMs / patienceMs))
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
    const workMs = Math.min(Math.max(heldMsWanted - this.#overMs, this.#overMs / 2), workMsMax * this.#share)
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
    this.#roundStartedAt = undefined
    this.#heldTo = 0
  }
}

const dayMs = 86_400_000
/** After the start, when whoever waited for it has been served. */
const firstRoundMs = 1_000
const roundMs = 60_000

/** What a caller does not notice beside the time that its own commit takes. */
const heldMsWanted = 1
const workMsMin = 0.4
/** On a disk where the commit alone takes longer than wished, a step has to be worth it all the same. */
const workMsMax = 10
const stepsRemembered = 8
/** Well below the 50 ms that no step may take: the next one may meet more than this one did. */
const heldMsMost = 20
const shortStepsMin = 32
/** Smaller steps would be little more than their commits. */
const shareMin = 1 / 4
/**
 * While entries by the million went, the p99 of runs was 1.6 times what it was with pauses of 4 steps, and 1.2 (16 connections)
 * to 1.7 times (200 runs a second) with 16 (bench/retention.ts).
 */
const pausesPerStepMax = 16
const pausesPerStepMin = 4
/** How long a round goes on before its pauses become half as long. */
const patienceMs = 600_000
const pauseMsMin = 2
