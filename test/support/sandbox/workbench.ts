import type { ProgramOutcome } from '../../../src/domain/run/program.ts'
import { compileEngine } from '../../../src/sandbox/engine-file.ts'
import { Machine, type MachineOptions } from '../../../src/sandbox/machine.ts'
import type { RunEnd } from '../../../src/sandbox/run.ts'

/** A real machine in this thread, with short methods to run code. */
export class Workbench {
  readonly machine: Machine
  /** Called by the machine while code runs. */
  ends: () => RunEnd | undefined = () => undefined

  constructor(options: Partial<MachineOptions> = {}) {
    this.machine = new Machine({
      module: compileEngine(64 * 1_048_576),
      memoryBytesMax: 64 * 1_048_576,
      warmBytesMax: 32 * 1_048_576,
      now: Date.now,
      random: Math.random,
      ...options,
    })
  }

  /** Runs code with named values. */
  run(source: string, values: Record<string, unknown> = {}): ProgramOutcome {
    const parameters = Object.keys(values)
    const program = { id: Bun.hash(JSON.stringify([source, parameters])).toString(36), source, parameters }
    const bounds = { timeoutMs: 1_000, ends: () => this.ends() }
    const outcome = this.machine.run(program, JSON.stringify(Object.values(values)), bounds)
    return outcome.ok ? { ...outcome, result: JSON.parse(outcome.result) } : outcome
  }

  /** The result of code that must not fail. */
  result(source: string, values: Record<string, unknown> = {}): unknown {
    const outcome = this.run(source, values)
    if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`)
    return outcome.result
  }

  /** The failure of code that must fail. */
  failure(source: string, values: Record<string, unknown> = {}): { code: string; message: string } {
    const outcome = this.run(source, values)
    if (outcome.ok) throw new Error(`Did not fail: ${JSON.stringify(outcome.result)}`)
    return { code: outcome.code, message: outcome.message }
  }
}
