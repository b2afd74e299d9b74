import type { ModelUsage } from './cost.ts'
import type { Span, SpanAttempt, SpanPause } from './log.ts'
import type { BlockPlace } from './run-observer.ts'

/** Block types whose spans contain the spans of their inner blocks. */
export const bodyTypes: ReadonlySet<string> = new Set(['loop', 'parallel', 'workflow'])

/** The spans of the blocks below a root, with their positions, in the order in which each scope opened them. */
export function blockSpans(root: Span): { span: Span; place: BlockPlace }[] {
  const found: { span: Span; place: BlockPlace }[] = []
  const visit = ({ children }: Span, place: BlockPlace) => {
    for (const span of children) {
      if (span.type === 'iteration') {
        const { index } = span.input as { index: number }
        visit(span, { ...place, iterations: [...place.iterations, index] })
      } else if (span.blockId === null) {
        // The root of a sub-workflow.
        visit(span, { ...place, depth: place.depth + 1, iterations: [] })
      } else {
        found.push({ span, place })
        if (bodyTypes.has(span.type)) visit(span, { ...place, parentId: span.id })
      }
    }
  }
  visit(root, { depth: 0, iterations: [], parentId: null })
  return found
}

/** The root span of a trace in a log entry: JSON text of a list. Truncated values stay truncated. */
export function readTrace(text: string): Span {
  const [root] = JSON.parse(text) as WrittenSpan[]
  if (!root) throw new Error('A trace has no spans')
  return spanOf(root)
}

/** The form that `events/batch.ts` writes. */
type WrittenSpan = Omit<
  Span,
  'startTime' | 'endTime' | 'durationMs' | 'attempts' | 'pauses' | 'error' | 'usage' | 'children'
> & {
  startTime: string
  endTime: string
  duration: number
  error?: Span['error']
  attempts?: (Omit<SpanAttempt, 'startTime' | 'durationMs'> & { startTime: string; duration: number })[]
  pauses?: (Omit<SpanPause, 'since' | 'endedAt'> & { since: string; endedAt: string })[]
  children: WrittenSpan[]
} & Partial<ModelUsage>

function spanOf(written: WrittenSpan): Span {
  const { id, name, type, blockId, status, input, output, pauses, reused, pinned } = written
  return {
    ...{ id, name, type, blockId, status, input, output },
    startTime: Date.parse(written.startTime),
    endTime: Date.parse(written.endTime),
    durationMs: written.duration,
    error: written.error ?? null,
    attempts:
      written.attempts?.map(({ startTime, duration, ...rest }) => {
        return { ...rest, startTime: Date.parse(startTime), durationMs: duration }
      }) ?? null,
    ...(pauses ? { pauses: pauses.map(pauseOf) } : {}),
    ...(reused ? { reused } : {}),
    ...(pinned ? { pinned } : {}),
    ...usageOf(written),
    children: written.children.map(spanOf),
  }
}

const pauseOf = ({ since, endedAt, ...rest }: NonNullable<WrittenSpan['pauses']>[number]): SpanPause => {
  return { ...rest, since: Date.parse(since), endedAt: Date.parse(endedAt) }
}

function usageOf({
  model,
  tokens,
  cost,
  timeToFirstTokenMs,
  costUnknown,
  tokensUnknown,
}: WrittenSpan): Pick<Span, 'usage'> {
  if (model === undefined || tokens === undefined || cost === undefined) return {}
  const unknown = { ...(costUnknown && { costUnknown }), ...(tokensUnknown && { tokensUnknown }) }
  return { usage: { model, tokens, cost, timeToFirstTokenMs: timeToFirstTokenMs ?? null, ...unknown } }
}
