import { type Clock, systemClock, type Timer } from '../domain/clock.ts'
import { FairShare } from '../domain/fair-share.ts'
import type { DoFormatWork, FormatFailure, FormatOutcome, FormatRequest } from '../domain/format/format-work.ts'
import { defaultLimits } from '../domain/limits.ts'
import { finish, type InSlices, largeBytes, type Slices } from '../domain/slices.ts'
import { TurnQueue } from '../sandbox/turn-queue.ts'
import { FormatWorker } from './format-worker.ts'
import type { FormatAnswer } from './wire.ts'

/**
 * Reads and writes documents of other programs, in workers. A document can be hostile: so none is parsed in the
 * service's own thread, and a worker that takes too long is terminated. A job has no effects but the file it writes.
 *
 * Workspaces wait in turns, and share the workers: a workspace never has the last free worker unless it has no other.
 * Workers start when they are needed, and end after some time without work.
 */
export class Formats {
  readonly #options: Required<FormatsOptions>
  readonly #workers: FormatWorker<Task>[] = []
  readonly #waiting = new TurnQueue<Task>()
  /** Limits the waiting jobs of each workspace. */
  readonly #queueShare: FairShare
  readonly #workerShare: FairShare
  #check: { timer: Timer; inMs: number } | undefined
  #isStopped = false

  constructor(options: FormatsOptions = {}) {
    this.#options = { ...defaults, ...options }
    const { workersMax, shareFactor } = this.#options
    this.#queueShare = new FairShare({ total: waitingMax, factor: shareFactor })
    this.#workerShare = new FairShare({ total: workersMax, factor: shareFactor })
  }

  readonly run: DoFormatWork = async (request) => {
    const answer = await new Promise<FormatAnswer>((settle) => this.#accept(request, settle))
    if (!answer.ok) return answer
    return answer.json.length > largeBytes ? await this.#options.inSlices(readLater(answer)) : outcomeOf(answer)
  }

  load(): { workers: number; waiting: number } {
    return { workers: this.#workers.length, waiting: this.#waiting.size }
  }

  /** Ends all workers and cancels every job. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#check?.timer.cancel()
    for (const task of this.#waiting.remove(() => true)) this.#settle(task, cancelled)
    await Promise.all([...this.#workers].map((worker) => this.#end(worker, cancelled)))
  }

  #accept(request: FormatRequest, settle: (answer: FormatAnswer) => void): void {
    const owner = request.workspaceId ?? ''
    if (this.#isStopped || request.signal.aborted || !this.#queueShare.hasRoom(owner)) {
      settle(this.#isStopped || request.signal.aborted ? cancelled : overloaded)
      return
    }
    this.#queueShare.take(owner)
    const task: Task = { request, owner, settle, timer: undefined, onAbort: () => this.#abort(task) }
    request.signal.addEventListener('abort', task.onAbort)
    this.#waiting.push(owner, task)
    this.#dispatch()
  }

  /** Gives waiting jobs to workers. */
  #dispatch(): void {
    while (this.#waiting.size > 0 && !this.#isStopped) {
      const idle = this.#workers.find(({ task }) => task === undefined)
      if (!idle && this.#workers.length >= this.#options.workersMax) break
      const task = this.#waiting.take((_, owner) => this.#workerShare.hasRoom(owner), isHeldBack)
      if (!task) break
      this.#queueShare.release(task.owner)
      this.#workerShare.take(task.owner)
      this.#begin(idle ?? this.#start(), task)
    }
    this.#checkLater()
  }

  #begin(worker: FormatWorker<Task>, task: Task): void {
    const { operation, input, options, output, timeoutMs } = task.request
    task.timer = this.#options.clock.setTimer(timeoutMs, () => void this.#end(worker, timedOut(timeoutMs)))
    worker.begin(task, { operation, input, options, output })
    if (watched.has(operation)) this.#watch(worker, task, this.#options.memoryBytes())
  }

  /**
   * Ends a job whose document takes too much memory. Only the memory of the whole process can be measured, so this is
   * for formats that no other limit can bound.
   */
  #watch(worker: FormatWorker<Task>, task: Task, startBytes: number): void {
    this.#options.clock.setTimer(watchMs, () => {
      if (worker.task !== task) return
      if (this.#options.memoryBytes() - startBytes > memoryBytesMax) void this.#end(worker, memoryExceeded)
      else this.#watch(worker, task, startBytes)
    })
  }

  #start(): FormatWorker<Task> {
    const worker = new FormatWorker<Task>(this.#options.workerUrl, {
      answered: (answer) => {
        const { task } = worker
        worker.task = undefined
        worker.idleSinceMs = this.#options.clock.monotonic()
        if (task) this.#finish(task, answer)
      },
      broken: (message) => void this.#end(worker, failed(message)),
    })
    this.#workers.push(worker)
    return worker
  }

  /** Ends a worker. Its job ends with the failure. */
  async #end(worker: FormatWorker<Task>, failure: FormatFailure): Promise<void> {
    const at = this.#workers.indexOf(worker)
    if (at < 0) return
    this.#workers.splice(at, 1)
    const { task } = worker
    // The job may write its file until the worker has ended, which takes longer if it is not in JavaScript.
    await Promise.race([worker.terminate(), Bun.sleep(terminationMs)])
    if (task) this.#finish(task, failure)
  }

  #finish(task: Task, answer: FormatAnswer): void {
    this.#workerShare.release(task.owner)
    this.#settle(task, answer)
    this.#dispatch()
  }

  #settle({ request, timer, onAbort, settle }: Task, answer: FormatAnswer): void {
    timer?.cancel()
    request.signal.removeEventListener('abort', onAbort)
    settle(answer)
  }

  #abort(task: Task): void {
    const worker = this.#workers.find((each) => each.task === task)
    if (worker) {
      void this.#end(worker, cancelled)
      return
    }
    for (const gone of this.#waiting.remove((each) => each === task)) {
      this.#queueShare.release(gone.owner)
      this.#settle(gone, cancelled)
    }
  }

  /** Looks again at jobs that wait for memory, and at workers without work. */
  #checkLater(): void {
    if (this.#isStopped || (this.#waiting.size === 0 && this.#workers.length === 0)) return
    const inMs = this.#waiting.size > 0 ? checkMs : idleMs
    if (this.#check && this.#check.inMs <= inMs) return
    this.#check?.timer.cancel()
    const timer = this.#options.clock.setTimer(inMs, () => {
      this.#check = undefined
      this.#endIdle()
      this.#dispatch()
    })
    this.#check = { timer, inMs }
  }

  #endIdle(): void {
    const nowMs = this.#options.clock.monotonic()
    for (const worker of [...this.#workers]) {
      if (!worker.task && nowMs - worker.idleSinceMs >= idleMs) void this.#end(worker, cancelled)
    }
  }
}

