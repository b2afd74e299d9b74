import type { Clock, Timer } from '../domain/clock.ts'
import type { OutboundError } from '../domain/outbound-request.ts'
import { cancelled, TimeLimit } from './time-limit.ts'

/** Ends one request when its time is up or when its caller gives up, whichever comes first. */
export class Deadline extends TimeLimit {
  readonly #timer: Timer
  readonly #caller: AbortSignal
  readonly #all: Set<Deadline>

  /** `all`: it is one of these as long as the request is under way. */
  constructor(timeoutMs: number, caller: AbortSignal, all: Set<Deadline>, clock: Clock) {
    super(timeoutMs, clock.monotonic() + timeoutMs)
    this.phase = 'a free place'
    this.#timer = clock.setTimer(timeoutMs, () => this.expire())
    this.#caller = caller
    this.#all = all
    all.add(this)
    caller.addEventListener('abort', this, { once: true })
    if (caller.aborted) this.cancel()
  }

  cancel(): void {
    this.end(cancelled())
  }

  /** As a listener by itself, it needs no function of its own. */
  handleEvent(): void {
    this.cancel()
  }

  override end(reason: OutboundError): void {
    this.lift()
    super.end(reason)
  }

  /** The request is over: nothing may end it any more. */
  lift(): void {
    this.#timer.cancel()
    this.#all.delete(this)
    this.#caller.removeEventListener('abort', this)
  }
}
