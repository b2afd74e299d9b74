import type { Program } from '../domain/run/program.ts'

/**
 * - `template`: all strings inside are templates; a string that is exactly one reference keeps the value's type.
 * - `json`: the same, or JSON text that is a template as a whole (`body`, `data`, `input`).
 * - `literal`: used as it is, without references.
 * - `code`: the body of an async function; the block receives a `ProgramCall`.
 * - `expressions`: a list of objects with an `expression` each; the block receives `Expressions`.
 * - `own`: a template that may also read the outputs of its own block; the block receives a `FillOwn`.
 * - `tools`: a list of objects; for a `type` in `toolBlocks`, the block receives the `params` as a `FillTool`.
 */
export type ParameterMode = 'template' | 'json' | 'literal' | 'code' | 'expressions' | 'own' | 'tools'

/** A program with the values of its references at the start of the block. */
export type ProgramCall = {
  program: Program
  values: readonly unknown[]
  /** The references as the author wrote them, one for each value. */
  sources: readonly string[]
}

/**
 * A list of expressions, each with its entry in the parameter. `shown`: the parameter as written, the same object in
 * every run.
 */
export type Expressions<Entry = unknown> = {
  readonly list: readonly { entry: Entry; evaluate: Evaluate }[]
  readonly shown: Readonly<Record<string, unknown>>
}

/** Evaluates an expression; returns a promise when it needs the sandbox. Throws `BlockError`. */
export type Evaluate = (signal: () => AbortSignal) => unknown | Promise<unknown>

/** Fills in the parameters of a tool's block: `<args.x>` reads the arguments. Throws `BlockError`. */
export type FillTool = (args: Readonly<Record<string, unknown>>) => Record<string, unknown>

/** Fills in the parameters for one item of a list. Throws `BlockError`. */
export type FillEach = (item: { item: unknown; index: number }) => Record<string, unknown>

/** Fills in a parameter that reads the outputs of its own block. */
export type FillOwn = (outputs: Readonly<Record<string, unknown>>) => unknown
