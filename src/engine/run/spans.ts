import type { Span } from '../../domain/run/log.ts'
import type { Run } from './run.ts'

/** A span that starts now, or at `startTime`, with nothing in it yet. The caller sets its result and closes it. */
export function openSpan(
  run: Run,
  name: string,
  type: string,
  blockId: string | null,
  startTime = run.capabilities.clock.now(),
): Span {
  return {
    id: run.nextSpanId(),
    name,
    type,
    blockId,
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

/**
 * Sets the end of a span to now. In a resumed run, a span that was opened again starts no later than those of its
 * children that ended before the interruption.
 */
export function closeSpan(run: Run, span: Span): void {
  if (run.history) for (const child of span.children) span.startTime = Math.min(span.startTime, child.startTime)
  span.endTime = Math.max(span.startTime, run.capabilities.clock.now())
  span.durationMs = span.endTime - span.startTime
}

/** Span ids follow the order in which spans are created, and a resumed run creates all of them again. */
export function renumbered(run: Run, span: Span): Span {
  return { ...span, id: run.nextSpanId(), children: span.children.map((child) => renumbered(run, child)) }
}

/** The position of a span in the order in which the spans of its run were opened: 12 for `s12`. */
export function spanNumber({ id }: Span): number {
  return Number(id.slice(1))
}
