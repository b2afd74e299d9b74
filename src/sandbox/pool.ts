import type { Clock, Timer } from '../domain/clock.ts'
import { FairShare } from '../domain/fair-share.ts'
import { cancelled, type Failure, outcomeOf, overloaded, sandboxFailed, timedOut } from './failure.ts'
import { TurnQueue } from './turn-queue.ts'
import { type Job, WorkerHandle } from './worker-handle.ts'

/**
 * The workers, and the runs that wait for them.
 *
 * A run goes to the first worker that has little to do. So a service under low load uses one thread, in which its
 * programs stay compiled. Another worker is started when all are busy. Runs that arrive together are sent together.
 *
 * The engine ends a run when its time is over. If a worker exceeds the deadline nevertheless, it is terminated and
 * replaced. Runs that wait behind a long one move to other workers. Code has no effects outside the sandbox, so any run
 * can be started again.
 *
 * Owners wait in turns. When long runs occupy all workers and an owner waits that has none of them, the owner with the
 * most workers yields one: its latest run starts again later, and from then on never takes the last worker.
 */
export class Pool {
  #options: PoolOptions
  #module: WebAssembly.Module | undefined
  #workers: WorkerHandle[] = []
  readonly #waiting = new TurnQueue<Job>()
  /** Limits the waiting runs of each owner. */
  readonly #share: FairShare
  #nextCheck: { timer: Timer; inMs: number } | undefined
  #posting: ReturnType<typeof setImmediate> | undefined
  #stopped = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#share = new FairShare({ total: waitingMax, factor: options.shareFactor })
  }

  get load(): { workers: number; waiting: number } {
    return { workers: this.#workers.length, waiting: this.#waiting.size }
  }

  run(job: Job): void {
    if (!this.#share.hasRoom(job.owner)) {
      job.settle(outcomeOf(overloaded(waitingMax)))
      return
    }
    this.#share.take(job.owner)
    this.#waiting.push(job.owner, job)
    this.#dispatch()
  }

  warm(): void {
    if (this.#workers.length === 0 && !this.#stopped) this.#start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#nextCheck?.timer.cancel()
    if (this.#posting) clearImmediate(this.#posting)
    const ends = this.#workers.splice(0).map((worker) => worker.terminate())
    for (const job of [...this.#waiting.remove(() => true), ...ends.flatMap(({ unfinished }) => unfinished)]) {
      job.settle(outcomeOf(cancelled))
    }
    await Promise.all(ends.map(({ closed }) => closed))
  }

  /** Sends waiting runs to workers, as many as these can take. */
  #dispatch(mayTake = this.#mayTake): void {
    if (this.#stopped || this.#waiting.size === 0) return
    while (this.#waiting.size > 0) {
      const worker = this.#workerFor()
      const job = worker && this.#waiting.take(mayTake, isHeldBack)
      if (!job) break
      this.#share.release(job.owner)
      const wasEmpty = worker.isEmpty
      worker.add(job)
      if (wasEmpty) worker.post()
      else this.#posting ??= setImmediate(() => this.#post())
    }
    this.#checkIn(checkMs)
  }

  #mayTake = ({ hasYielded }: Job, owner: string): boolean =>
    !hasYielded || this.#workersOf(owner) < this.#options.workersMax - 1

  /** The number of workers that execute long runs of an owner. */
  #workersOf(owner: string): number {
    let count = 0
    for (const { stuckFor } of this.#workers) if (stuckFor === owner) count++
    return count
  }

  #putBack(jobs: readonly Job[]): void {
    for (const job of jobs.toReversed()) {
      this.#share.take(job.owner)
      this.#waiting.putBack(job.owner, job)
    }
  }

  #post(): void {
    this.#posting = undefined
    for (const worker of this.#workers) worker.post()
  }

  #workerFor(): WorkerHandle | undefined {
    let least: WorkerHandle | undefined
    for (const worker of this.#workers) {
      if (worker.stuckFor !== undefined || worker.isFull || worker.backlogMs > fullBacklogMs) continue
      if (worker.backlogMs < smallBacklogMs) return worker
      if (!least || worker.backlogMs < least.backlogMs) least = worker
    }
    const isBusy = !least || least.backlogMs > largeBacklogMs
    return isBusy && this.#mayStart ? this.#start() : least
  }

  /** Further workers start only after the first one has compiled the engine, because they use its module. */
  get #mayStart(): boolean {
    return this.#workers.length === 0 || (this.#module !== undefined && this.#workers.length < this.#options.workersMax)
  }

  #start(): WorkerHandle {
    const { memoryBytesMax, warmBytesMax, workerUrl, clock, took } = this.#options
    const worker = new WorkerHandle(
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
    this.#workers.push(worker)
    return worker
  }

  #compiled(module: WebAssembly.Module): void {
    this.#module = module
    this.#dispatch()
  }

  /**
   * Runs regularly while there is work: drops abandoned runs, ends overdue ones, and moves those that wait behind them.
   */
  #checkAll(): void {
    this.#nextCheck = undefined
    const nowMs = this.#options.clock.monotonic()
    for (const job of this.#waiting.remove((each) => this.#isDropped(each, nowMs))) this.#share.release(job.owner)
    for (const worker of [...this.#workers]) this.#check(worker, nowMs)
    this.#dispatch()
    this.#yieldOne(nowMs)
    if (this.#workers.some((worker) => !worker.isEmpty)) this.#checkIn(checkMs)
    else if (this.#workers.length > 1) this.#checkIn(idleMs)
  }

  #checkIn(inMs: number): void {
    if (this.#nextCheck && this.#nextCheck.inMs <= inMs) return
    this.#nextCheck?.timer.cancel()
    this.#nextCheck = { inMs, timer: this.#options.clock.setTimer(inMs, () => this.#checkAll()) }
  }

  #check(worker: WorkerHandle, nowMs: number): void {
    worker.drop((job) => this.#isDropped(job, nowMs))
    const current = worker.current(nowMs)
    if (!current) {
      if (worker !== this.#workers[0] && worker.idleForMs(nowMs) >= idleMs) this.#end(worker)
      return
    }
    const { job, forMs } = current
    const { timeoutMs } = job.request
    const isOver = job.droppedAtMs === undefined ? forMs > timeoutMs + graceMs : nowMs - job.droppedAtMs > graceMs
    if (isOver) this.#replace(worker, timedOut(timeoutMs))
    else if (forMs > stuckMs) {
      worker.stuckFor = job.owner
      this.#putBack(worker.takeBack())
    }
  }

  /** Frees a worker for an owner that waits and has none, if long runs occupy all of them. */
  #yieldOne(nowMs: number): void {
    if (this.#waiting.size === 0 || this.#workers.length < this.#options.workersMax) return
    if (this.#workers.some(({ stuckFor }) => stuckFor === undefined)) return
    const hasNone = (_: Job, owner: string) => this.#workersOf(owner) === 0
    if (!this.#waiting.mayTake(hasNone)) return
    const latest = this.#latestOfMost(nowMs)
    if (!latest) return
    const unfinished = this.#end(latest)
    for (const job of unfinished) job.hasYielded = true
    this.#putBack(unfinished)
    this.#dispatch(hasNone)
  }

  /** The worker with the latest run of the owner that has the most long runs, if these are two or more. */
  #latestOfMost(nowMs: number): WorkerHandle | undefined {
    const heldBy = ({ stuckFor = '' }: WorkerHandle) => this.#workersOf(stuckFor)
    const forMs = (worker: WorkerHandle) => worker.current(nowMs)?.forMs ?? 0
    const [first] = this.#workers.toSorted((a, b) => heldBy(b) - heldBy(a) || forMs(a) - forMs(b))
    return first && heldBy(first) > 1 ? first : undefined
  }

  #isDropped(job: Job, nowMs: number): boolean {
    if (!job.request.signal.aborted) return false
    job.droppedAtMs ??= nowMs
    job.settle(outcomeOf(cancelled))
    return true
  }

  /** Ends a worker. Its current job fails; its other jobs start again in other workers. */
  #replace(worker: WorkerHandle, failure: Failure): void {
    const failed = worker.current(this.#options.clock.monotonic())?.job
    const unfinished = this.#end(worker)
    for (const job of unfinished) if (!failed || job === failed) job.settle(outcomeOf(failure))
    if (failed) this.#putBack(unfinished.filter((job) => job !== failed))
    this.#dispatch()
  }

  #end(worker: WorkerHandle): Job[] {
    this.#workers.splice(this.#workers.indexOf(worker), 1)
    return worker.terminate().unfinished
  }
}

/** Whether the run that needs the program has to wait for memory. Checked again every few milliseconds. */
function isHeldBack({ request }: Job): boolean {
  return request.mayStart?.() === false
}

export type PoolOptions = {
  workersMax: number
  shareFactor: number
  memoryBytesMax: number
  warmBytesMax: number
  clock: Clock
  workerUrl: URL
  /** Called when a run of a program has ended. */
  took(programId: string, ms: number): void
}

/** Maximum number of waiting runs; further ones are refused. */
const waitingMax = 10_000
/** A worker with less work than this counts as idle. */
const smallBacklogMs = 1
/** With more work than this in every worker, a new worker is started. */
const largeBacklogMs = 5
/** With more work than this, a worker gets no more: further runs keep their turns. */
const fullBacklogMs = 20
const checkMs = 10
const stuckMs = 20
/** The time that the engine has after a deadline to end a run by itself. */
const graceMs = 50
/** After this time without work, all workers but the first end. */
const idleMs = 30_000
