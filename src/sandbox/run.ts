import { responseBytesMax } from '../domain/limits.ts'
import { jsonRefusal } from '../domain/text/json.ts'
import { codeError, type Failure, resultTooLarge } from './failure.ts'

/** The host's side of one run: the functions that the guest calls, and what it passed to them. */
export class Run {
  /** JSON text. */
  result: string | undefined
  failure: Failure | undefined
  /** Set once the code must end; nothing it does afterwards counts. */
  ended: RunEnd | undefined
  #host: RunHost
  #lines: string[] = []
  #stdoutRoom = stdoutLengthMax

  constructor(host: RunHost) {
    this.#host = host
  }

  get stdout(): string {
    return this.#lines.join('\n')
  }

  interrupted(): boolean {
    this.ended ??= this.#host.ends()
    return this.ended !== undefined
  }

  /**
   * Called when the guest calls a host function: `letter` is the code of its first letter, `read` reads its argument.
   */
  call(letter: number, read: () => string | undefined): number | undefined {
    if (letter === seedLetter) return this.#host.seed()
    if (this.#stdoutRoom >= 0) this.#print(read() ?? '')
    return undefined
  }

  /** Takes the JSON text of the result, which is empty when it is too long. */
  settle(json: string): void {
    if (json === '' || (json.length * 3 > responseBytesMax && Buffer.byteLength(json) > responseBytesMax)) {
      this.failure = resultTooLarge(responseBytesMax)
      return
    }
    const refusal = jsonRefusal(json, resultDepthMax)
    if (refusal === undefined) this.result = json
    else this.failure = codeError(`The result cannot be used: ${refusal}.`)
  }

  #print(line: string): void {
    const cut = line.length > this.#stdoutRoom
    this.#lines.push(cut ? line.slice(0, this.#stdoutRoom) + stdoutCut : line)
    this.#stdoutRoom = cut ? -1 : this.#stdoutRoom - line.length - 1
  }
}

export type RunHost = {
  /** Called repeatedly. Returns the reason if the run has to end now. */
  ends(): RunEnd | undefined
  /** An unsigned integer of 32 bits. */
  seed(): number
}

const seedLetter = 's'.charCodeAt(0)

export type RunEnd = 'TIMEOUT' | 'CANCELLED'

/** The limit of `stdout`, in UTF-16 units. */
export const stdoutLengthMax = 262_144
export const stdoutCut = ' … (output cut here: 256 KB are kept)'

/** Above the limit for input, so that code may wrap a value, and far below the depth at which recursive code fails. */
const resultDepthMax = 1_000