export type FormatsOptions = {
  /** Maximum number of workers. */
  workersMax?: number
  /** See `FairShare`; for the workers and for the jobs that wait. */
  shareFactor?: number
  clock?: Clock
  /** The worker's file. */
  workerUrl?: URL
  /** Reads large results. */
  inSlices?: InSlices
  /** The memory of the process. */
  memoryBytes?(): number
}

const defaults: Required<FormatsOptions> = {
  workersMax: 3,
  shareFactor: defaultLimits.shareFactor,
  clock: systemClock,
  inSlices: async (slices) => finish(slices),
  memoryBytes: () => process.memoryUsage.rss(),
  // Inside the executable, `import.meta.url` is the root of the bundle in every module.
  workerUrl: new URL(import.meta.url.includes('/$bunfs/') ? './formats/worker.js' : './worker.ts', import.meta.url),
}

type Task = {
  request: FormatRequest
  /** The workspace. */
  owner: string
  settle(answer: FormatAnswer): void
  /** Ends the job when its time is over. */
  timer: Timer | undefined
  onAbort(): void
}

/** Whether a job has to wait for memory. */
function isHeldBack({ request }: Task): boolean {
  return request.mayStart?.() === false
}

/** Reads the data in one piece, which takes up to 70 ms. The run goes on in a turn of its own. */
function* readLater(answer: Extract<FormatAnswer, { ok: true }>): Slices<FormatOutcome> {
  const outcome = outcomeOf(answer)
  yield
  return outcome
}

function outcomeOf({ json, files = [] }: Extract<FormatAnswer, { ok: true }>): FormatOutcome {
  return { ok: true, data: JSON.parse(json) as unknown, bytes: json.length, files }
}

const cancelled: FormatFailure = {
  ok: false,
  code: 'CANCELLED',
  message: 'The run was stopped before the operation ended.',
}

function timedOut(timeoutMs: number): FormatFailure {
  return { ok: false, code: 'TIMEOUT', message: `The operation took longer than ${timeoutMs} ms, its time limit.` }
}

function failed(message: string): FormatFailure {
  return { ok: false, code: 'FORMAT_FAILED', message: `The worker of the operation failed: ${message}` }
}

/** Maximum number of waiting jobs; further ones are refused. */
const waitingMax = 10_000
const overloaded: FormatFailure = {
  ok: false,
  code: 'OVERLOADED',
  message: 'Too many documents are waiting to be read or written. Try again later.',
}
const memoryExceeded: FormatFailure = {
  ok: false,
  code: 'MEMORY_EXCEEDED',
  message: 'The document needs too much memory.',
}
const watched: ReadonlySet<FormatRequest['operation']> = new Set(['pdf_text'])
const memoryBytesMax = 201_326_592
const watchMs = 10
const checkMs = 10
const terminationMs = 1_000
/** After this time without work, workers end. */
const idleMs = 30_000
