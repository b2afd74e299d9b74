import type { OutboundRequest } from '../../domain/outbound-request.ts'
import type { Span } from '../../domain/run/log.ts'
import type { Models } from '../../domain/run/model-call.ts'
import type { Run } from './run.ts'

type Headers = OutboundRequest['headers']

/** Adds the place of the span in the trace to the headers of a request. Headers of the author take precedence. */
export function withTrace(headers: Headers, run: Run, span: Span): Headers {
  const { traceHeadersOf } = run.capabilities
  if (!traceHeadersOf) return headers
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  // The state of one trace has no meaning in another trace.
  if (given.has('traceparent')) return headers
  const { input } = run.budget.outermost ?? run
  const own = traceHeadersOf(run.facts.executionId, input.traceParent, span)
  return [...headers, ...own.filter(([name]) => !given.has(name))]
}

/** The language models for a block. Their requests have the place of a span in the trace, and name the block. */
export function modelsOf(run: Run, span: Span, blockName: string): Models {
  const { call, checkJson } = run.capabilities.models
  const headers = withTrace([], run, span)
  const traced = headers.length === 0 ? {} : { headers }
  return { call: (request) => call({ ...request, ...traced, blockName }), checkJson }
}
