import type { Span } from '../domain/log.ts'
import type { Run } from './run.ts'

/** A span that begins now, or at `startTime`, and has nothing in it yet. Whoever opens it says how it ended. */
export function openSpan(
  run: Run,
  name: string,
  type: string,
  blockId: string | null,
  startTime = run.powers.clock.now(),
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
