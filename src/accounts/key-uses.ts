import type { Clock, Timer } from '../domain/clock.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import type { KeyUse } from '../store/store.ts'

export type KeyUsesOptions = {
  record(uses: readonly KeyUse[]): Promise<void>
  clock: Clock
  keysMax?: number
}

/**
 * When keys were last used, written down in the background, at most once a minute a key. It is news and no more: a disk
 * that fails takes it with it, and nobody waits.
 */
export class KeyUses {
  readonly #record: KeyUsesOptions['record']
  readonly #clock: Clock
  readonly #keysMax: number
  /** When a use was last noted (monotonic), in the order of noting. */
  readonly #noted = new Map<string, number>()
  #waiting: KeyUse[] = []
  #timer: Timer | undefined
  #writing: Promise<void> | undefined

  constructor({ record, clock, keysMax = 10_000 }: KeyUsesOptions) {
    this.#record = record
    this.#clock = clock
    this.#keysMax = keysMax
  }

  /** A look-up, but once a minute. */
  readonly note = (keyId: string): void => {
    const now = this.#clock.monotonic()
    const notedAt = this.#noted.get(keyId)
    if (notedAt !== undefined && now - notedAt < minuteMs) return
    this.#noted.delete(keyId)
    this.#noted.set(keyId, now)
    forgetOldest(this.#noted, this.#keysMax)
    // More keys than are remembered, all in use within a second: what is not written now will be a minute later.
    if (this.#waiting.length < this.#keysMax) this.#waiting.push({ keyId, at: this.#clock.now() })
    this.#timer ??= this.#clock.setTimer(gatherMs, () => void this.#write())
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.#writing
    await this.#write()
  }

  #write(): Promise<void> {
    this.#timer = undefined
    const uses = this.#waiting
    this.#waiting = []
    if (uses.length === 0) return Promise.resolve()
    this.#writing = this.#record(uses).catch(() => {})
    return this.#writing
  }
}

const minuteMs = 60_000
/** So that keys used at one time are written together. */
const gatherMs = 1_000
