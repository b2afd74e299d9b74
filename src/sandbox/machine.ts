import type { Program, ProgramFailureCode } from '../domain/program.ts'
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
import type { Picture } from './memory.ts'
import { Run, type RunEnd } from './run.ts'
import { type Compiled, WarmPrograms } from './warm-programs.ts'

/**
 * Runs programs one after the other, each in a world of its own.
 *
 * A program is compiled once; then a picture is taken of the engine's memory, and every run starts from this picture:
 * whatever a run does to globals, to prototypes or to the engine itself is gone when the memory is put back.
 *
 * Measured by `bench/sandbox.ts` for `return a.x + 1`: the run itself 4 µs, putting the memory back (300 KB) 9 µs. A new
 * engine made from the picture takes 2 ms, garbage collection included, and so does one with a new context.
 */
export class Machine {
  #options: MachineOptions
  #host: EngineHost
  #engine: Engine | undefined
  /** What the engine's memory was made from last, and is when it is clean. */
  #shown: Picture | undefined
  #isClean = false
  /** Memory of engines that were given up. Only the garbage collector can free it, and does not see how much it is. */
  #givenUpBytes = 0
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

  /** Runs a program with the JSON text of its values. Never throws for anything that the code does. */
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

  /** Wipes what the latest run left. Every run starts clean without it: this does the work while nothing waits. */
  rest(): void {
    if (this.#engine && this.#shown && !this.#isClean) this.#engine.restore(this.#shown)
    this.#isClean = true
    if (this.#givenUpBytes < givenUpBytesMax) return
    this.#givenUpBytes = 0
    Bun.gc(true)
  }

  #call(program: Program, base: Base, { picture, start }: Compiled, values: string, run: Run): void {
    this.#use(picture, run, (engine) => {
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

  /** Undefined when the code does not compile. */
  #compile(program: Program, base: Base, run: Run): Compiled | undefined {
    const compiled = this.#use(base.picture, run, (engine) => {
      // The line breaks keep a comment at the end of the source from swallowing the rest.
      const source = `async function (${program.parameters.join(', ')}) {\n${program.source}\n}`
      const body = engine.evaluate(`(${source})`, codeName)
      const start = body === undefined ? undefined : engine.call(base.prepare, [body, engine.newString(source)])
      if (start !== undefined) return { picture: engine.picture(), start }
      this.#explain(program, base, engine, engine.exception(), run)
      return undefined
    })
    if (run.ended) return undefined
    if (compiled) this.#warm.keep(program.id, compiled)
    return compiled
  }

  /** Makes a failure of what was thrown. */
  #explain(program: Program, base: Base, engine: Engine, error: Handle, run: Run): void {
    if (run.ended) return
    const report = engine.call(base.describe, [error])
    const text = report === undefined ? undefined : engine.textOf(report)
    const { memoryBytesMax } = this.#options
    // Without memory not even the report of an error can be made.
    if (text === undefined) run.failure = this.#lacksMemory
    else run.failure = thrown(text, program.source, { memoryBytesMax, isFull: this.#isFull })
  }

  /** Lets the engine be what the picture shows, and used once. */
  #use<Result>(picture: Picture, run: Run, work: (engine: Engine) => Result): Result | undefined {
    const engine = this.#engineLike(picture)
    try {
      return work(engine)
    } catch (trap) {
      run.failure ??= engineFailed(trap, this.#options.memoryBytesMax)
      this.#giveUp(engine)
      return undefined
    } finally {
      // Wiping so much takes longer than a new engine, and would keep it from the rest of the process.
      if (engine.size - picture.size > wipedBytesMax) this.#giveUp(engine)
    }
  }

  #engineLike(picture: Picture): Engine {
    const { module } = this.#options
    if (!this.#engine) this.#engine = new Engine(module, this.#host, { picture })
    else if (!this.#isClean || this.#shown !== picture) this.#engine.restore(picture)
    this.#shown = picture
    this.#isClean = false
    return this.#engine
  }

  #giveUp(engine: Engine): void {
    if (engine !== this.#engine) return
    this.#engine = undefined
    this.#givenUpBytes += engine.size
  }

  /** Whether the run has had all the memory it may have. */
  get #isFull(): boolean {
    return this.#engine !== undefined && this.#engine.size > this.#options.memoryBytesMax
  }

  get #lacksMemory(): Failure {
    return memoryExceeded(this.#options.memoryBytesMax)
  }

  /** What every program is compiled in. Made once, before any run, so that no deadline cuts it. */
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
    if (!functions) throw new Error(`The sandbox does not start: ${engine.textOf(engine.exception())}`)
    const [prepare, finish, describe] = [0, 1, 2].map((index) => engine.item(functions, index)) as [
      Handle,
      Handle,
      Handle,
    ]
    this.#base = { picture: engine.picture(), prepare, finish, describe }
    this.#engine = engine
    return this.#base
  }
}

export type MachineOptions = {
  module: WebAssembly.Module
  /** What the code of one run may use. */
  memoryBytesMax: number
  /** What pictures of compiled programs may take, about 0.3 MB each. */
  warmBytesMax: number
  /** Epoch milliseconds. */
  now(): number
  /** 0 ≤ n < 1; seeds the code's `Math.random`. */
  random(): number
}

export type RunBounds = {
  /** Named in the message when `ends` says that the time is over. */
  timeoutMs: number
  /** Asked again and again while the code runs. */
  ends(): RunEnd | undefined
}

/** `result` is JSON text. */
export type MachineOutcome =
  | { ok: true; result: string; stdout: string }
  | { ok: false; code: ProgramFailureCode; message: string; stdout: string }

/** The engine before any user code is in it. */
type Base = { picture: Picture; prepare: Handle; finish: Handle; describe: Handle }

const wipedBytesMax = 8 * 1_048_576
const givenUpBytesMax = 32 * 1_048_576
