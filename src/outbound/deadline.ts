import type { Clock, Timer } from '../domain/clock.ts'
import { OutboundError } from '../domain/outbound-request.ts'

/** The phase of a request. A timeout message names it, so that its reader knows where the time went. */
export type Phase =
  | 'the credential'
  | 'a free slot'
  | 'the address'
  | 'a response'
  | 'the rest of the response'
  | 'free memory'

/** Ends one request when its time is up or when its caller gives up, whichever comes first. */
export class Deadline {
  phase: Phase = 'a free slot'
  /** Why the request ended early; undefined until then. */
  reason: OutboundError | undefined
  /** Called when the request ends early. */
  onEnd: (() => void) | undefined
  readonly #timeoutMs: number
  readonly #controller = new AbortController()
  readonly #timer: Timer
  readonly #caller: AbortSignal
  readonly #underWay: Set<Deadline>

  /** Adds itself to `underWay` and removes itself from there when the request is over. */
  constructor(timeoutMs: number, caller: AbortSignal, underWay: Set<Deadline>, clock: Clock) {
    this.#timeoutMs = timeoutMs
    this.#timer = clock.setTimer(timeoutMs, () => this.#expire())
    this.#caller = caller
    this.#underWay = underWay
    underWay.add(this)
    caller.addEventListener('abort', this, { once: true })
    if (caller.aborted) this.cancel()
  }

  /** Aborts with `reason` when the request ends early. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  cancel(): void {
    this.end(new OutboundError('CANCELLED', 'The request was cancelled'))
  }

  /** Listens to the caller's signal. The deadline itself is the listener, so that a request needs no closure for it. */
  handleEvent(): void {
    this.cancel()
  }

  end(reason: OutboundError): void {
    this.lift()
    if (this.reason) return
    this.reason = reason
    this.#controller.abort(reason)
    this.onEnd?.()
  }

  /** The request is over, so nothing may end it any more. */
  lift(): void {
    this.#timer.cancel()
    this.#underWay.delete(this)
    this.#caller.removeEventListener('abort', this)
  }

  #expire(): void {
    this.end(new OutboundError('TIMEOUT', `After ${this.#timeoutMs} ms it still waited for ${this.phase}`))
  }
}
