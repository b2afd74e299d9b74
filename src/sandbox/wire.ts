import type { Program } from '../domain/run/program.ts'

/**
 * The messages between the service and a sandbox worker: batches of runs in one direction, batches of outcomes in the
 * other. Both are flat lists of numbers and strings, which cost a tenth of a list of objects to copy.
 */
export type WorkerStart = {
  /** Undefined for the first worker, which compiles the engine and posts the module first. */
  module: WebAssembly.Module | undefined
  control: SharedArrayBuffer
  memoryBytesMax: number
  warmBytesMax: number
}

/** `runs`: `runFields` values a run: ticket, program id, timeout in milliseconds, JSON text of the values. */
export type RunBatch = {
  /** Programs that the worker does not know yet. */
  programs: Program[]
  /** Whether the worker must forget all earlier programs first. */
  forget: boolean
  runs: (number | string)[]
}

export const runFields = 4

/**
 * `outcomeFields` values an outcome: ticket, duration in milliseconds, code ('' for success), result or message,
 * stdout.
 */
export type OutcomeBatch = (number | string)[]

export const outcomeFields = 5

/**
 * Memory shared by both sides. A ticket is the number of a run in its worker. Slots hold the tickets of runs that have
 * not started. The side that takes a ticket out of its slot owns the run: the worker then starts it, the service gives
 * it to another worker or drops it.
 */
export class Control {
  readonly shared: SharedArrayBuffer
  #cells: Int32Array

  constructor(shared = new SharedArrayBuffer(4 * (firstSlot + slots))) {
    this.shared = shared
    this.#cells = new Int32Array(shared)
  }

  offer(ticket: number): void {
    Atomics.store(this.#cells, slotOf(ticket), ticket)
  }

  /** False when the other side has taken it. */
  take(ticket: number): boolean {
    return Atomics.compareExchange(this.#cells, slotOf(ticket), ticket, 0) === ticket
  }

  /** The ticket that runs now; 0 for none. */
  get running(): number {
    return Atomics.load(this.#cells, runningCell)
  }

  set running(ticket: number) {
    Atomics.store(this.#cells, runningCell, ticket)
  }

  /** Asks the worker to end a run that has started. */
  cancel(ticket: number): void {
    Atomics.store(this.#cells, cancelledCell, ticket)
  }

  isCancelled(ticket: number): boolean {
    return Atomics.load(this.#cells, cancelledCell) === ticket
  }
}

/** Runs that can wait in one worker. */
export const slots = 64
/** The ticket after this one is 1. A multiple of `slots`, so that consecutive tickets never share a slot. */
export const ticketMax = 2 ** 30

const runningCell = 0
const cancelledCell = 1
const firstSlot = 2

function slotOf(ticket: number): number {
  return firstSlot + (ticket % slots)
}
