import type { Clock, Timer } from '../domain/clock.ts'
import type { OutboundError } from '../domain/outbound-request.ts'
import { cancelled, TimeLimit } from './time-limit.ts'

/** Ends one request when its time is up or when one of its callers gives up, whichever comes first. */
export class Deadline extends TimeLimit {
  readonly #timer: Timer
  readonly #callers: readonly AbortSignal[]
  readonly #cancel = () => this.end(cancelled())

  constructor(timeoutMs: number, callers: readonly AbortSignal[], clock: Clock) {
    super(timeoutMs, clock.monotonic() + timeoutMs)
    this.phase = 'a free place'
    this.#timer = clock.setTimer(timeoutMs, () => this.expire())
    this.#callers = callers
    for (const caller of callers) caller.addEventListener('abort', this.#cancel, { once: true })
    if (callers.some((caller) => caller.aborted)) this.#cancel()
  }

  override end(reason: OutboundError): void {
    this.lift()
    super.end(reason)
  }

  /** The request is over: nothing may end it any more. */
  lift(): void {
    this.#timer.cancel()
    for (const caller of this.#callers) caller.removeEventListener('abort', this.#cancel)
  }
}
