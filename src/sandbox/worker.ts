import type { Program } from '../domain/run/program.ts'
import { compileEngine } from './engine-file.ts'
import { Machine } from './machine.ts'
import { Control, type OutcomeBatch, type RunBatch, runFields, type WorkerStart } from './wire.ts'

/**
 * A sandbox worker: a machine that executes the runs it receives, in order. The first message starts it, every other
 * one is a batch. It may be terminated at any moment, so its only state is the programs it has compiled.
 */
declare const self: Worker

self.onmessage = ({ data }: MessageEvent<WorkerStart>) => {
  const module = data.module ?? compileEngine(data.memoryBytesMax)
  if (!data.module) self.postMessage(module)
  const executor = new BatchExecutor({ ...data, module })
  // Frees several copies of the engine's file that compiling leaves in memory.
  Bun.gc(true)
  self.onmessage = ({ data }: MessageEvent<RunBatch>) => executor.take(data)
}

class BatchExecutor {
  #machine: Machine
  #control: Control
  #programs = new Map<string, Program>()
  /** Outcomes that are not posted yet: those of short runs in one batch are posted together. */
  #outcomes: OutcomeBatch = []
  #postedAtMs = 0

  constructor({ module, control, memoryBytesMax, warmBytesMax }: WorkerStart & { module: WebAssembly.Module }) {
    this.#control = new Control(control)
    this.#machine = new Machine({
      module,
      memoryBytesMax,
      warmBytesMax,
      now: Date.now,
      random: secureRandom,
    })
    this.#machine.warm()
  }

  take({ programs, forget, runs }: RunBatch): void {
    if (forget) this.#programs.clear()
    for (const program of programs) this.#programs.set(program.id, program)
    this.#postedAtMs = performance.now()
    for (let at = 0; at < runs.length; at += runFields) {
      const [ticket, id, timeoutMs, values] = runs.slice(at, at + runFields) as [number, string, number, string]
      if (this.#control.take(ticket)) this.#run(ticket, this.#programs.get(id)!, timeoutMs, values)
    }
    this.#post()
    this.#machine.rest()
  }

  #run(ticket: number, program: Program, timeoutMs: number, values: string): void {
    const control = this.#control
    control.running = ticket
    const startMs = performance.now()
    const outcome = this.#machine.run(program, values, {
      timeoutMs,
      ends: () => {
        const nowMs = performance.now()
        this.#postLate(nowMs)
        if (control.isCancelled(ticket)) return 'CANCELLED'
        return nowMs - startMs > timeoutMs ? 'TIMEOUT' : undefined
      },
    })
    const endMs = performance.now()
    const [code, text] = outcome.ok ? ['', outcome.result] : [outcome.code, outcome.message]
    this.#outcomes.push(ticket, endMs - startMs, code, text, outcome.stdout)
    control.running = 0
    this.#postLate(endMs)
  }

  /** Also called while code runs, so that the outcomes of short runs do not wait for a long run behind them. */
  #postLate(nowMs: number): void {
    if (nowMs - this.#postedAtMs > outcomesHeldMs) this.#post()
  }

  #post(): void {
    if (this.#outcomes.length === 0) return
    self.postMessage(this.#outcomes)
    this.#outcomes = []
    this.#postedAtMs = performance.now()
  }
}

const outcomesHeldMs = 1

/** 0 ≤ n < 1, in steps of 2⁻³², from the system's secure source. */
function secureRandom(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32
}
