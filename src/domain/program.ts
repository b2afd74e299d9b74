/** User code, compiled at deployment: what `language/` makes and `sandbox/` runs. */

/** One program. Equal programs have equal ids, so that a warm sandbox can be found by it. */
export type Program = {
  /** A hash of `source` and `parameters`. */
  id: string
  /** The body of an async function. */
  source: string
  /** The names under which `source` reads its values, one for each. */
  parameters: readonly string[]
}

export const programFailureCodes = [
  'CODE_ERROR',
  'TIMEOUT',
  'MEMORY_EXCEEDED',
  'RESULT_TOO_LARGE',
  'CANCELLED',
] as const

export type ProgramFailureCode = (typeof programFailureCodes)[number]

export type ProgramOutcome =
  /** `result` is JSON data; what JSON cannot hold (undefined, functions) is null. */
  | { ok: true; result: unknown; stdout: string }
  | { ok: false; code: ProgramFailureCode; message: string; stdout: string }

export type ProgramRequest = {
  program: Program
  /** JSON data, one value a parameter. */
  values: readonly unknown[]
  timeoutMs: number
  signal: AbortSignal
}

/** Runs user code with no way to the host. Never throws: what goes wrong is an outcome. */
export type RunProgram = (request: ProgramRequest) => Promise<ProgramOutcome>
