import { messageOf } from '../../domain/errors.ts'
import { estimateSize } from '../../domain/estimate-size.ts'
import { limitSettings } from '../../domain/limits.ts'
import type { Span, SpanStatus } from '../../domain/run/log.ts'
import { BlockError, type BlockErrorData, type BlockResult, type Outputs } from '../block.ts'
import { blockSizeError } from '../block-size.ts'
import type { PlanNode } from '../compile/plan.ts'
import { BlockContextImpl, type BlockExecution, blockPlaceOf, placeOf } from './block-context.ts'
import { cachedSpan, restoreVariables } from './cached-outputs.ts'
import type { BlockEnd, RecordedBlock } from './contracts.ts'
import type { Run } from './run.ts'
import { uncountedBytes } from './run-memory.ts'
import { closeSpan, openSpan, renumbered } from './spans.ts'
import { outputsOf, type StepHistory } from './step-history.ts'

/** Executes one block and writes its span. Never throws: whatever goes wrong becomes the end of the block. */
export function executeBlock(execution: BlockExecution): BlockEnd | Promise<BlockEnd> {
  const { run, frame, node, spans } = execution
  const recorded = run.history?.block(placeOf(execution))
  if (recorded) return restore(execution, recorded)
  const flushing = run.history && !hasNoEffects(node) ? run.history.flush() : undefined
  if (flushing) {
    const next = () => (execution.cancellation.isCancelled ? cancelledEnd : executeBlock(execution))
    return flushing.then(next, suspendRun(run))
  }
  const crowdedOut = run.budget.bytes > uncountedBytes ? waitForMemory(execution) : undefined
  if (crowdedOut) return crowdedOut
  const cached = run.partial?.cached(node, blockPlaceOf(execution).iterations)
  if (cached) return takeCached(execution, cached)
  const span = openSpan(run, node.name, node.type, node.id)
  spans.push(span)
  run.observer?.started?.(span, blockPlaceOf(execution))
  if (!node.enabled) return close(execution, span, passThrough(node))
  const exceeded = countBlock(run)
  if (exceeded) return close(execution, span, overLimit(execution, exceeded))
  run.capabilities.note?.(`workflow ${run.facts.workflowId} run ${run.facts.executionId} block ${node.id}`)
  try {
    const params = node.parameters(frame)
    span.input = inputOfSpan(node, params)
    execution.body?.open(span)
    const result = node.definition.run(params, new BlockContextImpl(execution, span))
    if (!(result instanceof Promise)) return close(execution, span, endOf(execution, result))
    const ending = result.then(
      (value) => close(execution, span, endOf(execution, value), false),
      (error: unknown) => close(execution, span, endOfThrow(execution, error), false),
    )
    return run.history && !hasNoEffects(node) ? run.budget.uninterrupted(ending) : ending
  } catch (error) {
    return close(execution, span, endOfThrow(execution, error))
  }
}

type Closing = { end: BlockEnd; outputs: Outputs; error: BlockErrorData | null; status: SpanStatus }

/** `wasSynchronous`: the block did not wait for anything. */
function close(
  execution: BlockExecution,
  span: Span,
  closing: Closing,
  wasSynchronous = true,
): BlockEnd | Promise<BlockEnd> {
  const { end, outputs, error, status } = closing
  const { run } = execution
  closeSpan(run, span)
  span.status = status
  span.output = outputs
  if (error) span.error = { code: error.code, message: error.message }
  run.observer?.ended?.(span, blockPlaceOf(execution))
  if (run.partial?.until === execution.node.id && end.kind === 'ended') run.reach(outputs)
  return run.history ? record(execution, run.history, { span, end, wasSynchronous }) : end
}

type Recording = { span: Span; end: BlockEnd; wasSynchronous: boolean }

