import type { Compiled } from './machine.ts'

/** Compiled programs by id, as many as fit into a number of bytes; the least recently used goes first. */
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

function bytesOf({ picture }: Compiled): number {
  return picture.parts.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)
}
