import type { RecentSteps, StepLimits } from '../../domain/run/job.ts'
import type { Span, SpanStatus } from '../../domain/run/log.ts'
import { isOpen } from '../../domain/run/log.ts'
import { spanNumber } from '../run/spans.ts'
import { StepHistory } from '../run/step-history.ts'

export type RunProgressOptions = {
  store: { listRecentSteps(executionId: string, limits: StepLimits): Promise<RecentSteps> }
  open(sealed: Uint8Array, executionId: string): string
  /** The trace of a run that this process has in memory. */
  traceOf(executionId: string): Span | undefined
}

/** A block of a run that has not ended, without its values. */
export type RunBlock = Pick<Span, 'name' | 'type' | 'startTime' | 'durationMs'> & {
  blockId: string
  status: SpanStatus | 'running'
}

/** `isComplete`: false when there are more blocks: only the latest ones are read, and no large ones. */
export type RunBlocks = { blocks: RunBlock[]; isComplete: boolean }

/** Few, because the main thread decrypts and parses the steps. */
const limits: StepLimits = { countMax: 200, bytesMax: 1_048_576 }

/** The latest blocks of a run that has not ended, in the order in which they started. */
export async function runBlocks({ store, open, traceOf }: RunProgressOptions, executionId: string): Promise<RunBlocks> {
  const root = traceOf(executionId)
  if (root) {
    const spans = latestBlocks(root, limits.countMax + 1)
    // A resumed run opens its spans again, so their times do not give the original order.
    const inOrder = spans.toSorted((a, b) => spanNumber(a) - spanNumber(b))
    return { blocks: inOrder.slice(-limits.countMax).flatMap(runBlock), isComplete: spans.length <= limits.countMax }
  }
  const { contents, isComplete } = await store.listRecentSteps(executionId, limits)
  const history = new StepHistory(contents.map((sealed) => open(sealed, executionId)))
  const inOrder = Array.from(history.blocks, ({ span }) => span).toSorted((a, b) => a.startTime - b.startTime)
  return { blocks: inOrder.flatMap(runBlock), isComplete }
}

function runBlock(span: Span): RunBlock[] {
  const { name, type, blockId, startTime, durationMs, status } = span
  if (blockId === null) return []
  return [{ name, type, blockId, startTime, durationMs, status: isOpen(span) ? 'running' : status }]
}

/** Walks the trace from its end. */
function latestBlocks(root: Span, max: number): Span[] {
  const found: Span[] = []
  const visit = ({ children }: Span) => {
    for (let at = children.length - 1; at >= 0 && found.length < max; at -= 1) {
      const child = children[at]!
      visit(child)
      if (child.blockId !== null && child.type !== 'iteration') found.push(child)
    }
  }
  visit(root)
  return found
}
