import type { TriggerInput } from '../../domain/run/input.ts'
import { readTraceParent } from '../../domain/trace-context.ts'

/** `readsTraces`: whether runs are exported as traces. Otherwise, nobody needs the place of the caller. */
export type TraceReading = { readsTraces: boolean }

/** The input with the place of its caller in a distributed trace, if the request says it. */
export function withTraceParent(
  input: TriggerInput,
  { headers }: Request,
  { readsTraces }: TraceReading,
): TriggerInput {
  const traceParent = readsTraces ? readTraceParent(headers.get('traceparent')) : undefined
  return traceParent ? { ...input, traceParent } : input
}
