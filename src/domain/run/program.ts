/** User code, compiled at deployment: `language/` makes it and `sandbox/` runs it. */

/** One program. Equal programs have equal IDs, so that a warm sandbox can be found by ID. */
export type Program = {
  /** A hash of `source` and `parameters`. */
  id: string
  /** The body of an async function. */
  source: string
  /** The names of the values that `source` reads. */
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
  /** `result` is JSON data; anything that JSON cannot hold (undefined, functions) is null. */
  | { ok: true; result: unknown; stdout: string }
  | { ok: false; code: ProgramFailureCode; message: string; stdout: string }

export type ProgramRequest = {
  program: Program
  /** JSON data, one value per parameter. */
  values: readonly unknown[]
  timeoutMs: number
  signal: AbortSignal
  /** The workspace that the run belongs to. Workspaces share the sandbox. */
  workspaceId?: string
  /** Whether there is memory for a large result. The program waits until then. */
  mayStart?(): boolean
}

/** Runs user code without access to the host. Never throws: a failure is an outcome. */
export type RunProgram = (request: ProgramRequest) => Promise<ProgramOutcome>
