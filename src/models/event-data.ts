/**
 * Cuts an event stream into its events, of which it tells the data. Pure. It keeps no more than the line that is being
 * written: thousands of streams may be under way.
 */
export class EventData {
  readonly #onData: (data: string) => void
  /** The line that is being written, and room for more of it. */
  #line: Buffer | undefined
  #lineBytes = 0
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
    let piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    if (this.#endedWithCr && piece[0] === lf) piece = piece.subarray(1)
    const end = Math.max(piece.lastIndexOf(lf), piece.lastIndexOf(cr))
    this.#endedWithCr = end >= 0 && end === piece.length - 1 && piece[end] === cr
    if (end >= 0) this.#takeLines(this.#withLine(piece.subarray(0, end + 1)))
    if (end < piece.length - 1) this.#keep(piece.subarray(end + 1))
  }

  /** These bytes behind the line that they end. */
  #withLine(bytes: Buffer): Buffer {
    if (!this.#line) return bytes
    const whole = Buffer.concat([this.#line.subarray(0, this.#lineBytes), bytes])
    this.#line = undefined
    this.#lineBytes = 0
    return whole
  }

  /** A line may have megabytes, and come in thousands of pieces: its room doubles, so that it is not copied for each. */
  #keep(bytes: Buffer): void {
    const from = this.#lineBytes
    this.#lineBytes += bytes.length
    if (!this.#line || this.#line.length < this.#lineBytes) {
      const larger = Buffer.allocUnsafeSlow(this.#line ? this.#lineBytes * 2 : this.#lineBytes)
      this.#line?.copy(larger, 0, 0, from)
      this.#line = larger
    }
    bytes.copy(this.#line, from)
  }

  #takeLines(whole: Buffer): void {
    const end = whole.length - 1
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
