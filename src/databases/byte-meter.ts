import type { Duplex } from 'node:stream'
import type { OutboundMemory } from '../domain/outbound-request.ts'

/** Returns the part of the received bytes that a client may read now. Throws for nonsense. */
export type ByteFilter = (chunk: Buffer) => Buffer | undefined

/**
 * Counts the bytes that a server sends, and cuts the connection when they are too many. A server may send without being
 * asked, and clients keep a message in memory until it is complete.
 */
export class ByteMeter {
  #bytes = 0
  #max: number
  #memory: OutboundMemory | undefined
  #stream: Duplex | undefined
  readonly #restMax: number
  /** Whether the connection was cut. */
  isOver = false
  /** The error of the client that read the stream. */
  fault: unknown

  /** `restMax`: between uses, and while the connection is made. */
  constructor(restMax: number) {
    this.#restMax = restMax
    this.#max = restMax
  }

  /**
   * Counts this stream from now on, and no other one. An error of the client that reads the stream, for example because
   * the server sends nonsense, ends the connection and not the process.
   */
  watch(stream: Duplex, filter: ByteFilter = (chunk) => chunk): void {
    this.#stream = stream
    const emit = stream.emit.bind(stream)
    stream.emit = (event: string | symbol, ...values: unknown[]) => {
      try {
        if (event !== 'data' || this.#stream !== stream) return emit(event, ...values)
        const chunk = values[0] as Buffer
        const accepted = this.#accepts(chunk.byteLength) ? filter(chunk) : undefined
        return accepted === undefined || emit('data', accepted)
      } catch (error) {
        this.fault ??= error
        stream.destroy()
        return true
      }
    }
  }

  start(max: number, memory: OutboundMemory): void {
    this.#bytes = 0
    this.#max = max
    this.#memory = memory
  }

  end(): void {
    this.#bytes = 0
    this.#max = this.#restMax
    this.#memory = undefined
  }

  #accepts(bytes: number): boolean {
    this.#bytes += bytes
    this.#memory?.add(bytes)
    if (this.isOver) return false
    if (this.#bytes <= this.#max && this.#memory?.hasRoom() !== false) return true
    this.isOver = true
    this.#stream?.destroy()
    return false
  }
}
