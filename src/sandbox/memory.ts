/** Reads and writes an instance's memory, which moves to a new buffer whenever it grows. */
export class EngineMemory {
  #memory: WebAssembly.Memory
  #bytes: Uint8Array
  #view: DataView

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory
    this.#bytes = new Uint8Array(memory.buffer)
    this.#view = new DataView(memory.buffer)
  }

  /** Views of a buffer that was left behind have length 0; reads through a stale `DataView` would throw. */
  #refresh(): void {
    if (this.#bytes.length !== 0) return
    this.#bytes = new Uint8Array(this.#memory.buffer)
    this.#view = new DataView(this.#memory.buffer)
  }

  readByte(at: number): number {
    this.#refresh()
    return this.#view.getUint8(at)
  }

  writeByte(at: number, value: number): void {
    this.#refresh()
    this.#view.setUint8(at, value)
  }

  readUint32(at: number): number {
    this.#refresh()
    return this.#view.getUint32(at, true)
  }

  writeUint32(at: number, value: number): void {
    this.#refresh()
    this.#view.setUint32(at, value, true)
  }

  writeUint64(at: number, value: bigint): void {
    this.#refresh()
    this.#view.setBigUint64(at, value, true)
  }

  readText(at: number, length: number): string {
    this.#refresh()
    return utf8Decoder.decode(this.#bytes.subarray(at, at + length))
  }

  /** Returns the bytes written. */
  writeText(at: number, text: string, room: number): number {
    this.#refresh()
    return utf8Encoder.encodeInto(text, this.#bytes.subarray(at, at + room)).written
  }

  /** Writes bytes and a zero after them. */
  write(at: number, bytes: Uint8Array): void {
    this.#refresh()
    this.#bytes.set(bytes, at)
    this.#bytes[at + bytes.length] = 0
  }

  picture(stackPointer: number): Picture {
    this.#refresh()
    const bytes = this.#bytes
    const parts: Picture['parts'] = []
    for (let at = pictureStart; at < bytes.length; at = parts.at(-1)!.end) {
      const end = this.#endOfPart(at)
      parts.push({ at, end, bytes: this.#isZero(at, end) ? undefined : bytes.slice(at, end) })
    }
    return { size: bytes.length, parts, stackPointer }
  }

  restore({ size, parts }: Picture): void {
    this.#refresh()
    if (size !== this.#bytes.length) throw new Error('A picture of another size')
    for (const { at, end, bytes } of parts) {
      if (bytes) this.#bytes.set(bytes, at)
      else this.#bytes.fill(0, at, end)
    }
    // Below this band lies the part of the stack that pictures leave out: only deep calls get there.
    if (!this.#isZero(pictureStart - stackBandBytes, pictureStart)) this.#bytes.fill(0, 0, pictureStart)
  }

  /** Parts are as long as all their blocks are zero, or none is. */
  #endOfPart(start: number): number {
    const isZero = this.#isZero(start, start + blockBytes)
    let end = start + blockBytes
    while (end < this.#bytes.length && this.#isZero(end, end + blockBytes) === isZero) end += blockBytes
    return end
  }

  #isZero(start: number, end: number): boolean {
    const words = new Int32Array(this.#memory.buffer, start, (end - start) / 4)
    for (let index = 0; index < words.length; index++) if (words[index] !== 0) return false
    return true
  }
}

/** The memory of an instance at one moment, without the unused part of its stack. */
export type Picture = {
  /** Bytes of the whole memory. */
  size: number
  /** In order and without gaps. Those that are all zero have no bytes: room that nothing has used yet. */
  parts: { at: number; end: number; bytes: Uint8Array | undefined }[]
  stackPointer: number
}

export const pageBytes = 65_536
/** The stack fills the first megabyte downwards; runs of ordinary depth use less than this of it. */
const pictureStart = 1024 * 1024 - 32 * 1024
const stackBandBytes = 4 * 1024
const blockBytes = 4 * 1024

const utf8Encoder = new TextEncoder()
/** Lossy for lone surrogates; JSON text has them escaped. */
const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true })
