import type { Clock, Timer } from '../domain/clock.ts'
import type { OutboundRequest } from '../domain/outbound-request.ts'

/** Spaces out requests: those with the same key wait in one line, in the order in which they came. */
export class Pacer {
  readonly #clock: Clock
  readonly #lines = new Map<string, Line>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the request may be sent. Rejects with the reason of the request's signal when that aborts first. */
  async turn({ pace, url, workspaceId = '', signal }: OutboundRequest): Promise<void> {
    if (!pace) return
    const key = `${workspaceId} ${pace.of === '' ? `host ${URL.parse(url)?.host ?? ''}` : `credential ${pace.of}`}`
    const line = this.#lines.get(key) ?? new Line(this.#clock, () => this.#lines.delete(key))
    this.#lines.set(key, line)
    await line.turn(1_000 / pace.perSecond, signal)
  }

  /** Lets nobody wait any longer. */
  stop(): void {
    for (const line of this.#lines.values()) line.stop()
    this.#lines.clear()
  }
}

type Waiter = { intervalMs: number; go: () => void }

class Line {
  readonly #clock: Clock
  readonly #ended: () => void
  readonly #waiters = new Set<Waiter>()
  /** Set until the next request may be sent. */
  #timer: Timer | undefined

  /** `ended` is called when nobody waits and the next request may be sent at once. */
  constructor(clock: Clock, ended: () => void) {
    this.#clock = clock
    this.#ended = ended
  }

  turn(intervalMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const abort = () => {
        this.#waiters.delete(waiter)
        reject(signal.reason)
      }
      const go = () => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const waiter = { intervalMs, go }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiters.add(waiter)
      if (!this.#timer) this.#next()
    })
  }

  stop(): void {
    this.#timer?.cancel()
    for (const { go } of this.#waiters) go()
    this.#waiters.clear()
  }

  #next(): void {
    this.#timer = undefined
    const [waiter] = this.#waiters
    if (!waiter) return void this.#ended()
    this.#waiters.delete(waiter)
    this.#timer = this.#clock.setTimer(waiter.intervalMs, () => this.#next())
    waiter.go()
  }
}
