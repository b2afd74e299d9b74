/** The limits of documents and runs. Each one is a setting, and error messages name that setting. */
export type Limits = {
  runTimeoutMs: number
  /** A wait of a run without a caller that is longer takes the run out of memory. */
  pauseInMemoryMs: number
  runsMax: number
  shareFactor: number
  blocksMax: number
  loopIterationsMax: number
  parallelBranchesMax: number
  parallelConcurrencyMax: number
  nestingMax: number
  documentReferencesMax: number
  codeCharsMax: number
  expressionCharsMax: number
  subworkflowDepthMax: number
  runBytesMax: number
  runsBytesMax: number
  blockBytesMax: number
  /** Bytes of the files that one data block writes. */
  dataFileBytes: number
  /** Units of about 20 ns. An expression that needs more is evaluated in the sandbox. */
  expressionWorkMax: number
}

export const defaultLimits: Limits = {
  runTimeoutMs: 300_000,
  pauseInMemoryMs: 30_000,
  runsMax: 500,
  shareFactor: 4,
  blocksMax: 10_000,
  loopIterationsMax: 1_000,
  parallelBranchesMax: 100,
  parallelConcurrencyMax: 20,
  nestingMax: 10,
  documentReferencesMax: 50_000,
  codeCharsMax: 100_000,
  expressionCharsMax: 20_000,
  subworkflowDepthMax: 10,
  runBytesMax: 268_435_456,
  runsBytesMax: 268_435_456,
  blockBytesMax: 33_554_432,
  dataFileBytes: 268_435_456,
  expressionWorkMax: 1_000_000,
}

/** The setting that raises each limit. */
export const limitSettings = {
  runTimeoutMs: 'MILLRACE_RUN_TIMEOUT_MS',
  pauseInMemoryMs: 'MILLRACE_PAUSE_IN_MEMORY_MS',
  runsMax: 'MILLRACE_RUNS_MAX',
  shareFactor: 'MILLRACE_SHARE_FACTOR',
  blocksMax: 'MILLRACE_BLOCKS_MAX',
  loopIterationsMax: 'MILLRACE_LOOP_ITERATIONS_MAX',
  parallelBranchesMax: 'MILLRACE_PARALLEL_BRANCHES_MAX',
  parallelConcurrencyMax: 'MILLRACE_PARALLEL_CONCURRENCY_MAX',
  nestingMax: 'MILLRACE_NESTING_MAX',
  documentReferencesMax: 'MILLRACE_DOCUMENT_REFERENCES_MAX',
  codeCharsMax: 'MILLRACE_CODE_CHARS_MAX',
  expressionCharsMax: 'MILLRACE_EXPRESSION_CHARS_MAX',
  subworkflowDepthMax: 'MILLRACE_SUBWORKFLOW_DEPTH_MAX',
  runBytesMax: 'MILLRACE_RUN_BYTES_MAX',
  runsBytesMax: 'MILLRACE_RUNS_BYTES_MAX',
  blockBytesMax: 'MILLRACE_BLOCK_BYTES_MAX',
  dataFileBytes: 'MILLRACE_DATA_FILE_BYTES',
  expressionWorkMax: 'MILLRACE_EXPRESSION_WORK_MAX',
} satisfies Record<keyof Limits, string>

/** A limit, and the setting that raises it. */
export type Limit = Readonly<{ max: number; setting: string }>

/** The maximum nesting of JSON from outside. The outermost value is level 1. */
export const jsonDepthMax = 200
/**
 * The maximum number of values in a JSON text that a run reads: a response to a request, a result of user code, a
 * model's arguments, a text that a block parses. It is the default for request bodies, too. Ten megabytes can hold five
 * million values, which take seconds and gigabytes to process; parsing 200,000 takes up to 70 ms.
 */
export const jsonValuesMax = 200_000
/** A larger value in a span is stored as a preview. Bytes of JSON text. */
export const spanValueBytesMax = 262_144
/** A larger final output is stored as a preview in the log. Bytes of JSON text. */
export const finalOutputBytesMax = 10_485_760
/**
 * The most bytes in a response to an API block or of a model, and in a result of user code. Also the most characters in
 * a text that an expression creates.
 */
export const responseBytesMax = 10_485_760
