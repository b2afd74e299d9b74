import type { Program, ProgramFailureCode } from '../domain/run/program.ts'
import { Engine, type EngineHost, type Handle } from './engine.ts'
import {
  cancelled,
  codeName,
  engineFailed,
  type Failure,
  memoryExceeded,
  thrown,
  timedOut,
  waitsForever,
} from './failure.ts'
import { guestSource, hostFunctions } from './guest.ts'
import type { Snapshot } from './memory.ts'
import { Run, type RunEnd } from './run.ts'
import { type Compiled, WarmPrograms } from './warm-programs.ts'

/**
 * Runs programs one after the other, each isolated from the others.
 *
 * A program is compiled once. Then a snapshot is taken of the engine's memory, and every run starts from this snapshot:
 * restoring it removes whatever a run has changed in globals, in prototypes or in the engine itself.
 *
 * Measured by `bench/sandbox.ts` for `return a.x + 1`: the run itself 4 µs, restoring the memory (300 KB) 9 µs. A new
 * engine from the snapshot takes 2 ms with garbage collection, and so does a new context.
 */
export class Machine {
  #options: MachineOptions
  #host: EngineHost
  #engine: Engine | undefined
  /** The snapshot that was restored last. The engine's memory equals it while `#isClean`. */
  #restored: Snapshot | undefined
  #isClean = false
  /** Memory of discarded engines. Only the garbage collector frees it, and it does not know how much that is. */
  #discardedBytes = 0
  #base: Base | undefined
  #warm: WarmPrograms
  #run: Run | undefined

