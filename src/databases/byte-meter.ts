import type { Duplex } from 'node:stream'
import type { OutboundMemory } from '../domain/outbound-request.ts'

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
  watch(stream: Duplex): void {
    this.#stream?.off('data', this.#count)
    this.#stream = stream
    stream.on('data', this.#count)
    const emit = stream.emit.bind(stream)
    stream.emit = (...event: Parameters<typeof emit>) => {
      try {
        return emit(...event)
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

  readonly #count = (chunk: Uint8Array): void => {
    this.#bytes += chunk.byteLength
    this.#memory?.add(chunk.byteLength)
    if (this.#bytes <= this.#max && this.#memory?.hasRoom() !== false) return
    this.isOver = true
    this.#stream?.destroy()
  }
}
