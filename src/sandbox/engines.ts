import { Engine, type EngineHost } from './engine.ts'
import type { Picture } from './memory.ts'

/** The engines of a machine, one for each size of memory: only one of its size can become what a picture shows. */
export class Engines {
  #options: EnginesOptions
  #seats = new Map<number, Seat>()
  /** Memory that only the garbage collector can free: it does not know how much that is. */
  #droppedBytes = 0

  constructor(options: EnginesOptions) {
    this.#options = options
  }

  /** A new engine of its own. */
  start(): Engine {
    const { module, host, memoryBytesMax } = this.#options
    return new Engine(module, host, { memoryBytesMax })
  }

  /** An engine that is exactly what the picture shows, for one use; `release` it afterwards. */
  hold(picture: Picture): Engine {
    let seat = this.#seats.get(picture.size)
    if (!seat) {
      const { module, host } = this.#options
      seat = { engine: new Engine(module, host, { picture }), last: picture, clean: true }
      this.#seats.set(picture.size, seat)
      this.#evict()
    }
    if (seat.last !== picture || !seat.clean) seat.engine.restore(picture)
    seat.last = picture
    seat.clean = false
    return seat.engine
  }

  /** False when the engine was given up: one that has grown cannot become the picture again, one that trapped is suspect. */
  release(engine: Engine, picture: Picture, trapped: boolean): boolean {
    if (engine.size === picture.size && !trapped) return true
    this.#seats.delete(picture.size)
    this.#droppedBytes += engine.size
    return false
  }

  /** Cleans up after the latest runs, so that nothing of them is left and the next ones need not wait for it. */
  rest(): void {
    for (const seat of this.#seats.values()) {
      if (!seat.clean) seat.engine.restore(seat.last)
      seat.clean = true
    }
    if (this.#droppedBytes < droppedBytesMax) return
    this.#droppedBytes = 0
    this.#options.collectGarbage()
  }

  #evict(): void {
    for (const [size, { engine }] of this.#seats) {
      if (this.#seats.size <= seatsMax) return
      this.#seats.delete(size)
      this.#droppedBytes += engine.size
    }
  }
}

export type EnginesOptions = {
  module: WebAssembly.Module
  host: EngineHost
  memoryBytesMax: number
  collectGarbage(): void
}

type Seat = {
  engine: Engine
  /** What the engine was last, and is now when it is clean. */
  last: Picture
  clean: boolean
}

const seatsMax = 3
const droppedBytesMax = 32 * 1_048_576