  constructor(options: MachineOptions) {
    this.#options = options
    this.#warm = new WarmPrograms(options.warmBytesMax)
    this.#host = {
      call: (letter, read) => this.#run?.call(letter, read),
      interrupted: () => this.#run?.interrupted() ?? false,
      now: options.now,
      random: options.random,
    }
  }

  /** Starts the engine, so that the first run does not wait for it. */
  warm(): void {
    this.#start()
  }

  /** Runs a program with the JSON text of its values. Never throws, even if the program does. */
  run(program: Program, values: string, bounds: RunBounds): MachineOutcome {
    const { random } = this.#options
    const base = this.#start()
    const run = new Run({ ends: bounds.ends, seed: () => Math.floor(random() * 2 ** 32) })
    this.#run = run
    const compiled = this.#warm.get(program.id) ?? this.#compile(program, base, run)
    if (compiled) this.#call(program, base, compiled, values, run)
    this.#run = undefined
    const { result, failure, stdout } = run
    if (run.ended === 'TIMEOUT') return { ok: false, ...timedOut(bounds.timeoutMs), stdout }
    if (run.ended === 'CANCELLED') return { ok: false, ...cancelled, stdout }
    if (result !== undefined) return { ok: true, result, stdout }
    return { ok: false, ...(failure ?? this.#lacksMemory), stdout }
  }

  /** Restores the memory after the latest run while no run waits, so that the next run starts at once. */
  rest(): void {
    if (this.#engine && this.#restored && !this.#isClean) this.#engine.restore(this.#restored)
    this.#isClean = true
    if (this.#discardedBytes < discardedBytesMax) return
    this.#discardedBytes = 0
    Bun.gc(true)
  }

  #call(program: Program, base: Base, { snapshot, start }: Compiled, values: string, run: Run): void {
    this.#use(snapshot, run, (engine) => {
      const promise = engine.call(start, [engine.newString(values)])
      if (promise === undefined) return this.#explain(program, base, engine, engine.exception(), run)
      while (engine.promiseState(promise) === 'pending' && !run.interrupted()) if (engine.runJob() === 0) break
      const state = engine.promiseState(promise)
      if (state === 'pending') run.failure = this.#isFull ? this.#lacksMemory : waitsForever
      if (state === 'pending' || run.ended) return
      const value = engine.promiseResult(promise)
      const json = state === 'fulfilled' ? engine.call(base.finish, [value]) : undefined
      const text = json === undefined ? undefined : engine.textOf(json)
      if (text !== undefined) run.settle(text)
      else this.#explain(program, base, engine, state === 'rejected' ? value : engine.exception(), run)
    })
  }

  /** Compiles a program and keeps it. Returns undefined when the code does not compile. */
  #compile(program: Program, base: Base, run: Run): Compiled | undefined {
    const compiled = this.#use(base.snapshot, run, (engine) => {
      // The line breaks keep a comment at the end of the source from swallowing the rest.
      const source = `async function (${program.parameters.join(', ')}) {\n${program.source}\n}`
      const body = engine.evaluate(`(${source})`, codeName)
      const start = body === undefined ? undefined : engine.call(base.prepare, [body, engine.newString(source)])
      if (start !== undefined) return { snapshot: engine.snapshot(), start }
      this.#explain(program, base, engine, engine.exception(), run)
      return undefined
    })
    if (run.ended) return undefined
    if (compiled) this.#warm.keep(program.id, compiled)
    return compiled
  }

  /** Converts a thrown value to a failure. */
  #explain(program: Program, base: Base, engine: Engine, error: Handle, run: Run): void {
    if (run.ended) return
    const report = engine.call(base.describe, [error])
    const text = report === undefined ? undefined : engine.textOf(report)
    const { memoryBytesMax } = this.#options
    // A missing report means that no memory was left to create it.
    if (text === undefined) run.failure = this.#lacksMemory
    else run.failure = thrown(text, program.source, { memoryBytesMax, isFull: this.#isFull })
  }

  /** Restores a snapshot and uses the engine once. */
  #use<Result>(snapshot: Snapshot, run: Run, work: (engine: Engine) => Result): Result | undefined {
    const engine = this.#engineFrom(snapshot)
    try {
      return work(engine)
    } catch (trap) {
      run.failure ??= engineFailed(trap, this.#options.memoryBytesMax)
      this.#discard(engine)
      return undefined
    } finally {
      // To clear this much memory takes longer than to create an engine, and would keep the memory allocated.
      if (engine.size - snapshot.size > clearedBytesMax) this.#discard(engine)
    }
  }

  #engineFrom(snapshot: Snapshot): Engine {
    const { module } = this.#options
    if (!this.#engine) this.#engine = new Engine(module, this.#host, { snapshot })
    else if (!this.#isClean || this.#restored !== snapshot) this.#engine.restore(snapshot)
    this.#restored = snapshot
    this.#isClean = false
    return this.#engine
  }

  #discard(engine: Engine): void {
    if (engine !== this.#engine) return
    this.#engine = undefined
    this.#discardedBytes += engine.size
  }

  /** Whether the run has used all the memory it may use. */
  get #isFull(): boolean {
    return this.#engine !== undefined && this.#engine.size > this.#options.memoryBytesMax
  }

  get #lacksMemory(): Failure {
    return memoryExceeded(this.#options.memoryBytesMax)
  }

  /** The state in which every program is compiled. Created once, before any run, so that no deadline interrupts it. */
  #start(): Base {
    if (this.#base) return this.#base
    const { module, memoryBytesMax } = this.#options
    const engine = new Engine(module, this.#host, { memoryBytesMax })
    const guest = engine.evaluate(guestSource(), 'guest')
    const functions =
      guest &&
      engine.call(
        guest,
        hostFunctions.map((name) => engine.newHostFunction(name)),
      )
    if (!functions) throw new Error(`The sandbox cannot start: ${engine.textOf(engine.exception())}`)
    const [prepare, finish, describe] = [0, 1, 2].map((index) => engine.item(functions, index)) as [
      Handle,
      Handle,
      Handle,
    ]
    this.#base = { snapshot: engine.snapshot(), prepare, finish, describe }
    this.#engine = engine
    return this.#base
  }
}

export type MachineOptions = {
  module: WebAssembly.Module
  /** Memory for one run of user code. */
  memoryBytesMax: number
  /** Memory for the snapshots of compiled programs, about 0.3 MB each. */
  warmBytesMax: number
  /** Epoch milliseconds. */
  now(): number
  /** 0 ≤ n < 1; seeds the code's `Math.random`. */
  random(): number
}

export type RunBounds = {
  /** For the message when `ends` returns `TIMEOUT`. */
  timeoutMs: number
  /** Called repeatedly while the code runs. */
  ends(): RunEnd | undefined
}

/** `result` is JSON text. */
export type MachineOutcome =
  | { ok: true; result: string; stdout: string }
  | { ok: false; code: ProgramFailureCode; message: string; stdout: string }

/** The engine before any user code is in it. */
type Base = { snapshot: Snapshot; prepare: Handle; finish: Handle; describe: Handle }

const clearedBytesMax = 8 * 1_048_576
const discardedBytesMax = 8 * 1_048_576
