import { afterExecution, type BlockRun, iterationText, outweighs } from '../../../editor/run/block-run.ts'
import { glimpseOf } from '../../../editor/run/glimpse.ts'
import type { LogDetail } from '../log-queries.ts'

export type Span = Omit<LogDetail['executionData']['traceSpans'][number], 'children'> & { children: readonly Span[] }

/** A line of the waterfall: a span, its depth, and whether its children are shown. */
export type TraceLine = { span: Span; depth: number; isOpen: boolean; parent: string | undefined }

/** The spans of an entry. The response type ends at the first level, because the schema is not recursive. */
export function spansOf({ executionData }: Pick<LogDetail, 'executionData'>): readonly Span[] {
  return executionData.traceSpans as unknown as readonly Span[]
}

/** The label of a span. Iteration names end with an index from 0; people count from 1. */
export function spanLabel({ type, name }: Pick<Span, 'type' | 'name'>): string {
  const at = name.lastIndexOf(' ')
  return type === 'iteration' ? `${name.slice(0, at)} ${iterationText([Number(name.slice(at))])}` : name
}

/** How a pause ended. */
export function pauseEndText({ kind, outcome, by }: NonNullable<Span['pauses']>[number]): string {
  if (outcome === 'cancelled') return 'End of the run'
  if (outcome === 'expired') return kind === 'wait' ? 'End of the wait' : 'Expiry'
  return by === null ? 'Answer' : `Answer from ${by}`
}

/** All visible lines from top to bottom. */
export function linesOf(spans: readonly Span[], isOpen: (span: Span, depth: number) => boolean): TraceLine[] {
  const lines: TraceLine[] = []
  const add = (all: readonly Span[], depth: number, parent: string | undefined) => {
    for (const span of all) {
      const open = span.children.length > 0 && isOpen(span, depth)
      lines.push({ span, depth, isOpen: open, parent })
      if (open) add(span.children, depth + 1, span.id)
    }
  }
  add(spans, 0, undefined)
  return lines
}

/** All spans, parents before children. */
export function allSpans(spans: readonly Span[]): Span[] {
  return spans.flatMap((span) => [span, ...allSpans(span.children)])
}

/** The path from the root to the span with this id. */
export function pathTo(spans: readonly Span[], id: string): Span[] {
  for (const span of spans) {
    if (span.id === id) return [span]
    const below = pathTo(span.children, id)
    if (below.length > 0) return [span, ...below]
  }
  return []
}

/** The innermost span that failed. */
export function failedSpan(spans: readonly Span[]): Span | undefined {
  for (const span of spans) {
    if (span.status !== 'error') continue
    return failedSpan(span.children) ?? span
  }
  return undefined
}

/** The position of a span's bar, in percent of the run. */
export function barOf(span: Span, root: Span): { left: number; width: number } {
  const start = Date.parse(root.startTime)
  const all = Math.max(root.duration ?? Date.parse(root.endTime) - start, 0.001)
  const own = span.duration ?? Date.parse(span.endTime) - Date.parse(span.startTime)
  const left = Math.min(100, Math.max(0, ((Date.parse(span.startTime) - start) / all) * 100))
  return { left, width: Math.max(0, Math.min(100 - left, (own / all) * 100)) }
}

/** The final state of each block of the workflow itself. */
export function blockRuns(spans: readonly Span[]): ReadonlyMap<string, BlockRun> {
  const runs = new Map<string, BlockRun>()
  for (const { blockId, status, duration, reused = false, pinned = false, output } of ownSpans(spans)) {
    const glimpse = status === 'success' ? glimpseOf(output) : undefined
    const pass = { status, duration: duration ?? undefined, reused, pinned, glimpse }
    runs.set(blockId, afterExecution(runs.get(blockId), pass, { wasCounted: false, othersRun: false }))
  }
  return runs
}

/** The block of the workflow itself in which the run failed: the innermost one. */
export function failedBlockOf(spans: readonly Span[]): string | undefined {
  const failed = failedSpan(spans)
  const path = failed ? pathTo(spans, failed.id) : []
  const own = new Set(ownSpans(spans).map(({ id }) => id))
  return path.findLast(({ id }) => own.has(id))?.blockId ?? undefined
}

/** The execution that a block's card represents: the failed one, if any, otherwise the last. */
export function shownSpanOf(spans: readonly Span[], blockId: string): Span | undefined {
  let shown: Span | undefined
  for (const span of ownSpans(spans)) {
    if (span.blockId === blockId && outweighs(span.status, shown?.status)) shown = span
  }
  return shown
}

/** Spans of the workflow's own blocks, without called workflows and tools. */
function ownSpans(spans: readonly Span[]): (Span & { blockId: string })[] {
  return spans.flatMap((span) => {
    const { type, blockId } = span
    const isCaller = blockId !== null && (type === 'workflow' || type === 'agent' || type === 'router')
    const inner = isCaller ? [] : ownSpans(span.children)
    return blockId === null || type === 'iteration' ? inner : [{ ...span, blockId }, ...inner]
  })
}
