import type { Program, ProgramFailureCode, ProgramRequest } from '../domain/program.ts'
import type { MachineOutcome } from './machine.ts'
import { Control, type OutcomeBatch, outcomeFields, type RunBatch, slots, ticketMax, type WorkerStart } from './wire.ts'

/** One worker as the service sees it: what was sent to it, and what it has been doing for how long. */
export class Lane {
  #worker: Worker
  #control = new Control()
  #owner: LaneOwner
  /** Sent and not answered, by ticket, in the order they were sent. */
  #jobs = new Map<number, Job>()
  #lastTicket = 0
  #backlogMs = 0
  #batch: RunBatch = { forget: false, programs: [], runs: [] }
  /** Ids of the programs that the worker knows. */
  #told = new Set<string>()
  #toldLength = 0
  /** What it was at when it was last looked at. */
  #seen = { ticket: 0, sinceMs: 0 }
  #idleSinceMs: number
  /** Busy with one job for so long that nothing else may wait behind it. */
  stuck = false
  #closed: Promise<void>

  constructor(start: Omit<WorkerStart, 'control'>, owner: LaneOwner, nowMs: number) {
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

  get empty(): boolean {
    return this.#jobs.size === 0
  }

  /** Whether the next ticket's slot may still be in use. */
  get full(): boolean {
    for (const oldest of this.#jobs.keys()) {
      return (this.#lastTicket + 1 - oldest + ticketMax) % ticketMax >= slots
    }
    return false
  }

  /** How long all that it has to do is expected to take. */
  get backlogMs(): number {
    return this.#backlogMs
  }

  /** Puts a job into the batch that `post` sends. */
  add(job: Job): void {
    const { program, timeoutMs } = job.request
    this.#tell(program)
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

  /** The job it is at, and how long it has been, as far as looks at it can tell. */
  current(nowMs: number): { job: Job; forMs: number } | undefined {
    const ticket = this.#control.running
    if (ticket !== this.#seen.ticket) this.#seen = { ticket, sinceMs: nowMs }
    const job = this.#jobs.get(ticket)
    return job && { job, forMs: nowMs - this.#seen.sinceMs }
  }

  /** How long it has had nothing to do, as far as looks at it can tell. */
  idleForMs(nowMs: number): number {
    if (!this.empty) this.#idleSinceMs = nowMs
    return nowMs - this.#idleSinceMs
  }

  /** Takes back all but the job it is at: what it has not started, and what is done but cannot be answered for now. */
  takeBack(): Job[] {
    const current = this.#control.running
    const others = [...this.#jobs].filter(([ticket]) => ticket !== current)
    for (const [ticket, job] of others) if (!this.#takeBack(ticket, job)) this.#remove(ticket, job)
    return others.map(([, job]) => job)
  }

  /** Takes back what nobody waits for any more, and asks the worker to end such a job that it is at. */
  drop(isDropped: (job: Job) => boolean): void {
    for (const [ticket, job] of this.#jobs) {
      if (!isDropped(job) || this.#takeBack(ticket, job)) continue
      if (this.#control.running === ticket) this.#control.cancel(ticket)
    }
  }

  /** Ends the worker at once, whatever it does. Returns what it has not answered. */
  terminate(): { unanswered: Job[]; closed: Promise<void> } {
    this.#worker.onmessage = null
    this.#worker.onerror = null
    this.#worker.terminate()
    return { unanswered: [...this.#jobs.values()], closed: this.#closed }
  }

  #takeBack(ticket: number, job: Job): boolean {
    const isOurs = this.#control.take(ticket)
    if (isOurs) this.#remove(ticket, job)
    return isOurs
  }

  #remove(ticket: number, job: Job): void {
    this.#jobs.delete(ticket)
    this.#backlogMs = this.empty ? 0 : this.#backlogMs - job.expectedMs
  }

  /** Sends a program once only. Both sides forget all of them when they get too many. */
  #tell(program: Program): void {
    if (this.#told.has(program.id)) return
    if (this.#told.size >= toldMax || this.#toldLength > toldLengthMax) {
      this.#told.clear()
      this.#toldLength = 0
      // The programs of this batch are told again too.
      this.post()
      this.#batch.forget = true
    }
    this.#told.add(program.id)
    this.#toldLength += program.source.length
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
    this.stuck = false
    this.#owner.free()
  }
}

/** One run that was asked for. */
export type Job = {
  request: ProgramRequest
  /** JSON text. */
  values: string
  expectedMs: number
  /** When it was found that nobody waits for it any more. */
  droppedAtMs: number | undefined
  /** Gives the outcome to the caller; only the first one counts. */
  settle(outcome: MachineOutcome): void
}

export type LaneOwner = {
  workerUrl: URL
  /** The worker has compiled the engine. */
  compiled(module: WebAssembly.Module): void
  took(programId: string, ms: number): void
  /** It can take more. */
  free(): void
  /** The worker has ended, or cannot start. */
  broken(lane: Lane, message: string): void
}

type OutcomeFields = [ticket: number, tookMs: number, code: ProgramFailureCode | '', text: string, stdout: string]

const toldMax = 1_000
const toldLengthMax = 16 * 1_048_576
