import { messageOf } from '../domain/errors.ts'
import { limitSettings } from '../domain/limits.ts'
import type { Span, SpanStatus } from '../domain/log.ts'
import { BlockError, type BlockErrorData, type BlockResult, type Outputs } from './block.ts'
import { BlockAttempt, blockPlaceOf, placeOf } from './block-attempt.ts'
import type { Frame } from './frame.ts'
import type { Halt } from './halt.ts'
import { beginningOf, type Journal, type KeptBlock, outputsOf } from './journal.ts'
import { openSpan } from './open-span.ts'
import type { PlanNode } from './plan.ts'
import { restoreVariables, reusedSpan } from './reuse.ts'
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
  const kept = run.journal?.block(placeOf(start))
  if (kept) return restore(start, kept)
  const settling = run.journal && !actsOnNothing(node) ? run.journal.settle() : undefined
  if (settling)
    return settling.then(() => (start.halt.stopped ? { kind: 'cancelled' } : attempt(start)), stopBefore(run))
  const reused = run.partial?.reused(node, blockPlaceOf(start).iterations)
  if (reused) return reuse(start, reused)
  const span = openSpan(run, node.name, node.type, node.id)
  spans.push(span)
  run.observer?.started?.(span, blockPlaceOf(start))
  if (!node.enabled) return close(start, span, passThrough(node))
  const broken = countBlock(run)
  if (broken) return close(start, span, breaking(start, broken))
  try {
    const params = node.parameters(frame)
    span.input = inputOfSpan(node, params)
    const result = node.definition.run(params, new BlockAttempt(start, span))
    if (!(result instanceof Promise)) return close(start, span, endOf(start, result))
    return result.then(
      (value) => close(start, span, endOf(start, value), false),
      (error: unknown) => close(start, span, endOfThrow(start, error), false),
    )
  } catch (error) {
    return close(start, span, endOfThrow(start, error))
  }
}

type Closing = { end: BlockEnd; outputs: Outputs; error: BlockErrorData | null; status: SpanStatus }

/** `wasAtOnce`: it has not waited for anything. */
function close(start: Attempt, span: Span, closing: Closing, wasAtOnce = true): BlockEnd | Promise<BlockEnd> {
  const { end, outputs, error, status } = closing
  const { run } = start
  if (run.journal) span.startTime = beginningOf(span)
  span.endTime = Math.max(span.startTime, run.powers.clock.now())
  span.durationMs = span.endTime - span.startTime
  span.status = status
  span.output = outputs
  if (error) span.error = { code: error.code, message: error.message }
  run.observer?.ended?.(span, blockPlaceOf(start))
  if (run.partial?.until === start.node.id && end.kind === 'ended') run.reach(outputs)
  return run.journal ? keep(start, run.journal, { span, end, wasAtOnce }) : end
}

type Keeping = { span: Span; end: BlockEnd; wasAtOnce: boolean }

/** Writes down how a block ended before anything follows from it. */
function keep(start: Attempt, journal: Journal, { span, end, wasAtOnce }: Keeping): BlockEnd | Promise<BlockEnd> {
  const { run, node } = start
  if (end.kind === 'cancelled' || node.definition.isRepeatable || !node.enabled) return end
  const kept: KeptBlock =
    end.kind === 'failed' ? { span, port: null, error: end.error } : { span, port: end.port ?? null, error: null }
  if (node.definition.isPure && wasAtOnce) {
    const settling = journal.keepLater(placeOf(start), kept)
    return settling ? settling.then(() => end, stopBefore(run)) : end
  }
  return journal.keepBlock(placeOf(start), kept).then(() => end, stopBefore(run))
}

/** A run cannot go on before what is kept is on disk: it stops, and starts again behind that. */
function stopBefore(run: Run): (cause: unknown) => BlockEnd {
  return (cause) => {
    run.budget.suspend(cause)
    return { kind: 'cancelled' }
  }
}

/** Containers act through their inner blocks, which are asked one by one. */
function actsOnNothing({ definition, enabled }: PlanNode): boolean {
  return !enabled || definition.isPure === true || definition.isRepeatable === true
}

/** A block that ended before its run was cut. */
function restore(start: Attempt, kept: KeptBlock): BlockEnd {
  const { run, node, spans } = start
  const span = renumbered(run, kept.span)
  spans.push(span)
  const outputs = outputsOf(kept)
  const broken = countBlock(run) ?? countBytes(run, outputs)
  if (broken) return breaking(start, broken).end
  node.definition.restore?.(outputs, new BlockAttempt(start, span))
  run.observer?.ended?.(span, blockPlaceOf(start))
  if (kept.error) return { kind: 'failed', error: kept.error }
  return { kind: 'ended', outputs, port: kept.port ?? undefined }
}

