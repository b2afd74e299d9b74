import type { Clock, Timer } from '../domain/clock.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import type { Phase } from './deadline.ts'

/**
 * What `Deadline` is, for requests that are many and short: a signal is made when somebody asks for one, and of the caller's
 * signal one listener serves all.
 */
export class TimeLimit {
  phase: Phase = 'the address'
  /** Why it is over; undefined while it is not. Always an `OutboundError` then. */
  reason: OutboundError | undefined
  /** Called when it is over. */
  onEnd: ((reason: OutboundError) => void) | undefined
  #timer: Timer
  #controller: AbortController | undefined

  constructor(timeoutMs: number, clock: Pick<Clock, 'setTimer'>) {
    this.#timer = clock.setTimer(timeoutMs, () => {
      this.end(new OutboundError('TIMEOUT', `After ${timeoutMs} ms it still waited for ${this.phase}`))
    })
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.reason) this.#controller.abort(this.reason)
    return this.#controller.signal
  }

  end(reason: OutboundError): void {
    if (this.reason) return
    this.reason = reason
    this.lift()
    this.#controller?.abort(reason)
    this.onEnd?.(reason)
  }

  /** The request is over: nothing may end it any more. */
  lift(): void {
    this.#timer.cancel()
  }
}

/** The requests of callers, so that a caller who gives up ends all of its own. */
export class Callers {
  readonly #limits = new WeakMap<AbortSignal, Set<TimeLimit>>()

  add(signal: AbortSignal, limit: TimeLimit): void {
    if (signal.aborted) limit.end(cancelled())
    const known = this.#limits.get(signal)
    if (known) {
      known.add(limit)
      return
    }
    const limits = new Set([limit])
    this.#limits.set(signal, limits)
    signal.addEventListener('abort', () => {
      for (const each of limits) each.end(cancelled())
    })
  }

  delete(signal: AbortSignal, limit: TimeLimit): void {
    this.#limits.get(signal)?.delete(limit)
  }
}

function cancelled(): OutboundError {
  return new OutboundError('CANCELLED', 'The request was cancelled')
}
