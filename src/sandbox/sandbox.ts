import { type Clock, systemClock, type Timer } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import type { ProgramOutcome, ProgramRequest, RunProgram } from '../domain/program.ts'
import { compileEngine } from './engine-file.ts'
import { cancelled, codeError, type Failure, outcomeOf, overloaded, sandboxFailed, timedOut } from './failure.ts'
import { type Job, Lane } from './lane.ts'
import type { MachineOutcome } from './machine.ts'

/**
 * Runs user code in workers. Nothing of it is loaded before the first run or `warm`.
 *
 * A run goes to the first worker that has little to do, so that an idle service wakes one thread only and finds its
 * program warm there; another worker is started when all have much to do. Runs that arrive together go over together.
 *
 * Deadlines have two lines of defence. The engine asks now and then whether the time is over and ends the code in good
 * order. Where it does not ask (long work inside one built-in function), the worker is terminated and replaced. What
 * waits behind a run that takes long goes to other workers: nothing in a worker has effects elsewhere, so a run can
 * always be started again.
 */
export class Sandbox {
  #options: Required<SandboxOptions>
  #engine: { module?: WebAssembly.Module } | undefined
  #lanes: Lane[] = []
  #waiting: Job[] = []
  #expectedMs = new Map<string, number>()
  #nextLook: { timer: Timer; inMs: number } | undefined
  #posting: ReturnType<typeof setImmediate> | undefined
  #stopped = false

  constructor(options: SandboxOptions = {}) {
    this.#options = { ...defaults, ...options }
  }

  readonly run: RunProgram = (request) =>
    new Promise((resolve) => {
      const values = this.#valuesOf(request)
      if (typeof values !== 'string') return resolve(outcomeOf(values))
      this.#waiting.push({ request, values, expectedMs: unknownMs, droppedAtMs: undefined, settle: resolve })
      this.#dispatch()
    })

