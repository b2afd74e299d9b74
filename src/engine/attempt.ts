import { messageOf } from '../domain/errors.ts'
import { limitSettings } from '../domain/limits.ts'
import type { Span, SpanStatus } from '../domain/log.ts'
import { BlockError, type BlockErrorData, type BlockResult, type Outputs } from './block.ts'
import { BlockAttempt } from './block-attempt.ts'
import type { Frame } from './frame.ts'
import type { Halt } from './halt.ts'
import type { PlanNode } from './plan.ts'
import { roughBytes } from './rough-bytes.ts'
import type { Run } from './run.ts'
import type { WalkScope } from './walk.ts'

/** How one block ended: with outputs and the handle it left by (undefined: by none), for good, or aborted from outside. */
export type BlockEnd =
  | { kind: 'ended'; outputs: Outputs; port: string | undefined }
  | { kind: 'failed'; error: BlockErrorData }
  | { kind: 'cancelled' }

export type Attempt = {
  run: Run
  frame: Frame
  halt: Halt
  spans: Span[]
  node: PlanNode
  /** Walks a scope below this block: what a container runs its iterations with. */
  walk: WalkScope
}

/** Runs one block once and writes its span. Never throws: what goes wrong is how the block ended. */
export function attempt(start: Attempt): BlockEnd | Promise<BlockEnd> {
  const { run, frame, node, spans } = start
  const span = openSpan(run, node)
  spans.push(span)
  run.observer?.started?.(span)
  if (!node.enabled) return close(start, span, passThrough(node))
  let params: Record<string, unknown> = noParams
  try {
    countBlock(run)
    params = node.parameters(frame)
    span.input = inputOfSpan(node, params)
    const result = node.definition.run(params, new BlockAttempt(start, span))
    if (!(result instanceof Promise)) return close(start, span, endOf(start, params, result))
    return result.then(
      (value) => close(start, span, endOf(start, params, counted(run, value))),
      (error: unknown) => close(start, span, endOfThrow(start, params, error)),
    )
  } catch (error) {
    return close(start, span, endOfThrow(start, params, error))
  }
}

const noParams = Object.freeze({})

type Closing = { end: BlockEnd; outputs: Outputs; error: BlockErrorData | null; status: SpanStatus }

function openSpan(run: Run, node: PlanNode): Span {
  const startTime = run.powers.clock.now()
  return {
    id: run.nextSpanId(),
    name: node.name,
    type: node.type,
    blockId: node.id,
    status: 'success',
    startTime,
    endTime: startTime,
    durationMs: 0,
    input: null,
    output: null,
    error: null,
    attempts: null,
    children: [],
  }
}

function close({ run }: Attempt, span: Span, { end, outputs, error, status }: Closing): BlockEnd {
  span.endTime = Math.max(span.startTime, run.powers.clock.now())
  span.durationMs = span.endTime - span.startTime
  span.status = status
  span.output = outputs
  if (error) span.error = { code: error.code, message: error.message }
  run.observer?.ended?.(span)
  return end
}

/** A disabled block is passed through; one that chooses among handles ends its path. */
function passThrough(node: PlanNode): Closing {
  const port = node.definition.kind === 'trigger' || node.definition.ports ? undefined : 'source'
  return {
    end: { kind: 'ended', outputs: node.noOutputs, port },
    outputs: node.noOutputs,
    error: null,
    status: 'skipped',
  }
}

function endOf(start: Attempt, params: Record<string, unknown>, result: BlockResult): Closing {
  const { run, node, halt } = start
  const { outputs } = result
  if (result.error) return failing(start, params, result.error, outputs)
  if (result.respond) run.respond(result.respond)
  else if (halt.stopped) return { end: { kind: 'cancelled' }, outputs, error: null, status: 'cancelled' }
  const port = result.port ?? (node.definition.ports ? undefined : 'source')
  return { end: { kind: 'ended', outputs, port }, outputs, error: null, status: 'success' }
}

function endOfThrow(start: Attempt, params: Record<string, unknown>, thrown: unknown): Closing {
  const code = thrown instanceof BlockError ? thrown.code : 'BLOCK_FAILED'
  const error = { code, message: messageOf(thrown) }
  return failing(start, params, error, { ...start.node.noOutputs })
}

function failing(start: Attempt, params: Record<string, unknown>, error: BlockErrorData, given: Outputs): Closing {
  const { node, halt } = start
  const outputs = 'error' in node.noOutputs ? { ...given, error } : given
  // What an aborted block has to say is the consequence of the abort, not a failure of its own.
  if (halt.stopped) return { end: { kind: 'cancelled' }, outputs, error: null, status: 'cancelled' }
  if (error.code === boundBroken) {
    return { end: { kind: 'failed', error: { ...error, code: 'EXECUTION_FAILED' } }, outputs, error, status: 'error' }
  }
  const port = node.hasErrorEdge ? 'error' : onErrorOf(node, params) === 'continue' ? 'source' : undefined
  const end: BlockEnd = port === undefined ? { kind: 'failed', error } : { kind: 'ended', outputs, port }
  return { end, outputs, error, status: 'error' }
}

/** A container's `onError` decides about its iterations; its own failure is decided like any block's, by its edges. */
function onErrorOf(node: PlanNode, params: Record<string, unknown>): unknown {
  return node.body ? 'stop' : params['onError']
}

/** A bound of the whole run: no edge and no `onError` goes on from there. */
const boundBroken = 'BOUND_BROKEN'

function countBlock(run: Run): void {
  run.budget.blocks += 1
  if (run.budget.blocks <= run.powers.limits.blocksMax) return
  throw new BlockError(
    boundBroken,
    `The run has executed ${run.powers.limits.blocksMax} blocks, the most that ${limitSettings.blocksMax} allows.`,
  )
}

function counted(run: Run, result: BlockResult): BlockResult {
  run.budget.bytes += roughBytes(result.outputs)
  if (run.budget.bytes <= run.powers.limits.runBytesMax) return result
  throw new BlockError(
    boundBroken,
    `The outputs of the run's blocks hold more than ${run.powers.limits.runBytesMax} bytes, the most that ${limitSettings.runBytesMax} allows.`,
  )
}

/** Code and expressions are shown with the values they read, not with the machinery they were compiled to. */
function inputOfSpan(node: PlanNode, params: Record<string, unknown>): unknown {
  return node.definition.showInput ? node.definition.showInput(params) : params
}
