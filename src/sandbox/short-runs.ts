import type { ProgramRequest } from '../domain/program.ts'
import { Machine, type MachineOutcome } from './machine.ts'
import { secureRandom } from './random.ts'

/**
 * Runs programs in this thread that are known to be short. Waking a worker, and being woken by it, takes several times as
 * long as such a run, and much of that is work for this thread, too. On two cores the whole service answers 10 to 25 %
 * more requests with it, and a single one 0.2 ms sooner.
 *
 * Runs get so little time, each and together in one turn of the event loop, that this thread never stands still
 * noticeably; the engine keeps to its time in all code (see `boundEngine`). What turns out to need more is given up and
 * runs again in a worker, which changes nothing: code has no effects outside of the sandbox.
 */
export class ShortRuns {
  #machine: Machine
  /** Ends the turn of the event loop in which there were runs. */
  #turn: ReturnType<typeof setImmediate> | undefined
  /** In this turn. */
  #spentMs = 0

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
    return isShort && this.#spentMs < turnMsMax && timeoutMs > runMsMax
  }

  /** Undefined when the run needs more than it gets here. */
  run({ program, timeoutMs }: ProgramRequest, values: string): MachineOutcome | undefined {
    this.#turn ??= setImmediate(() => this.#endTurn())
    this.#machine.warm()
    const startMs = performance.now()
    const outcome = this.#machine.run(program, values, {
      timeoutMs,
      ends: () => (performance.now() > startMs + runMsMax ? 'TIMEOUT' : undefined),
    })
    this.#spentMs += performance.now() - startMs
    const isGivenUp = !outcome.ok && (outcome.code === 'TIMEOUT' || outcome.code === 'MEMORY_EXCEEDED')
    return isGivenUp ? undefined : outcome
  }

  stop(): void {
    if (this.#turn) clearImmediate(this.#turn)
  }

  #endTurn(): void {
    this.#turn = undefined
    this.#spentMs = 0
    this.#machine.rest()
  }
}

/** What the runs of one turn may take together before others go to the workers. */
const turnMsMax = 3
/** What a run may take here. */
const runMsMax = 2
/** Far less is expected of what is tried here. */
const expectedMsMax = 0.25
const valuesLengthMax = 16_384
