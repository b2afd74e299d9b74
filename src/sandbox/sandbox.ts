import { type Clock, systemClock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import type { ProgramOutcome, ProgramRequest, RunProgram } from '../domain/program.ts'
import { cancelled, codeError, type Failure, memoryExceeded, outcomeOf } from './failure.ts'
import type { MachineOutcome } from './machine.ts'
import { Pool } from './pool.ts'
import { ShortRuns } from './short-runs.ts'

/**
 * Runs user code, with nothing of the host in its reach and bounds on all it can use. Nothing of the engine is loaded
 * before the first run or `warm`.
 *
 * Code runs in workers (`Pool`). Programs that have shown to be short may also run in this thread (`ShortRuns`).
 */
export class Sandbox {
  #pool: Pool
  #memoryBytesMax: number
  #shortRuns: ShortRuns | undefined
  /** How long each program takes, recent runs counting most. */
  #expectedMs = new Map<string, number>()
  #stopped = false

  constructor(options: SandboxOptions = {}) {
    const { shortRuns, ...rest } = { ...defaults, ...options }
    this.#memoryBytesMax = rest.memoryBytesMax
    this.#pool = new Pool({
      ...rest,
      compiled: (module) => {
        if (shortRuns) this.#shortRuns ??= new ShortRuns(module, rest.clock.now)
      },
      took: (id, tookMs) => this.#learn(id, tookMs),
    })
  }

  readonly run: RunProgram = (request) => {
    const values = this.#valuesOf(request)
    if (typeof values !== 'string') return Promise.resolve(outcomeOf(values))
    const expectedMs = this.#expectedMs.get(request.program.id) ?? unknownMs
    const outcome = this.#runHere(request, values, expectedMs)
    if (outcome) return Promise.resolve(readOutcome(outcome))
    return new Promise((resolve) => {
      const settle = (outcome: MachineOutcome) => resolve(readOutcome(outcome))
      this.#pool.run({ request, values, expectedMs, droppedAtMs: undefined, settle })
    })
  }

  /** Starts the first worker, so that the first run does not wait for it. */
  warm(): void {
    this.#pool.warm()
  }

  /** Workers, and runs that wait for one. */
  load(): { workers: number; waiting: number } {
    return this.#pool.load
  }

  /** Ends all workers; what runs or waits is cancelled, and so is what comes later. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#shortRuns?.stop()
    await this.#pool.stop()
  }

  /** The JSON text of a request's values, or why it cannot be run. */
  #valuesOf({ values, signal }: ProgramRequest): string | Failure {
    if (this.#stopped || signal.aborted) return cancelled
    try {
      const text = JSON.stringify(values)
      return text.length > this.#memoryBytesMax ? memoryExceeded(this.#memoryBytesMax) : text
    } catch (error) {
      return codeError(`The values for the code are not JSON data: ${messageOf(error)}`)
    }
  }

  /** Undefined when the run belongs into a worker. */
  #runHere(request: ProgramRequest, values: string, expectedMs: number): MachineOutcome | undefined {
    if (!this.#shortRuns?.takes(request, values, expectedMs)) return undefined
    const startMs = performance.now()
    let outcome: MachineOutcome | undefined
    try {
      outcome = this.#shortRuns.run(request, values)
    } catch {
      // No engine can be made in this thread, for lack of memory say. The workers say so if they have none either.
      this.#shortRuns = undefined
    }
    if (outcome) this.#learn(request.program.id, performance.now() - startMs)
    else this.#expectedMs.set(request.program.id, givenUpMs)
    return outcome
  }

  /**
   * A thread that loses its processor for a moment makes a short run look long. One such run must not send those that
   * follow to the workers, where they wait ten times as long as they take: what is expected rises in steps.
   */
  #learn(id: string, tookMs: number): void {
    const expectedMs = this.#expectedMs.get(id) ?? tookMs
    if (this.#expectedMs.size >= expectationsMax) this.#expectedMs.clear()
    this.#expectedMs.set(id, Math.min((expectedMs + tookMs) / 2, expectedMs * riseMax))
  }
}

/** The result's text was made in the reach of user code, so it need not be JSON. */
function readOutcome(outcome: MachineOutcome): ProgramOutcome {
  if (!outcome.ok) return outcome
  try {
    return { ok: true, result: JSON.parse(outcome.result), stdout: outcome.stdout }
  } catch (error) {
    return outcomeOf(codeError(`The result is not JSON data: ${messageOf(error)}`), outcome.stdout)
  }
}

export type SandboxOptions = {
  /** Threads. Others than the first one are started only while there is much to do. */
  workersMax?: number
  /** What one run of code may use. */
  memoryBytesMax?: number
  /** What each worker may use to keep compiled programs, about 0.3 MB each. */
  warmBytesMax?: number
  /** Whether programs that are known to be short may run in this thread. */
  shortRuns?: boolean
  clock?: Clock
  /** The worker's file. */
  workerUrl?: URL
}

const defaults: Required<SandboxOptions> = {
  workersMax: 4,
  memoryBytesMax: 64 * 1_048_576,
  warmBytesMax: 32 * 1_048_576,
  shortRuns: true,
  clock: systemClock,
  // Inside the executable every module's `import.meta.url` is the root of the bundle.
  workerUrl: new URL(import.meta.url.includes('/$bunfs/') ? './sandbox/worker.js' : './worker.ts', import.meta.url),
}

const expectationsMax = 1_000
/** What a program that was never seen is expected to take. */
const unknownMs = 1
const riseMax = 1.5
/** What a program that was given up counts as: it has to show in a worker that it can be shorter. */
const givenUpMs = 100

/** How long after the service's start `warm` is called: the start is over by then, and a first run comes later. */
export const warmAfterMs = 100