/** Records how a block ended before any other block can act on it. */
function record(
  execution: BlockExecution,
  history: StepHistory,
  { span, end, wasSynchronous }: Recording,
): BlockEnd | Promise<BlockEnd> {
  const { run, node } = execution
  if (end.kind === 'cancelled' || node.definition.isRepeatable || !node.enabled) return end
  const recorded: RecordedBlock =
    end.kind === 'failed' ? { span, port: null, error: end.error } : { span, port: end.port ?? null, error: null }
  // A run with a caller writes its steps only when it pauses.
  if (history.isHeld || (node.definition.isPure && wasSynchronous)) {
    const flushing = history.recordLater(placeOf(execution), recorded)
    return flushing ? flushing.then(() => end, suspendRun(run)) : end
  }
  return history.recordBlock(placeOf(execution), recorded).then(() => end, suspendRun(run))
}

/**
 * When a step cannot be written, the run must not go past it: it is suspended, and resumes from the last written step.
 */
function suspendRun(run: Run): (cause: unknown) => BlockEnd {
  return (cause) => {
    run.budget.suspend(cause)
    return cancelledEnd
  }
}

/**
 * Stops a run before a block when the runs in progress hold too much; otherwise undefined. A synchronous run waits. An
 * asynchronous run is suspended, and resumes later. This happens only when no other block of it is in progress, because
 * that block would run twice. For the same reason, a workflow that a block calls as a tool goes on: it is a part of
 * that block.
 */
function waitForMemory(execution: BlockExecution): BlockEnd | Promise<BlockEnd> | undefined {
  const { run, cancellation } = execution
  const { budget, facts, isDurable, capabilities } = run
  if (capabilities.memory.mayGrow(facts)) return undefined
  if (!isDurable && budget.outermost?.isDurable) return undefined
  const next = () => (cancellation.isCancelled ? cancelledEnd : executeBlock(execution))
  if (isDurable && budget.blockEnd) return budget.blockEnd.then(next)
  if (!isDurable) {
    return new Promise<void>((resolve) => void capabilities.clock.setTimer(memoryCheckMs, resolve)).then(next)
  }
  budget.suspend(capabilities.memory.refusal(facts))
  return cancelledEnd
}

const cancelledEnd: BlockEnd = { kind: 'cancelled' }
const memoryCheckMs = 50

/** True for containers too: their inner blocks are checked one by one. */
function hasNoEffects({ definition, enabled }: PlanNode): boolean {
  return !enabled || definition.isPure === true || definition.isRepeatable === true
}

/** A block that ended before its job was interrupted. */
function restore(execution: BlockExecution, recorded: RecordedBlock): BlockEnd {
  const { run, node, spans } = execution
  const span = renumbered(run, recorded.span)
  spans.push(span)
  const outputs = outputsOf(recorded)
  const exceeded = countBlock(run) ?? countBytes(run, estimateSize(outputs))
  if (exceeded) return overLimit(execution, exceeded).end
  node.definition.restore?.(outputs, new BlockContextImpl(execution, span), span.input)
  run.observer?.ended?.(span, blockPlaceOf(execution))
  if (recorded.error) return { kind: 'failed', error: recorded.error }
  return { kind: 'ended', outputs, port: recorded.port ?? undefined }
}

/** A block of a manual run that takes its outputs from the previous run or from its pin. */
function takeCached(execution: BlockExecution, { span: previous, port, error, isPinned }: RecordedBlock): BlockEnd {
  const { run, node, spans } = execution
  const span = cachedSpan(run, previous, isPinned ? { pinned: true } : { reused: true })
  spans.push(span)
  const outputs = (span.output ?? {}) as Outputs
  const exceeded = countBlock(run) ?? countBytes(run, estimateSize(outputs))
  if (exceeded) return overLimit(execution, exceeded).end
  restoreVariables(execution, span)
  run.observer?.ended?.(span, blockPlaceOf(execution))
  if (run.partial?.until === node.id) run.reach(outputs)
  return error ? { kind: 'failed', error } : { kind: 'ended', outputs, port: port ?? undefined }
}

/** The run passes through a disabled block; one that chooses among handles ends its path. */
function passThrough(node: PlanNode): Closing {
  const port = node.definition.kind === 'trigger' || node.definition.branches ? undefined : 'source'
  return {
    end: { kind: 'ended', outputs: node.noOutputs, port },
    outputs: node.noOutputs,
    error: null,
    status: 'skipped',
  }
}

