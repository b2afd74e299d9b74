import { isDeeperThan } from '../domain/json.ts'
import { answerBytesMax } from '../domain/limits.ts'
import { codeError, type Failure, resultTooLarge } from './failure.ts'

/** One run of a program as its host sees it: the functions that the guest calls, and what they were told. */
export class Run {
  /** JSON text. */
  result: string | undefined
  failure: Failure | undefined
  /** Set once the code may not go on, whatever it does with the moments that are left to it. */
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

  /** A host function was called: `letter` is the code of its first letter, `read` reads its argument. */
  call(letter: number, read: () => string | undefined): number | undefined {
    if (letter === seedLetter) return this.#host.seed()
    if (this.#stdoutRoom >= 0) this.#print(read() ?? '')
    return undefined
  }

  /** Takes the JSON text of the result, which is empty when it is too long. */
  settle(json: string): void {
    if (json === '' || (json.length * 3 > answerBytesMax && Buffer.byteLength(json) > answerBytesMax)) {
      this.failure = resultTooLarge(answerBytesMax)
    } else if (isDeeperThan(json, resultDepthMax)) {
      this.failure = codeError(`The result is nested deeper than ${resultDepthMax} levels.`)
    } else this.result = json
  }

  #print(line: string): void {
    const cut = line.length > this.#stdoutRoom
    this.#lines.push(cut ? line.slice(0, this.#stdoutRoom) + stdoutCut : line)
    this.#stdoutRoom = cut ? -1 : this.#stdoutRoom - line.length - 1
  }
}

export type RunHost = {
  /** Asked again and again: why the run has to end now. */
  ends(): RunEnd | undefined
  /** An unsigned integer of 32 bits. */
  seed(): number
}

const seedLetter = 's'.charCodeAt(0)

export type RunEnd = 'TIMEOUT' | 'CANCELLED'

/** UTF-16 units of output that are kept. */
export const stdoutLengthMax = 262_144
export const stdoutCut = ' … (output cut here: 256 KB are kept)'

/** Deeper than anything from outside, so that code may wrap what it got, and far from where walking a value fails. */
const resultDepthMax = 1_000
