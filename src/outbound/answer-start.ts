import { OutboundError } from '../domain/outbound-request.ts'
import type { AnswerHead } from './answer-parser.ts'
import type { WireReceiver } from './wire.ts'

/** What was read of an answer: its status, the one header that matters, and the beginning of its body. */
export type StartedAnswer = { status: number; retryAfter: string | undefined; body: Uint8Array }

/** Reads the beginning of an answer, and no more. */
export class AnswerStart implements WireReceiver {
  readonly #bytesWanted: number
  readonly #resolve: (answer: StartedAnswer) => void
  readonly #reject: (error: unknown) => void
  #head: AnswerHead | undefined
  #body: Uint8Array[] = []
  #bytes = 0

  constructor(bytesWanted: number, resolve: (answer: StartedAnswer) => void, reject: (error: unknown) => void) {
    this.#bytesWanted = bytesWanted
    this.#resolve = resolve
    this.#reject = reject
  }

  get hasEnough(): boolean {
    return this.#head !== undefined && this.#bytes >= this.#bytesWanted
  }

  begun(head: AnswerHead): void {
    this.#head = head
    if (this.#bytesWanted === 0) this.ended()
  }

  body(part: Uint8Array): void {
    const isEnough = this.#bytes >= this.#bytesWanted
    this.#bytes += part.length
    if (isEnough) return
    this.#body.push(part)
    if (this.#bytes >= this.#bytesWanted) this.ended()
  }

  ended(): void {
    if (!this.#head) return
    const { status, headers } = this.#head
    const retryAfter = headers.get('retry-after')
    const encoding = headers.get('content-encoding')
    // Encodings were not asked for; what comes in one all the same is of no use to people.
    const isEncoded = encoding !== undefined && !/^(identity)?$/i.test(String(encoding))
    const body = isEncoded ? noBytes : this.#beginning()
    this.#resolve({ status, retryAfter: retryAfter === undefined ? undefined : String(retryAfter), body })
  }

  #beginning(): Uint8Array {
    const [first = noBytes] = this.#body
    const whole = this.#body.length < 2 ? first : Buffer.concat(this.#body)
    return whole.length <= this.#bytesWanted ? whole : whole.subarray(0, this.#bytesWanted)
  }

  /** A status that says no says all, whatever becomes of the rest: proxies often break off behind it. */
  failed(error: unknown): void {
    const isNo = this.#head !== undefined && this.#head.status >= 300
    const isCancelled = error instanceof OutboundError && error.code === 'CANCELLED'
    if (isNo && !isCancelled) this.ended()
    else this.#reject(error)
  }
}

const noBytes = new Uint8Array()
