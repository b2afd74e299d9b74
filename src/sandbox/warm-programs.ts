import type { Handle } from './engine.ts'
import type { Snapshot } from './memory.ts'

/** The engine with one compiled program, ready to be called. */
export type Compiled = { snapshot: Snapshot; start: Handle }

/** Compiled programs by id, up to a number of bytes. The least recently used one is dropped first. */
export class WarmPrograms {
  #bytesMax: number
  #bytes = 0
  #programs = new Map<string, Compiled>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(id: string): Compiled | undefined {
    const compiled = this.#programs.get(id)
    if (compiled) {
      this.#programs.delete(id)
      this.#programs.set(id, compiled)
    }
    return compiled
  }

  keep(id: string, compiled: Compiled): void {
    this.#programs.set(id, compiled)
    this.#bytes += bytesOf(compiled)
    for (const [oldest, dropped] of this.#programs) {
      if (this.#bytes <= this.#bytesMax) return
      this.#programs.delete(oldest)
      this.#bytes -= bytesOf(dropped)
    }
  }
}

function bytesOf({ snapshot }: Compiled): number {
  return snapshot.parts.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)
}
