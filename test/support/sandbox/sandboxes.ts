import { type Clock, systemClock } from '../../../src/domain/clock.ts'
import type { ProgramOutcome } from '../../../src/domain/run/program.ts'
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.ts'

/** The sandboxes of a test file, which are all stopped at its end. */
export class Sandboxes {
  #started: Sandbox[] = []

  start(options: SandboxOptions = {}): Sandbox {
    const sandbox = new Sandbox(options)
    this.#started.push(sandbox)
    return sandbox
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.map((sandbox) => sandbox.stop()))
  }
}

/**
 * For sandboxes whose pool never ends a worker, so that only the engine ends runs. On a busy machine, the pool might
 * otherwise end a worker only because it got no processor time.
 */
export const patience: Clock = { ...systemClock, monotonic: () => 0 }

/** Runs code with one value, named `a`. */
export function run(
  sandbox: Sandbox,
  source: string,
  a: unknown = null,
  options: { timeoutMs?: number; signal?: AbortSignal; workspaceId?: string } = {},
): Promise<ProgramOutcome> {
  const program = { id: source, source, parameters: ['a'] }
  return sandbox.run({ program, values: [a], timeoutMs: 60_000, signal: new AbortController().signal, ...options })
}

export function ok(result: unknown): ProgramOutcome {
  return { ok: true, result, stdout: '' }
}