function endOf(execution: BlockExecution, result: BlockResult): Closing {
  const { run, node, cancellation } = execution
  const { outputs } = result
  const bytes = estimateSize(outputs, run.capabilities.limits.runBytesMax)
  const exceeded = countBytes(run, bytes)
  if (exceeded) return overLimit(execution, exceeded)
  // The results of a loop or parallel are the outputs of its blocks again. They take no further memory.
  const isContainer = node.definition.kind === 'container'
  const tooLarge = isContainer ? undefined : blockSizeError('outputs', bytes, run.capabilities.limits.blockBytesMax)
  if (tooLarge) return endOfThrow(execution, tooLarge)
  if (result.error) return failing(execution, result.error, outputs)
  if (result.respond) run.respond(result.respond)
  else if (cancellation.isCancelled) return { end: cancelledEnd, outputs, error: null, status: 'cancelled' }
  const port = result.port === undefined ? (node.definition.branches ? undefined : 'source') : portOf(node, result.port)
  return { end: { kind: 'ended', outputs, port }, outputs, error: null, status: 'success' }
}

/** A run leaves by `source` in place of a further handle from which no edge leads. */
function portOf({ definition, outgoing }: PlanNode, port: string): string {
  const isFurther = definition.ports?.others.includes(port) === true
  return isFurther && !outgoing.some((edge) => edge.port === port) ? 'source' : port
}

function endOfThrow(execution: BlockExecution, thrown: unknown): Closing {
  return failing(execution, errorOf(execution, thrown), { ...execution.node.noOutputs })
}

function errorOf({ run, cancellation }: BlockExecution, thrown: unknown): BlockErrorData {
  // A block that waits, such as `wait`, rejects with the reason of the cancellation. It need not be an `Error`.
  if (cancellation.isCancelled && thrown === cancellation.reason) {
    const message = run.budget.outermost?.failure?.message ?? 'The run was stopped before the block ended.'
    return { code: 'CANCELLED', message }
  }
  return { code: thrown instanceof BlockError ? thrown.code : 'BLOCK_FAILED', message: messageOf(thrown) }
}

function failing({ node, cancellation }: BlockExecution, error: BlockErrorData, given: Outputs): Closing {
  // Blocks after an error edge can read `error`, even if the block has no such output when it succeeds.
  const outputs = { ...given, error }
  // The error of an aborted block results from the abort; the block itself did not fail.
  if (cancellation.isCancelled) return { end: cancelledEnd, outputs, error: null, status: 'cancelled' }
  const port = node.hasErrorEdge ? 'error' : node.goesOnAfterError ? 'source' : undefined
  const end: BlockEnd = port === undefined ? { kind: 'failed', error } : { kind: 'ended', outputs, port }
  return { end, outputs, error, status: 'error' }
}

/** A limit of the whole run is exceeded: the run fails, and no error edge or `onError` setting can prevent that. */
function overLimit({ run, node }: BlockExecution, message: string): Closing {
  run.budget.stop({ code: 'EXECUTION_FAILED', message, blockId: node.id, blockName: node.name })
  const error = { code: 'EXECUTION_FAILED', message }
  return { end: cancelledEnd, outputs: node.noOutputs, error, status: 'error' }
}

function countBlock({ budget, capabilities: { limits } }: Run): string | undefined {
  budget.blocks += 1
  if (budget.blocks <= limits.blocksMax) return undefined
  return `The run has executed ${limits.blocksMax} blocks, the most that ${limitSettings.blocksMax} allows.`
}

function countBytes({ budget, facts, capabilities: { limits, memory } }: Run, bytes: number): string | undefined {
  budget.bytes += bytes
  if (budget.bytes > uncountedBytes) memory.hold(facts, budget.bytes + budget.otherBytes)
  if (budget.bytes <= limits.runBytesMax) return undefined
  return (
    `The outputs of the run's blocks hold more than ${limits.runBytesMax} bytes, ` +
    `the most that ${limitSettings.runBytesMax} allows.`
  )
}

/** Compiled code and expressions are shown as source text with the values they read. */
function inputOfSpan(node: PlanNode, params: Record<string, unknown>): unknown {
  return node.definition.showInput ? node.definition.showInput(params) : params
}
