import type { OutboundRequest } from '../../domain/outbound-request.ts'
import type { Span } from '../../domain/run/log.ts'
import type { Run } from './run.ts'

type Headers = OutboundRequest['headers']

/** The headers of a request that a block sends, with the place of its span in the trace. The author's own one wins. */
export function withTrace(headers: Headers, run: Run, span: Span): Headers {
  const { traceParentOf } = run.capabilities
  if (!traceParentOf || headers.some(([name]) => name.toLowerCase() === 'traceparent')) return headers
  const { input } = run.budget.outermost ?? run
  return [...headers, ['traceparent', traceParentOf(run.facts.executionId, input.traceParent, span)]]
}
