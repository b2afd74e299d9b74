import type { Clock, Timer } from '../domain/clock.ts'
import { OutboundError } from '../domain/outbound-request.ts'

/** What a request is doing: the first thing one wants to know of a request that ran out of time. */
export type Phase = 'a free place' | 'the address' | 'an answer' | 'the rest of the answer'

/** Ends one request when its time is up. A signal is made when somebody asks for one: most requests need none. */
export class TimeLimit {
  phase: Phase = 'the address'
  /** Why it is over; undefined while it is not. Always an `OutboundError` then. */
  reason: OutboundError | undefined
  /** Called when it is over. */
  onEnd: ((reason: OutboundError) => void) | undefined
  readonly timeoutMs: number
  /** On the monotonic clock. */
  readonly endsAt: number
  #controller: AbortController | undefined

  constructor(timeoutMs: number, endsAt: number) {
    this.timeoutMs = timeoutMs
    this.endsAt = endsAt
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.reason) this.#controller.abort(this.reason)
    return this.#controller.signal
  }

  /** Stops what is still going on. */
  end(reason: OutboundError): void {
    if (this.reason) return
    this.reason = reason
    this.#controller?.abort(reason)
    this.onEnd?.(reason)
  }

  /** Its time is up. */
  expire(): void {
    this.end(new OutboundError('TIMEOUT', `After ${this.timeoutMs} ms it still waited for ${this.phase}`))
  }
}

/**
 * What `Deadline` is, for requests that are many and short: one timer serves all that have the same time, and of a
 * caller's signal one listener serves all.
 */
export class TimeLimits {
  readonly #clock: Pick<Clock, 'monotonic' | 'setTimer'>
  /** By their time: those of one line end in the order of their beginning. */
  readonly #lines = new Map<number, Line>()
  readonly #callers = new WeakMap<AbortSignal, Set<TimeLimit>>()

  constructor(clock: Pick<Clock, 'monotonic' | 'setTimer'>) {
    this.#clock = clock
  }

  /** Ends when its time is up, or when its caller gives up. */
  begin(timeoutMs: number, caller: AbortSignal): TimeLimit {
    const limit = new TimeLimit(timeoutMs, this.#clock.monotonic() + timeoutMs)
    if (caller.aborted) {
      limit.end(cancelled())
      return limit
    }
    const line = this.#lineOf(timeoutMs)
    line.limits.add(limit)
    line.timer ??= this.#clock.setTimer(timeoutMs, () => this.#expire(line))
    this.#ofCaller(caller).add(limit)
    return limit
  }

  /** The request is over: nothing may end it any more. */
  lift(limit: TimeLimit, caller: AbortSignal): void {
    this.#lines.get(limit.timeoutMs)?.limits.delete(limit)
    this.#callers.get(caller)?.delete(limit)
  }

  stop(): void {
    for (const { timer } of this.#lines.values()) timer?.cancel()
    this.#lines.clear()
  }

  /** Those whose time is up, and the timer for the one that is next. Of hundreds that end together each turn has some. */
  #expire(line: Line): void {
    line.timer = undefined
    const now = this.#clock.monotonic()
    let left = endedPerTurn
    for (const limit of line.limits) {
      if (limit.endsAt > now || left === 0) {
        line.timer ??= this.#clock.setTimer(Math.max(0, limit.endsAt - now), () => this.#expire(line))
        return
      }
      left -= 1
      line.limits.delete(limit)
      limit.expire()
    }
    if (line.limits.size === 0) this.#lines.delete(line.timeoutMs)
  }

  #lineOf(timeoutMs: number): Line {
    const known = this.#lines.get(timeoutMs)
    if (known) return known
    const line: Line = { timeoutMs, limits: new Set(), timer: undefined }
    this.#lines.set(timeoutMs, line)
    return line
  }

  #ofCaller(caller: AbortSignal): Set<TimeLimit> {
    const known = this.#callers.get(caller)
    if (known) return known
    const limits = new Set<TimeLimit>()
    this.#callers.set(caller, limits)
    caller.addEventListener('abort', () => {
      for (const limit of limits) limit.end(cancelled())
    })
    return limits
  }
}

const endedPerTurn = 32

type Line = { timeoutMs: number; limits: Set<TimeLimit>; timer: Timer | undefined }

export function cancelled(): OutboundError {
  return new OutboundError('CANCELLED', 'The request was cancelled')
}
