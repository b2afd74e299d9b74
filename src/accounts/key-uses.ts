import type { Clock, Timer } from '../domain/clock.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import type { KeyUse } from '../store/account-store.ts'

export type KeyUsesOptions = {
  record(uses: readonly KeyUse[]): Promise<void>
  clock: Clock
  keysMax?: number
}

/**
 * Records when keys were last used, in the background, at most once a minute per key. The information is not critical:
 * it is lost when the disk fails, and nobody waits for it.
 */
export class KeyUses {
  readonly #record: KeyUsesOptions['record']
  readonly #clock: Clock
  readonly #keysMax: number
  /** The monotonic time of the last recorded use of each key, oldest first. */
  readonly #noted = new Map<string, number>()
  #waiting: KeyUse[] = []
  #timer: Timer | undefined
  #writing: Promise<void> | undefined

  constructor({ record, clock, keysMax = 10_000 }: KeyUsesOptions) {
    this.#record = record
    this.#clock = clock
    this.#keysMax = keysMax
  }

  /** Usually costs one look-up; writes once a minute. */
  readonly note = (keyId: string): void => {
    const now = this.#clock.monotonic()
    const notedAt = this.#noted.get(keyId)
    if (notedAt !== undefined && now - notedAt < minuteMs) return
    this.#noted.delete(keyId)
    this.#noted.set(keyId, now)
    forgetOldest(this.#noted, this.#keysMax)
    // If more keys than `keysMax` are used within a second, the rest are recorded a minute later.
    if (this.#waiting.length < this.#keysMax) this.#waiting.push({ keyId, at: this.#clock.now() })
    this.#timer ??= this.#clock.setTimer(gatherMs, () => void this.#write())
  }

  /** Writes the pending uses. */
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
/** Keys used at about the same time are written together. */
const gatherMs = 1_000
