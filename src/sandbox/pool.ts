import type { Clock, Timer } from '../domain/clock.ts'
import { cancelled, type Failure, outcomeOf, overloaded, sandboxFailed, timedOut } from './failure.ts'
import { type Job, Lane } from './lane.ts'

/**
 * The workers, and what waits for them.
 *
 * A run goes to the first worker that has little to do, so that a service with little to do wakes one thread only and
 * finds its programs warm there; another worker is started when all have much to do. Runs that arrive together go over
 * together.
 *
 * The engine ends a run in good order when its time is over. Should a worker nevertheless stay at one run, it is ended
 * and replaced. What waits behind a run that takes long goes to other workers: code has no effects outside of the
 * sandbox, so that every run can be started again.
 */
export class Pool {
  #options: PoolOptions
  #module: WebAssembly.Module | undefined
  #lanes: Lane[] = []
  #waiting: Job[] = []
  #nextLook: { timer: Timer; inMs: number } | undefined
  #posting: ReturnType<typeof setImmediate> | undefined
  #stopped = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get load(): { workers: number; waiting: number } {
    return { workers: this.#lanes.length, waiting: this.#waiting.length }
  }

  run(job: Job): void {
    if (this.#waiting.length < waitingMax) {
      this.#waiting.push(job)
      this.#dispatch()
    } else job.settle(outcomeOf(overloaded(waitingMax)))
  }

  warm(): void {
    if (this.#lanes.length === 0 && !this.#stopped) this.#start()
  }

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

  /** Gives what waits to workers, as far as they can take it. */
  #dispatch(): void {
    if (this.#stopped || this.#waiting.length === 0) return
    let taken = 0
    for (const job of this.#waiting) {
      const lane = this.#laneFor()
      if (!lane) break
      taken++
      const wasEmpty = lane.empty
      lane.add(job)
      if (wasEmpty) lane.post()
      else this.#posting ??= setImmediate(() => this.#post())
    }
    this.#waiting.splice(0, taken)
    this.#lookIn(lookMs)
  }

  #post(): void {
    this.#posting = undefined
    for (const lane of this.#lanes) lane.post()
  }

  #laneFor(): Lane | undefined {
    let least: Lane | undefined
    for (const lane of this.#lanes) {
      if (lane.stuck || lane.full) continue
      if (lane.backlogMs < smallBacklogMs) return lane
      if (!least || lane.backlogMs < least.backlogMs) least = lane
    }
    const isBusy = !least || least.backlogMs > largeBacklogMs
    return isBusy && this.#mayStart ? this.#start() : least
  }

  /** While the first worker compiles the engine no other one is started, only to do the same. */
  get #mayStart(): boolean {
    return this.#lanes.length === 0 || (this.#module !== undefined && this.#lanes.length < this.#options.workersMax)
  }

  #start(): Lane {
    const { memoryBytesMax, warmBytesMax, workerUrl, clock, took } = this.#options
    const lane = new Lane(
      { module: this.#module, memoryBytesMax, warmBytesMax },
      {
        workerUrl,
        compiled: (module) => this.#compiled(module),
        took,
        free: () => this.#dispatch(),
        broken: (broken, message) => this.#replace(broken, sandboxFailed(message)),
      },
      clock.monotonic(),
    )
    this.#lanes.push(lane)
    return lane
  }

  #compiled(module: WebAssembly.Module): void {
    this.#module = module
    this.#dispatch()
  }

  /** Regularly, while there is anything to do: who is gone, who takes too long, who waits behind them. */
  #look(): void {
    this.#nextLook = undefined
    const nowMs = this.#options.clock.monotonic()
    this.#waiting = this.#waiting.filter((job) => !this.#isDropped(job, nowMs))
    for (const lane of [...this.#lanes]) this.#lookAt(lane, nowMs)
    this.#dispatch()
    if (this.#lanes.some((lane) => !lane.empty)) this.#lookIn(lookMs)
    else if (this.#lanes.length > 1) this.#lookIn(idleMs)
  }

  #lookIn(inMs: number): void {
    if (this.#nextLook && this.#nextLook.inMs <= inMs) return
    this.#nextLook?.timer.cancel()
    this.#nextLook = { inMs, timer: this.#options.clock.setTimer(inMs, () => this.#look()) }
  }

  #lookAt(lane: Lane, nowMs: number): void {
    lane.drop((job) => this.#isDropped(job, nowMs))
    const current = lane.current(nowMs)
    if (!current) {
      if (lane !== this.#lanes[0] && lane.idleForMs(nowMs) >= idleMs) this.#end(lane)
      return
    }
    const { job, forMs } = current
    const { timeoutMs } = job.request
    const isOver = job.droppedAtMs === undefined ? forMs > timeoutMs + graceMs : nowMs - job.droppedAtMs > graceMs
    if (isOver) this.#replace(lane, timedOut(timeoutMs))
    else if (forMs > stuckMs) {
      lane.stuck = true
      this.#waiting.unshift(...lane.takeBack())
    }
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

export type PoolOptions = {
  workersMax: number
  memoryBytesMax: number
  warmBytesMax: number
  clock: Clock
  workerUrl: URL
  /** A run of this program is done. */
  took(programId: string, ms: number): void
}

/** Runs that may wait for a worker; more are refused. */
const waitingMax = 10_000
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
