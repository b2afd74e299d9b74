/**
 * An instance's memory at its maximum size, of which the first `pages` are in use. It never moves.
 *
 * Restoring a snapshot removes what a run has changed. The stack is the first megabyte and grows down from its end:
 * ordinary runs use little of it, and only that part is in snapshots.
 */
export class EngineMemory {
  #bytes: Uint8Array
  #words: Int32Array
  #view: DataView
  #pages: WebAssembly.Global<'i32'>

  constructor(memory: WebAssembly.Memory, pages: WebAssembly.Global<'i32'>) {
    this.#bytes = new Uint8Array(memory.buffer)
    this.#words = new Int32Array(memory.buffer)
    this.#view = new DataView(memory.buffer)
    this.#pages = pages
  }

  /** Bytes in use. */
  get size(): number {
    return this.#pages.value * pageBytes
  }

  readByte(at: number): number {
    return this.#view.getUint8(at)
  }

  writeByte(at: number, value: number): void {
    this.#view.setUint8(at, value)
  }

  readUint32(at: number): number {
    return this.#view.getUint32(at, true)
  }

  writeUint32(at: number, value: number): void {
    this.#view.setUint32(at, value, true)
  }

  writeUint64(at: number, value: bigint): void {
    this.#view.setBigUint64(at, value, true)
  }

  readText(at: number, length: number): string {
    return utf8Decoder.decode(this.#bytes.subarray(at, at + length))
  }

  /** Returns the bytes written. */
  writeText(at: number, text: string, room: number): number {
    return utf8Encoder.encodeInto(text, this.#bytes.subarray(at, at + room)).written
  }

  /** Writes bytes and a zero after them. */
  write(at: number, bytes: Uint8Array): void {
    this.#bytes.set(bytes, at)
    this.#bytes[at + bytes.length] = 0
  }

  snapshot(stackPointer: number): Snapshot {
    const parts: Snapshot['parts'] = []
    for (let at = snapshotStart; at < this.size; at = parts.at(-1)!.end) {
      const end = this.#endOfPart(at)
      parts.push({ at, end, bytes: this.#isZero(at, end) ? undefined : this.#bytes.slice(at, end) })
    }
    return { size: this.size, parts, stackPointer }
  }

  restore({ size, parts }: Snapshot): void {
    for (const { at, end, bytes } of parts) {
      if (bytes) this.#bytes.set(bytes, at)
      else this.#bytes.fill(0, at, end)
    }
    if (this.size > size) this.#bytes.fill(0, size, this.size)
    this.#pages.value = size / pageBytes
    // Only deep calls use the stack below this band, which is not part of snapshots.
    if (!this.#isZero(snapshotStart - stackBandBytes, snapshotStart)) this.#bytes.fill(0, 0, snapshotStart)
  }

  /** In one part, either all blocks are zero or none is. */
  #endOfPart(start: number): number {
    const isZero = this.#isZero(start, start + blockBytes)
    let end = start + blockBytes
    while (end < this.size && this.#isZero(end, end + blockBytes) === isZero) end += blockBytes
    return end
  }

  #isZero(start: number, end: number): boolean {
    for (let index = start / 4; index < end / 4; index++) if (this.#words[index] !== 0) return false
    return true
  }
}

/** The memory of an instance at one moment, without the unused part of its stack. */
export type Snapshot = {
  /** Bytes in use. */
  size: number
  /** In order and without gaps. Parts of zeros have no bytes. */
  parts: { at: number; end: number; bytes: Uint8Array | undefined }[]
  stackPointer: number
}

export const pageBytes = 65_536
const snapshotStart = 1024 * 1024 - 32 * 1024
const stackBandBytes = 4 * 1024
const blockBytes = 4 * 1024

const utf8Encoder = new TextEncoder()
/** Lossy for lone surrogates; in JSON text they are escaped. */
const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true })
