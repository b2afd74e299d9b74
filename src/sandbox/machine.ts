import type { Program, ProgramFailureCode } from '../domain/program.ts'
import type { Engine, Handle } from './engine.ts'
import { Engines } from './engines.ts'
import { cancelled, codeName, engineFailed, memoryExceeded, thrown, timedOut, waitsForever } from './failure.ts'
import { guestSource, hostFunctions } from './guest.ts'
import type { Picture } from './memory.ts'
import { Run, type RunEnd } from './run.ts'

/**
 * Runs programs one after the other, each in a world of its own.
 *
 * A program is compiled once; then a picture is taken of the engine's memory, and every run starts from this picture:
 * whatever a run does to globals, to prototypes or to the engine itself is gone when the memory is put back.
 *
 * A run that needs more room than the picture has makes the memory grow, which can never shrink. That engine is given
 * up, and the program is compiled again with more room around it; with the most room there is, it gets a new engine,
 * made from the picture, for every run.
 */
export class Machine {
  #options: MachineOptions
  #engines: Engines
  #bases: (Base | undefined)[] = []
  /** The least recently used first. */
  #warm = new Map<string, Warm>()
  #warmBytes = 0
  #run: Run | undefined
  /** The engine that the run is in. */
  #engine: Engine | undefined

  constructor(options: MachineOptions) {
    this.#options = options
    const { module, memoryBytesMax, now, random, collectGarbage } = options
    const host = {
      call: (letter: number, read: () => string | undefined) => this.#run?.call(letter, read),
      interrupted: () => this.#run?.interrupted() ?? false,
      now,
      random,
    }
    this.#engines = new Engines({ module, host, memoryBytesMax, collectGarbage })
  }

  /** Runs a program with the JSON text of its values. Never throws for anything that the code does. */
  run(program: Program, values: string, bounds: RunBounds): MachineOutcome {
    const { memoryBytesMax, random } = this.#options
    const run = new Run({
      ends: bounds.ends,
      explain: (report) => thrown(report, program.source, { memoryBytesMax, isFull: this.#isFull }),
      seed: () => Math.floor(random() * 2 ** 32),
    })
    this.#run = run
    try {
      const warm = this.#warmUp(program, run)
      if (warm) this.#start(program, warm, values, run)
    } finally {
      this.#run = undefined
    }
    const { result, failure, stdout } = run
    if (run.ended === 'TIMEOUT') return { ok: false, ...timedOut(bounds.timeoutMs), stdout }
    if (run.ended === 'CANCELLED') return { ok: false, ...cancelled, stdout }
    if (result !== undefined) return { ok: true, result, stdout }
    return { ok: false, ...(failure ?? waitsForever), stdout }
  }

  /** Wipes what the latest runs left. Every run starts clean without it: this does the work while nothing waits. */
  rest(): void {
    this.#engines.rest()
  }

  #start(program: Program, warm: Compiled, values: string, run: Run): void {
    const kept = this.#use(warm.picture, run, (engine) => {
      const promise = engine.call(warm.start, [engine.newString(values)])
      while (!run.settled && !run.interrupted() && engine.runJob() !== 0) {}
      // Without memory not even the report of an error can be made.
      const isFull = !promise || engine.isRejected(promise) || this.#isFull
      if (isFull && !run.settled) run.failure = memoryExceeded(this.#options.memoryBytesMax)
    })
    if (!kept && warm.room < roomsBytes.length - 1) this.#keep(program.id, { room: warm.room + 1, compiled: undefined })
  }

