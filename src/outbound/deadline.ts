import type { Clock, Timer } from '../domain/clock.ts'
import { OutboundError } from '../domain/outbound-request.ts'

/** What a request is doing: the first thing one wants to know of a request that ran out of time. */
export type Phase = 'a free place' | 'the address' | 'an answer' | 'the rest of the answer'

/** Ends one request when its time is up or when its caller gives up, whichever comes first. */
export class Deadline {
  phase: Phase = 'a free place'
  #ending = new AbortController()
  #timer: Timer
  #callers: readonly AbortSignal[]
  #cancel = () => this.end(new OutboundError('CANCELLED', 'The request was cancelled'))

  constructor(timeoutMs: number, callers: readonly AbortSignal[], clock: Clock) {
    this.#callers = callers
    this.#timer = clock.setTimer(timeoutMs, () => {
      this.end(new OutboundError('TIMEOUT', `After ${timeoutMs} ms it still waited for ${this.phase}`))
    })
    for (const caller of callers) caller.addEventListener('abort', this.#cancel, { once: true })
    if (callers.some((caller) => caller.aborted)) this.#cancel()
  }

  /** Its reason is always an `OutboundError`. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Stops what is still going on. */
  end(reason: OutboundError): void {
    this.lift()
    this.#ending.abort(reason)
  }

  /** The request is over: nothing may end it any more. */
  lift(): void {
    this.#timer.cancel()
    for (const caller of this.#callers) caller.removeEventListener('abort', this.#cancel)
  }
}
