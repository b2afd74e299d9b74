/**
 * Cuts an event stream into its events, of which it tells the data. Pure. It keeps no more than the line that is being
 * written: thousands of streams may be under way.
 */
export class EventData {
  readonly #onData: (data: string) => void
  #line: Buffer | undefined
  #data: string | undefined
  #isBegun = false
  /** Whether the last line ended with a CR: a LF behind it belongs to that. */
  #endedWithCr = false

  constructor(onData: (data: string) => void) {
    this.#onData = onData
  }

  /** The next bytes of the stream, in portions of any size. */
  push(bytes: Uint8Array<ArrayBuffer>): void {
    if (bytes.length === 0) return
    let whole = this.#line
      ? Buffer.concat([this.#line, bytes])
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    if (this.#endedWithCr && whole[0] === lf) whole = whole.subarray(1)
    const end = Math.max(whole.lastIndexOf(lf), whole.lastIndexOf(cr))
    this.#endedWithCr = end >= 0 && end === whole.length - 1 && whole[end] === cr
    this.#line = end === whole.length - 1 ? undefined : Buffer.from(whole.subarray(end + 1))
    if (end < 0) return
    const isPair = whole[end] === lf && whole[end - 1] === cr
    // Only whole lines become text: no character is cut.
    const lines = whole.toString('utf8', 0, isPair ? end - 1 : end).split(/\r\n|\n|\r/)
    for (const line of lines) this.#takeLine(line)
  }

  #takeLine(written: string): void {
    const line = !this.#isBegun && written.startsWith('\ufeff') ? written.slice(1) : written
    this.#isBegun = true
    if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5)
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    } else if (line === 'data') {
      this.#data = this.#data === undefined ? '' : `${this.#data}\n`
    } else if (line === '' && this.#data !== undefined) {
      const data = this.#data
      this.#data = undefined
      this.#onData(data)
    }
  }
}

const lf = 10
const cr = 13
