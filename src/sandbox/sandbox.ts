import { type Clock, systemClock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import { estimateSize } from '../domain/estimate-size.ts'
import { defaultLimits } from '../domain/limits.ts'
import type { ProgramOutcome, ProgramRequest, RunProgram } from '../domain/run/program.ts'
import { finish, type InSlices, jsonInSlices, largeBytes, type Slices } from '../domain/slices.ts'
import { cancelled, codeError, type Failure, memoryExceeded, outcomeOf } from './failure.ts'
import type { MachineOutcome } from './machine.ts'
import { Pool } from './pool.ts'

/**
 * Runs user code isolated from the host and within bounds of time and memory. All of it runs in workers (`Pool`), never
 * in the service's own thread. The JavaScript engine is loaded at the first run, or by `warm`.
 */
export class Sandbox {
  #pool: Pool
  #memoryBytesMax: number
  #inSlices: InSlices
  /** Milliseconds that each program is expected to take, by id: an average in which recent runs weigh most. */
  #expectedMs = new Map<string, number>()
  #stopped = false

  constructor(options: SandboxOptions = {}) {
    const complete = { ...defaults, ...options }
    this.#memoryBytesMax = complete.memoryBytesMax
    this.#inSlices = complete.inSlices
    this.#pool = new Pool({ ...complete, took: (id, tookMs) => this.#learn(id, tookMs) })
  }

  readonly run: RunProgram = (request) => {
    const values = this.#valuesOf(request)
    return values instanceof Promise ? values.then((text) => this.#run(request, text)) : this.#run(request, values)
  }

  /** Starts the first worker, so that the first run does not wait for it. */
  warm(): void {
    this.#pool.warm()
  }

  /** The number of workers, and of runs that wait for one. */
  load(): { workers: number; waiting: number } {
    return this.#pool.load
  }

  /** Ends all workers and cancels every run: those in progress, those waiting, and later ones. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#pool.stop()
  }

  async #run(request: ProgramRequest, values: string | Failure): Promise<ProgramOutcome> {
    if (typeof values !== 'string') return outcomeOf(values)
    if (this.#stopped || request.signal.aborted) return outcomeOf(cancelled)
    const expectedMs = this.#expectedMs.get(request.program.id) ?? unknownMs
    const owner = request.workspaceId ?? ''
    const outcome = await new Promise<MachineOutcome>((settle) => {
      this.#pool.run({ request, owner, values, expectedMs, droppedAtMs: undefined, hasYielded: false, settle })
    })
    const isLarge = outcome.ok && outcome.result.length > largeBytes
    return isLarge ? await this.#inSlices(readLater(outcome)) : readOutcome(outcome)
  }

  /**
   * The values of a request as JSON text, or the reason why the request cannot run. A promise when there are many.
   */
  #valuesOf({ values, signal }: ProgramRequest): string | Failure | Promise<string | Failure> {
    if (this.#stopped || signal.aborted) return cancelled
    // Before the text is made: the same large value may be in it many times.
    const bytes = estimateSize(values, this.#memoryBytesMax)
    if (bytes > this.#memoryBytesMax) return memoryExceeded(this.#memoryBytesMax)
    const isLarge = bytes > largeBytes
    const text = textOf(values, { bytesMax: this.#memoryBytesMax, isLarge })
    return isLarge ? this.#inSlices(text) : finish(text)
  }

  #learn(id: string, tookMs: number): void {
    const expectedMs = this.#expectedMs.get(id) ?? tookMs
    if (this.#expectedMs.size >= expectationsMax) this.#expectedMs.clear()
    this.#expectedMs.set(id, (expectedMs + tookMs) / 2)
  }
}

function* textOf(
  values: readonly unknown[],
  { bytesMax, isLarge }: { bytesMax: number; isLarge: boolean },
): Slices<string | Failure> {
  try {
    const text = isLarge ? ((yield* jsonInSlices(values)) as string) : JSON.stringify(values)
    return text.length > bytesMax ? memoryExceeded(bytesMax) : text
  } catch (error) {
    return codeError(`The values for the code are not JSON data: ${messageOf(error)}`)
  }
}

/** Reads the outcome in one piece, which takes up to 70 ms. The run goes on in a turn of its own. */
function* readLater(outcome: MachineOutcome): Slices<ProgramOutcome> {
  const read = readOutcome(outcome)
  yield
  return read
}

/** User code can influence the text of the result, so the text may not be valid JSON. */
function readOutcome(outcome: MachineOutcome): ProgramOutcome {
  if (!outcome.ok) return outcome
  try {
    return { ok: true, result: JSON.parse(outcome.result), stdout: outcome.stdout }
  } catch (error) {
    return outcomeOf(codeError(`The result is not JSON data: ${messageOf(error)}`), outcome.stdout)
  }
}

export type SandboxOptions = {
  /** Maximum number of workers. All but the first are started only under load. */
  workersMax?: number
  /** See `FairShare`; for the runs that wait. */
  shareFactor?: number
  /** Memory for one run of user code. */
  memoryBytesMax?: number
  /** Memory of each worker for compiled programs, about 0.3 MB each. */
  warmBytesMax?: number
  clock?: Clock
  /** The worker's file. */
  workerUrl?: URL
  /** Reads and writes large values. */
  inSlices?: InSlices
}

const defaults: Required<SandboxOptions> = {
  workersMax: 4,
  shareFactor: defaultLimits.shareFactor,
  memoryBytesMax: 64 * 1_048_576,
  warmBytesMax: 32 * 1_048_576,
  clock: systemClock,
  inSlices: async (slices) => finish(slices),
  // Inside the executable, `import.meta.url` is the root of the bundle in every module.
  workerUrl: new URL(import.meta.url.includes('/$bunfs/') ? './sandbox/worker.js' : './worker.ts', import.meta.url),
}

const expectationsMax = 1_000
/** The expectation for a program that has not run yet. */
const unknownMs = 1

/** The delay after the start before `warm` is called: the start has ended by then, and a first run comes later. */
export const warmAfterMs = 100
