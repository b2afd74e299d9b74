/** Bounds of documents and runs. Every one of these is a setting; its name is what an error tells the operator. */
export type Limits = {
  runTimeoutMs: number
  runsMax: number
  blocksMax: number
  loopIterationsMax: number
  parallelBranchesMax: number
  parallelConcurrencyMax: number
  nestingMax: number
  subworkflowDepthMax: number
  runBytesMax: number
}

export const defaultLimits: Limits = {
  runTimeoutMs: 300_000,
  runsMax: 500,
  blocksMax: 10_000,
  loopIterationsMax: 1_000,
  parallelBranchesMax: 100,
  parallelConcurrencyMax: 20,
  nestingMax: 10,
  subworkflowDepthMax: 10,
  runBytesMax: 268_435_456,
}

/** The setting that raises each bound. */
export const limitSettings = {
  runTimeoutMs: 'MILLRACE_RUN_TIMEOUT_MS',
  runsMax: 'MILLRACE_RUNS_MAX',
  blocksMax: 'MILLRACE_BLOCKS_MAX',
  loopIterationsMax: 'MILLRACE_LOOP_ITERATIONS_MAX',
  parallelBranchesMax: 'MILLRACE_PARALLEL_BRANCHES_MAX',
  parallelConcurrencyMax: 'MILLRACE_PARALLEL_CONCURRENCY_MAX',
  nestingMax: 'MILLRACE_NESTING_MAX',
  subworkflowDepthMax: 'MILLRACE_SUBWORKFLOW_DEPTH_MAX',
  runBytesMax: 'MILLRACE_RUN_BYTES_MAX',
} satisfies Record<keyof Limits, string>

/** The deepest JSON that is taken from outside; the outermost value is level 1. */
export const jsonDepthMax = 200
/** A value larger than this in a span is kept as a preview. Bytes of JSON text. */
export const spanValueBytesMax = 262_144
/** A final output larger than this is kept as a preview in the log. Bytes of JSON text. */
export const finalOutputBytesMax = 10_485_760
/** Answers to an API block, and results of user code. Bytes. */
export const answerBytesMax = 10_485_760
