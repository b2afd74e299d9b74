/** Lets work in, in order, while all work in progress stays below a limit in bytes. Work alone may exceed it. */
export class ByteGate {
  readonly #bytesMax: number
  readonly #waiting: { bytes: number; enter: () => void }[] = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Resolves, or rejects, as the work does. */
  async run<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) {
      await new Promise<void>((enter) => {
        this.#waiting.push({ bytes, enter })
      })
    } else this.#bytes += bytes
    try {
      return await work()
    } finally {
      this.#bytes -= bytes
      this.#letIn()
    }
  }

  #letIn(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#bytes += next.bytes
      next.enter()
    }
  }

  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax
  }
}
