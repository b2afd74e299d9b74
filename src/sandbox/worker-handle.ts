import type { Program, ProgramFailureCode, ProgramRequest } from '../domain/run/program.ts'
import type { MachineOutcome } from './machine.ts'
import { Control, type OutcomeBatch, outcomeFields, type RunBatch, slots, ticketMax, type WorkerStart } from './wire.ts'

/** The service's side of one worker: what was sent to it, and which run it has been executing since when. */
export class WorkerHandle {
  #worker: Worker
  #control = new Control()
  #owner: WorkerHandleOwner
  /** Runs that were sent and have no outcome yet, by ticket, in the order of sending. */
  #jobs = new Map<number, Job>()
  #lastTicket = 0
  #backlogMs = 0
  #batch: RunBatch = { forget: false, programs: [], runs: [] }
  /** Ids of the programs that were sent to the worker. */
  #known = new Set<string>()
  #knownChars = 0
  /** The run that it executed at the last check, and since when. */
  #seen = { ticket: 0, sinceMs: 0 }
  #idleSinceMs: number
  /** The owner of the run that it has executed for so long that no other run may wait behind it. */
  stuckFor: string | undefined
  #closed: Promise<void>

  constructor(start: Omit<WorkerStart, 'control'>, owner: WorkerHandleOwner, nowMs: number) {
    this.#owner = owner
    this.#idleSinceMs = nowMs
    this.#worker = new Worker(owner.workerUrl)
    this.#worker.onmessage = ({ data }: MessageEvent<OutcomeBatch | WebAssembly.Module>) =>
      data instanceof WebAssembly.Module ? owner.compiled(data) : this.#receive(data)
    this.#worker.onerror = (event) => {
      event.preventDefault()
      owner.broken(this, event.message)
    }
    this.#closed = new Promise((resolve) => this.#worker.addEventListener('close', () => resolve()))
    this.#worker.postMessage({ ...start, control: this.#control.shared } satisfies WorkerStart)
  }

  get isEmpty(): boolean {
    return this.#jobs.size === 0
  }

  /** Whether the slot of the next ticket may still be in use. */
  get isFull(): boolean {
    for (const oldest of this.#jobs.keys()) {
      return (this.#lastTicket + 1 - oldest + ticketMax) % ticketMax >= slots
    }
    return false
  }

  /** The expected duration of all its runs. */
  get backlogMs(): number {
    return this.#backlogMs
  }

  /** Adds a job to the batch that `post` sends. */
  add(job: Job): void {
    const { program, timeoutMs } = job.request
    this.#introduce(program)
    this.#lastTicket = (this.#lastTicket % ticketMax) + 1
    this.#jobs.set(this.#lastTicket, job)
    this.#backlogMs += job.expectedMs
    this.#control.offer(this.#lastTicket)
    this.#batch.runs.push(this.#lastTicket, program.id, timeoutMs, job.values)
  }

  post(): void {
    if (this.#batch.runs.length === 0) return
    this.#worker.postMessage(this.#batch)
    this.#batch = { forget: false, programs: [], runs: [] }
  }

  /** The job that it executes, and the time since a check first saw that. */
  current(nowMs: number): { job: Job; forMs: number } | undefined {
    const ticket = this.#control.running
    if (ticket !== this.#seen.ticket) this.#seen = { ticket, sinceMs: nowMs }
    const job = this.#jobs.get(ticket)
    return job && { job, forMs: nowMs - this.#seen.sinceMs }
  }

  /** The time since a check last saw it busy. */
  idleForMs(nowMs: number): number {
    if (!this.isEmpty) this.#idleSinceMs = nowMs
    return nowMs - this.#idleSinceMs
  }

  /**
   * Takes back all jobs but the current one: those not started, and those whose outcomes it cannot post at the moment.
   */
  takeBack(): Job[] {
    const current = this.#control.running
    const others = [...this.#jobs].filter(([ticket]) => ticket !== current)
    for (const [ticket, job] of others) if (!this.#takeBack(ticket, job)) this.#remove(ticket, job)
    return others.map(([, job]) => job)
  }

  /** Takes back dropped jobs that have not started, and asks the worker to end one that has. */
  drop(isDropped: (job: Job) => boolean): void {
    for (const [ticket, job] of this.#jobs) {
      if (!isDropped(job) || this.#takeBack(ticket, job)) continue
      if (this.#control.running === ticket) this.#control.cancel(ticket)
    }
  }

  /** Ends the worker at once. Returns the jobs without an outcome. */
  terminate(): { unfinished: Job[]; closed: Promise<void> } {
    this.#worker.onmessage = null
    this.#worker.onerror = null
    this.#worker.terminate()
    return { unfinished: [...this.#jobs.values()], closed: this.#closed }
  }

  #takeBack(ticket: number, job: Job): boolean {
    const isOurs = this.#control.take(ticket)
    if (isOurs) this.#remove(ticket, job)
    return isOurs
  }

  #remove(ticket: number, job: Job): void {
    this.#jobs.delete(ticket)
    this.#backlogMs = this.isEmpty ? 0 : this.#backlogMs - job.expectedMs
  }

  /** Sends each program once. When there are too many of them, both sides forget all. */
  #introduce(program: Program): void {
    if (this.#known.has(program.id)) return
    if (this.#known.size >= knownMax || this.#knownChars > knownCharsMax) {
      this.#known.clear()
      this.#knownChars = 0
      // The programs of this batch must be sent again too.
      this.post()
      this.#batch.forget = true
    }
    this.#known.add(program.id)
    this.#knownChars += program.source.length
    this.#batch.programs.push(program)
  }

  #receive(batch: OutcomeBatch): void {
    for (let at = 0; at < batch.length; at += outcomeFields) {
      const [ticket, tookMs, code, text, stdout] = batch.slice(at, at + outcomeFields) as OutcomeFields
      const job = this.#jobs.get(ticket)
      if (!job) continue
      this.#remove(ticket, job)
      this.#owner.took(job.request.program.id, tookMs)
      job.settle(code === '' ? { ok: true, result: text, stdout } : { ok: false, code, message: text, stdout })
    }
    this.stuckFor = undefined
    this.#owner.free()
  }
}

/** One run, as it was requested. */
export type Job = {
  request: ProgramRequest
  /** The workspace of the run. Workspaces share the workers. */
  owner: string
  /** JSON text. */
  values: string
  expectedMs: number
  /** When a check first saw that its caller no longer waits. */
  droppedAtMs: number | undefined
  /** Whether it was ended once so that another owner got its worker. */
  hasYielded: boolean
  /** Passes the outcome to the caller. Only the first call counts. */
  settle(outcome: MachineOutcome): void
}

export type WorkerHandleOwner = {
  workerUrl: URL
  /** The worker has compiled the engine. */
  compiled(module: WebAssembly.Module): void
  took(programId: string, ms: number): void
  /** The worker has sent outcomes, and can take more runs. */
  free(): void
  /** The worker has ended, or cannot start. */
  broken(worker: WorkerHandle, message: string): void
}

type OutcomeFields = [ticket: number, tookMs: number, code: ProgramFailureCode | '', text: string, stdout: string]

const knownMax = 1_000
const knownCharsMax = 16 * 1_048_576
