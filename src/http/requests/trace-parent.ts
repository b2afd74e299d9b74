import type { TriggerInput } from '../../domain/run/input.ts'
import { readTraceParent, type TraceParent } from '../../domain/trace-context.ts'

/** `followTrace` learns of the caller of a run. Undefined while runs are not exported: then nobody needs the caller. */
export type TraceReading = { followTrace: ((executionId: string, caller: TraceParent) => void) | undefined }

/** The input of a run with the place of its caller in a distributed trace, if the request says it. */
export function withTraceParent(
  input: TriggerInput,
  executionId: string,
  { headers }: Request,
  { followTrace }: TraceReading,
): TriggerInput {
  const traceParent = followTrace && readTraceParent(headers.get('traceparent'), headers.get('tracestate'))
  if (!traceParent) return input
  followTrace(executionId, traceParent)
  return { ...input, traceParent }
}