  /** Starts the first worker, so that the first run does not wait for it. */
  warm(): void {
    if (!this.#engine) this.#load()
  }

  /** Ends all workers; what runs or waits is cancelled, and so is what comes later. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#nextLook?.timer.cancel()
    if (this.#posting) clearImmediate(this.#posting)
    const ends = this.#lanes.splice(0).map((lane) => lane.terminate())
    for (const job of [...this.#waiting.splice(0), ...ends.flatMap(({ unanswered }) => unanswered)]) {
      job.settle(outcomeOf(cancelled))
    }
    await Promise.all(ends.map(({ closed }) => closed))
  }

  /** The JSON text of a request's values, or why it cannot be run. */
  #valuesOf({ values, signal }: ProgramRequest): string | Failure {
    if (this.#stopped || signal.aborted) return cancelled
    if (this.#waiting.length >= waitingMax) return overloaded(waitingMax)
    try {
      return JSON.stringify(values)
    } catch (error) {
      return codeError(`The values for the code are not JSON data: ${messageOf(error)}`)
    }
  }

  async #load(): Promise<void> {
    this.#engine = {}
    try {
      this.#engine.module = await compileEngine(this.#options.memoryBytesMax)
      if (this.#stopped) return
      if (this.#lanes.length === 0) this.#start(this.#engine.module)
      this.#dispatch()
    } catch (error) {
      this.#engine = undefined
      for (const job of this.#waiting.splice(0)) job.settle(outcomeOf(sandboxFailed(messageOf(error))))
    }
  }

  /** Gives what waits to workers, as far as they can take it. */
  #dispatch(): void {
    this.warm()
    const module = this.#engine?.module
    if (!module) return
    let taken = 0
    for (const job of this.#waiting) {
      const lane = this.#laneFor(module)
      if (!lane) break
      taken++
      job.expectedMs = this.#expectedMs.get(job.request.program.id) ?? unknownMs
      const wasEmpty = lane.empty
      lane.add(job)
      if (wasEmpty) lane.post()
      else this.#posting ??= setImmediate(() => this.#post())
    }
    if (taken > 0) this.#waiting.splice(0, taken)
    if (this.#waiting.length > 0 || taken > 0) this.#lookIn(lookMs)
  }

  #post(): void {
    this.#posting = undefined
    for (const lane of this.#lanes) lane.post()
  }

  #laneFor(module: WebAssembly.Module): Lane | undefined {
    let least: Lane | undefined
    for (const lane of this.#lanes) {
      if (lane.stuck || lane.full) continue
      if (lane.backlogMs < smallBacklogMs) return lane
      if (!least || lane.backlogMs < least.backlogMs) least = lane
    }
    const isBusy = !least || least.backlogMs > largeBacklogMs
    return isBusy && this.#lanes.length < this.#options.workersMax ? this.#start(module) : least
  }

  #start(module: WebAssembly.Module): Lane {
    const { memoryBytesMax, warmBytesMax } = this.#options
    const lane = new Lane(
      { module, memoryBytesMax, warmBytesMax },
      {
        done: (job, outcome, tookMs) => this.#done(job, outcome, tookMs),
        free: () => this.#dispatch(),
        broken: (broken, message) => this.#replace(broken, sandboxFailed(message)),
      },
      this.#options.clock.monotonic(),
    )
    this.#lanes.push(lane)
    return lane
  }

  #done(job: Job, outcome: MachineOutcome, tookMs: number): void {
    const { id } = job.request.program
    const expectedMs = this.#expectedMs.get(id) ?? tookMs
    if (this.#expectedMs.size >= expectationsMax) this.#expectedMs.clear()
    this.#expectedMs.set(id, expectedMs + (tookMs - expectedMs) / 4)
    job.settle(outcome.ok ? readResult(outcome) : outcome)
  }

  /** Regularly, while there is anything to do: who is gone, who takes too long, who waits behind them. */
  #look(): void {
    this.#nextLook = undefined
    const nowMs = this.#options.clock.monotonic()
    this.#waiting = this.#waiting.filter((job) => !this.#isDropped(job, nowMs))
    for (const lane of [...this.#lanes]) {
      lane.drop((job) => this.#isDropped(job, nowMs))
      const current = lane.current(nowMs)
      if (lane !== this.#lanes[0] && lane.idleForMs(nowMs) >= idleMs) this.#end(lane)
      if (!current) continue
      const { job, forMs } = current
      const { timeoutMs } = job.request
      const isOver = job.droppedAtMs === undefined ? forMs > timeoutMs + graceMs : nowMs - job.droppedAtMs > graceMs
      if (isOver) this.#replace(lane, timedOut(timeoutMs))
      else if (forMs > stuckMs) {
        lane.stuck = true
        this.#waiting.unshift(...lane.takeBack())
      }
    }
    this.#dispatch()
    if (this.#lanes.some((lane) => !lane.empty)) this.#lookIn(lookMs)
    else if (this.#lanes.length > 1) this.#lookIn(idleMs)
  }

  #lookIn(inMs: number): void {
    if (this.#nextLook && this.#nextLook.inMs <= inMs) return
    this.#nextLook?.timer.cancel()
    this.#nextLook = { inMs, timer: this.#options.clock.setTimer(inMs, () => this.#look()) }
  }

  #isDropped(job: Job, nowMs: number): boolean {
    if (!job.request.signal.aborted) return false
    job.droppedAtMs ??= nowMs
    job.settle(outcomeOf(cancelled))
    return true
  }

  /** Ends a worker. The job it is at has failed; the others start again elsewhere. */
  #replace(lane: Lane, failure: Failure): void {
    const failed = lane.current(this.#options.clock.monotonic())?.job
    const unanswered = this.#end(lane)
    for (const job of unanswered) if (!failed || job === failed) job.settle(outcomeOf(failure))
    if (failed) this.#waiting.unshift(...unanswered.filter((job) => job !== failed))
    this.#dispatch()
  }

  #end(lane: Lane): Job[] {
    this.#lanes.splice(this.#lanes.indexOf(lane), 1)
    return lane.terminate().unanswered
  }
}

/** The text was made inside the sandbox, by code that user code can get at: it need not be JSON. */
function readResult({ result, stdout }: { result: string; stdout: string }): ProgramOutcome {
  try {
    return { ok: true, result: JSON.parse(result), stdout }
  } catch (error) {
    return outcomeOf(codeError(`The result is not JSON data: ${messageOf(error)}`), stdout)
  }
}

export type SandboxOptions = {
  workersMax?: number
  /** What one run of code may use. */
  memoryBytesMax?: number
  /** What each worker may use to keep compiled programs, about 0.7 MB each. */
  warmBytesMax?: number
  clock?: Clock
}

const defaults: Required<SandboxOptions> = {
  workersMax: Math.min(navigator.hardwareConcurrency, 4),
  memoryBytesMax: 64 * 1_048_576,
  warmBytesMax: 32 * 1_048_576,
  clock: systemClock,
}

/** Runs that may wait for a worker; more are refused. */
const waitingMax = 10_000
const expectationsMax = 1_000
/** What a program that was never seen is expected to take. */
const unknownMs = 1
/** A worker with less to do is as good as idle. */
const smallBacklogMs = 1
/** With more to do than this, a run is better off with a new worker. */
const largeBacklogMs = 5
const lookMs = 10
const stuckMs = 20
/** What the engine gets to end a run in good order. */
const graceMs = 50
/** After this long without work all workers but the first one are ended. */
const idleMs = 30_000