  /** The compiled program, kept from its last run or made now; undefined when it does not compile. */
  #warmUp(program: Program, run: Run): Compiled | undefined {
    const warm = this.#warm.get(program.id)
    const compiled = warm?.compiled ?? this.#compile(program, warm?.room ?? 0, run)
    if (compiled) this.#keep(program.id, { room: compiled.room, compiled })
    return compiled
  }

  #compile(program: Program, room: number, run: Run): Compiled | undefined {
    const base = this.#base(room)
    let compiled: Compiled | undefined
    const kept = this.#use(base.picture, run, (engine) => {
      // The line breaks keep a comment at the end of the source from swallowing the rest.
      const source = `async function (${program.parameters.join(', ')}) {\n${program.source}\n}`
      const body = engine.evaluate(`(${source})`, codeName)
      const start = body === undefined ? undefined : engine.call(base.prepare, [body, engine.newString(source)])
      if (start === undefined) engine.call(base.describe, [engine.exception()])
      else compiled = { picture: engine.picture(), start, room }
    })
    if (run.settled || run.ended) return undefined
    if (!kept && room < roomsBytes.length - 1) return this.#compile(program, room + 1, run)
    if (!compiled) run.failure = memoryExceeded(this.#options.memoryBytesMax)
    return compiled
  }

  /** Lends an engine for one use. False when it had to be given up after that. */
  #use(picture: Picture, run: Run, work: (engine: Engine) => void): boolean {
    const engine = this.#engines.hold(picture)
    this.#engine = engine
    let trapped = false
    try {
      work(engine)
    } catch (trap) {
      trapped = true
      run.failure ??= engineFailed(trap, this.#options.memoryBytesMax)
    }
    return this.#engines.release(engine, picture, trapped)
  }

  /** Whether the run has had all the memory it may have. */
  get #isFull(): boolean {
    return this.#engine !== undefined && this.#engine.size > this.#options.memoryBytesMax
  }

  /** What every program with this much room is compiled in. */
  #base(room: number): Base {
    const known = this.#bases[room]
    if (known) return known
    const engine = this.#engines.start()
    const guest = engine.evaluate(guestSource(), 'guest')
    const functions =
      guest &&
      engine.call(
        guest,
        hostFunctions.map((name) => engine.newHostFunction(name)),
      )
    if (!functions) throw new Error(`The sandbox does not start: ${engine.textOf(engine.exception())}`)
    const [prepare, describe] = [engine.item(functions, 0), engine.item(functions, 1)]
    engine.reserve(roomsBytes[room]!)
    const base = { picture: engine.picture(), prepare, describe }
    this.#bases[room] = base
    return base
  }

  #keep(id: string, warm: Warm): void {
    this.#forget(id)
    this.#warm.set(id, warm)
    this.#warmBytes += bytesOf(warm)
    for (const oldest of this.#warm.keys()) {
      if (this.#warmBytes <= this.#options.warmBytesMax && this.#warm.size <= warmProgramsMax) return
      if (oldest !== id) this.#forget(oldest)
    }
  }

  #forget(id: string): void {
    const warm = this.#warm.get(id)
    if (!warm) return
    this.#warm.delete(id)
    this.#warmBytes -= bytesOf(warm)
  }
}

export type MachineOptions = {
  module: WebAssembly.Module
  /** What the code of one run may use. */
  memoryBytesMax: number
  /** Pictures of compiled programs that are kept, about 0.5 MB each. */
  warmBytesMax: number
  /** Epoch milliseconds. */
  now(): number
  /** 0 ≤ n < 1; seeds the code's `Math.random`. */
  random(): number
  /** Called when much memory waits for the garbage collector. */
  collectGarbage(): void
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
type Base = { picture: Picture; prepare: Handle; describe: Handle }

type Compiled = { picture: Picture; start: Handle; room: number }

/** What is known about a program; it has to be compiled when it turned out to need more room. */
type Warm = { room: number; compiled: Compiled | undefined }

function bytesOf({ compiled }: Warm): number {
  return compiled ? compiled.picture.parts.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0) : 0
}

/** Room for a run's data, in steps. All of it is wiped after each run, so the first step is small. */
const roomsBytes = [128 * 1024, 1_048_576, 8 * 1_048_576]
const warmProgramsMax = 1_000