/** A block that takes over what it gave in an earlier run. */
function reuse(start: Attempt, { span: past, port, error }: KeptBlock): BlockEnd {
  const { run, node, spans } = start
  const span = reusedSpan(run, past)
  spans.push(span)
  const outputs = (span.output ?? {}) as Outputs
  const broken = countBlock(run) ?? countBytes(run, outputs)
  if (broken) return breaking(start, broken).end
  restoreVariables(start, span)
  run.observer?.ended?.(span, blockPlaceOf(start))
  if (run.partial?.until === node.id) run.reach(outputs)
  return error ? { kind: 'failed', error } : { kind: 'ended', outputs, port: port ?? undefined }
}

/** Ids are given in the order in which spans are made, and those before the crash are made again. */
function renumbered(run: Run, span: Span): Span {
  return { ...span, id: run.nextSpanId(), children: span.children.map((child) => renumbered(run, child)) }
}

/** A disabled block is passed through; one that chooses among handles ends its path. */
function passThrough(node: PlanNode): Closing {
  const port = node.definition.kind === 'trigger' || node.definition.branches ? undefined : 'source'
  return {
    end: { kind: 'ended', outputs: node.noOutputs, port },
    outputs: node.noOutputs,
    error: null,
    status: 'skipped',
  }
}

function endOf(start: Attempt, result: BlockResult): Closing {
  const { run, node, halt } = start
  const { outputs } = result
  const broken = countBytes(run, outputs)
  if (broken) return breaking(start, broken)
  if (result.error) return failing(start, result.error, outputs)
  if (result.respond) run.respond(result.respond)
  else if (halt.stopped) return { end: { kind: 'cancelled' }, outputs, error: null, status: 'cancelled' }
  const port = result.port ?? (node.definition.branches ? undefined : 'source')
  return { end: { kind: 'ended', outputs, port }, outputs, error: null, status: 'success' }
}

function endOfThrow(start: Attempt, thrown: unknown): Closing {
  const code = thrown instanceof BlockError ? thrown.code : 'BLOCK_FAILED'
  return failing(start, { code, message: messageOf(thrown) }, { ...start.node.noOutputs })
}

function failing({ node, halt }: Attempt, error: BlockErrorData, given: Outputs): Closing {
  // Also of a block that has no such output when all goes well: its error edge leads to blocks that want to know.
  const outputs = { ...given, error }
  // What an aborted block has to say is the consequence of the abort, not a failure of its own.
  if (halt.stopped) return { end: { kind: 'cancelled' }, outputs, error: null, status: 'cancelled' }
  const port = node.hasErrorEdge ? 'error' : node.goesOnAfterError ? 'source' : undefined
  const end: BlockEnd = port === undefined ? { kind: 'failed', error } : { kind: 'ended', outputs, port }
  return { end, outputs, error, status: 'error' }
}

/** A bound of the whole run is broken: no edge and no `onError`, of this block or of one around it, goes on from there. */
function breaking({ run, node }: Attempt, message: string): Closing {
  run.budget.stop({ code: 'EXECUTION_FAILED', message, blockId: node.id, blockName: node.name })
  const error = { code: 'EXECUTION_FAILED', message }
  return { end: { kind: 'cancelled' }, outputs: node.noOutputs, error, status: 'error' }
}

function countBlock({ budget, powers: { limits } }: Run): string | undefined {
  budget.blocks += 1
  if (budget.blocks <= limits.blocksMax) return undefined
  return `The run has executed ${limits.blocksMax} blocks, the most that ${limitSettings.blocksMax} allows.`
}

function countBytes({ budget, powers: { limits } }: Run, outputs: Outputs): string | undefined {
  budget.bytes += roughBytes(outputs)
  if (budget.bytes <= limits.runBytesMax) return undefined
  return `The outputs of the run's blocks hold more than ${limits.runBytesMax} bytes, the most that ${limitSettings.runBytesMax} allows.`
}

/** Code and expressions are shown with the values they read, not with the machinery they were compiled to. */
function inputOfSpan(node: PlanNode, params: Record<string, unknown>): unknown {
  return node.definition.showInput ? node.definition.showInput(params) : params
}
