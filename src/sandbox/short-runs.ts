import type { ProgramRequest } from '../domain/program.ts'
import { Machine, type MachineOutcome } from './machine.ts'
import { secureRandom } from './random.ts'

/**
 * Runs programs in this thread that are known to be short, while little else is going on: waking a worker and being
 * woken by it takes several times as long as such a run.
 *
 * At most one run in each turn of the event loop, with so little time and memory that this thread never stands still
 * noticeably; the engine keeps to its time in all code (see `boundEngine`). What turns out to need more is given up and
 * runs again in a worker, which changes nothing: code has no effects outside of the sandbox.
 */
export class ShortRuns {
  #machine: Machine
  #wiping: ReturnType<typeof setImmediate> | undefined

  constructor(module: WebAssembly.Module, now: () => number) {
    this.#machine = new Machine({
      module,
      memoryBytesMax: 1_048_576,
      warmBytesMax: 8 * 1_048_576,
      now,
      random: secureRandom,
      collectGarbage: () => Bun.gc(false),
    })
  }

  /** Whether a run that is expected to take `expectedMs` may be done here now. */
  takes({ timeoutMs }: ProgramRequest, values: string, expectedMs: number): boolean {
    const isShort = expectedMs < expectedMsMax && values.length <= valuesLengthMax
    return isShort && this.#wiping === undefined && timeoutMs > shortMsMax
  }

  /** Undefined when the run needs more than it gets here. */
  run({ program, timeoutMs }: ProgramRequest, values: string): MachineOutcome | undefined {
    const endMs = performance.now() + shortMsMax
    this.#wiping = setImmediate(() => this.#wipe())
    const outcome = this.#machine.run(program, values, {
      timeoutMs,
      ends: () => (performance.now() > endMs ? 'TIMEOUT' : undefined),
    })
    const isGivenUp = !outcome.ok && (outcome.code === 'TIMEOUT' || outcome.code === 'MEMORY_EXCEEDED')
    return isGivenUp ? undefined : outcome
  }

  stop(): void {
    if (this.#wiping) clearImmediate(this.#wiping)
  }

  #wipe(): void {
    this.#wiping = undefined
    this.#machine.rest()
  }
}

/** What a run may take here. */
const shortMsMax = 2
/** Far less is expected of what is tried here. */
const expectedMsMax = 0.25
const valuesLengthMax = 16_384
