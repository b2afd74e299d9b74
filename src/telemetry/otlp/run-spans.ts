import { redactText } from '../../domain/redaction/redactor.ts'
import type { RunRecord, Span, SpanAttempt, SpanPause } from '../../domain/run/log.ts'
import type { Slices } from '../../domain/slices.ts'
import { type TraceIds, traceIdsOf } from '../../domain/trace-context.ts'
import { blockFacts, runFacts, type SpanFacts } from './span-attributes.ts'
import { attributesOf, nanosOf, type OtlpEvent, type OtlpSpan, statusError } from './wire.ts'

/**
 * The JSON texts of a run's spans, at most `max` of them: a run is a trace, and each block is a span. `left`: spans
 * beyond the maximum.
 */
export function* spanTexts(record: RunRecord, max: number): Slices<{ texts: string[]; left: number }> {
  const ids = traceIdsOf(record.executionId, record.traceParent)
  const { root, secrets, traceParent } = record
  const hide = (text: string) => redactText(text, secrets)
  const place = { ids, state: traceParent?.state }
  const texts = [JSON.stringify(otlpSpan(root, place, runFacts(record, hide), traceParent?.parentId, true))]
  let left = 0
  const waiting: { span: Span; parent: Span }[] = []
  const add = (parent: Span) => {
    // A disabled block did nothing.
    for (const span of parent.children) if (span.status !== 'skipped') waiting.push({ span, parent })
  }
  add(root)
  for (let at = 0; at < waiting.length; at += 1) {
    const { span, parent } = waiting[at]!
    if (texts.length >= max) left += 1
    else texts.push(JSON.stringify(otlpSpan(span, place, blockFacts(span, parent, hide), ids.spanId(parent), false)))
    add(span)
    if (at % spansPerSlice === spansPerSlice - 1) yield
  }
  return { texts, left }
}

const spansPerSlice = 50

/** The number of spans that a run would export. */
export function spanCount(root: Span): number {
  let count = 0
  const waiting = [root]
  for (let span = waiting.pop(); span; span = waiting.pop()) {
    if (span.status !== 'skipped') count += 1
    for (const child of span.children) waiting.push(child)
  }
  return count
}

function otlpSpan(
  span: Span,
  { ids, state }: { ids: TraceIds; state: string | undefined },
  { kind, name, attributes }: SpanFacts,
  parentSpanId: string | undefined,
  isRoot: boolean,
): OtlpSpan {
  const events = [...(span.attempts ?? []).flatMap(attemptEvent), ...(span.pauses ?? []).map(pauseEvent)]
  return {
    traceId: ids.traceId,
    spanId: ids.spanId(span),
    ...(state === undefined ? {} : { traceState: state }),
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    flags: sampled | (isRoot && parentSpanId !== undefined ? knowsRemote | isRemote : knowsRemote),
    name,
    kind,
    startTimeUnixNano: nanosOf(span.startTime),
    endTimeUnixNano: nanosOf(span.endTime),
    attributes,
    ...(events.length > 0 ? { events: events.slice(0, eventsMax) } : {}),
    status: span.status === 'error' ? { code: statusError } : {},
  }
}

/** Only repeated attempts: a single one is the span itself. */
function attemptEvent(attempt: SpanAttempt, _index: number, all: readonly SpanAttempt[]): OtlpEvent[] {
  if (all.length < 2) return []
  const attributes = attributesOf({
    'http.request.resend_count': attempt.number - 1,
    'http.response.status_code': attempt.status,
    'millrace.duration_ms': attempt.durationMs,
  })
  return [{ timeUnixNano: nanosOf(attempt.startTime), name: 'attempt', attributes }]
}

function pauseEvent({ kind, since, endedAt, outcome }: SpanPause): OtlpEvent {
  const attributes = attributesOf({
    'millrace.pause.kind': kind,
    'millrace.pause.outcome': outcome,
    'millrace.pause.duration_ms': endedAt - since,
  })
  return { timeUnixNano: nanosOf(since), name: 'pause', attributes }
}

const sampled = 1
const knowsRemote = 0x100
const isRemote = 0x200
const eventsMax = 100
