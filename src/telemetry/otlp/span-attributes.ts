import type { RunRecord, Span } from '../../domain/run/log.ts'
import { attributesOf, type KeyValue, spanKind } from './wire.ts'

/**
 * The attributes of the semantic conventions for a span. They identify the work, and never contain inputs or outputs of
 * a block. They contain an address without path and query, a model and its tokens, a status, a code of an error.
 */
export type SpanFacts = { kind: number; name: string; attributes: KeyValue[] }

/** Removes secrets from a text that a user can influence, before anything is cut. */
export type Hide = (text: string) => string

/** The facts of a run as a whole. */
export function runFacts(record: RunRecord, hide: Hide): SpanFacts {
  const { root, failure, cost } = record
  const name = shownName(root, hide)
  return {
    kind: runKind(record),
    name,
    attributes: attributesOf({
      'millrace.execution.id': record.executionId,
      'millrace.workflow.id': record.workflowId,
      'millrace.workflow.name': name,
      'millrace.workflow.version': record.version,
      'millrace.workspace.id': record.workspaceId,
      'millrace.trigger': record.trigger,
      'millrace.status': root.status,
      'millrace.queued_ms': record.createdAt === null ? undefined : Math.max(0, record.startedAt - record.createdAt),
      'millrace.paused_ms': record.pausedMs,
      'millrace.cost.usd': cost.total > 0 ? cost.total : undefined,
      'error.type': failure?.code,
    }),
  }
}

/** A run with a waiting caller is a SERVER span. An asynchronous run is a CONSUMER span. */
function runKind({ trigger, createdAt }: RunRecord): number {
  if (createdAt !== null) return spanKind.consumer
  return trigger === 'manual' || trigger === 'schedule' ? spanKind.internal : spanKind.server
}

/** The facts of what happened inside a run. `parent`: the span around it. */
export function blockFacts(span: Span, parent: Span, hide: Hide): SpanFacts {
  const shown = shownName(span, hide)
  const special = factsByType[span.type]?.({ span, parent, shown, hide })
  const { kind = spanKind.internal, name = shown, attributes = [] } = special ?? {}
  const common = attributesOf({
    'millrace.block.id': span.blockId ?? undefined,
    'millrace.block.type': span.blockId === null || isPart(span) ? undefined : span.type,
    'millrace.status': span.status,
    'millrace.reused': span.reused,
    'millrace.pinned': span.pinned,
    'error.type': span.error === null ? undefined : errorType(span),
  })
  return { kind, name, attributes: [...common, ...attributes] }
}

const shownName = ({ name }: Span, hide: Hide) => hide(name).slice(0, nameCharsMax).toWellFormed()
const nameCharsMax = 256
/** Longer addresses are not searched for secrets, so they are not exported. */
const urlCharsMax = 8_192

/** Spans inside a block: a request to a model, a call of a tool. */
const isPart = ({ type }: Span) => type === 'model' || type === 'tool'

/** By convention, the status if there was a response. */
function errorType({ error, attempts }: Span): string | undefined {
  const status = attempts?.at(-1)?.status
  return status === undefined ? error?.code : String(status)
}

type TypeFacts = { kind: number; name?: string; attributes: KeyValue[] }
/** `shown`: the name without secrets. */
type Seen = { span: Span; parent: Span; shown: string; hide: Hide }

const factsByType: Readonly<Record<string, (seen: Seen) => TypeFacts>> = {
  api: httpFacts,
  operation: ({ span, hide }) => ({
    kind: spanKind.client,
    attributes: attributesOf({
      'millrace.connector': shortText(textMember(span.input, 'connector'), hide),
      'millrace.operation': shortText(textMember(span.input, 'operation'), hide),
      ...attemptAttributes(span),
    }),
  }),
  mcp: ({ span, hide }) => ({
    kind: spanKind.client,
    attributes: attributesOf({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': shortText(textMember(span.input, 'tool'), hide),
      ...serverOf(urlOf(textMember(span.input, 'server'), hide)),
    }),
  }),
  agent: ({ span, shown }) => ({
    kind: spanKind.internal,
    name: `invoke_agent ${shown}`,
    attributes: attributesOf({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': shown,
      'gen_ai.provider.name': providerOf(span),
    }),
  }),
  model: modelFacts,
  tool: ({ shown }) => ({
    kind: spanKind.internal,
    name: `execute_tool ${shown}`,
    attributes: attributesOf({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': shown }),
  }),
  iteration: ({ span }) => ({
    kind: spanKind.internal,
    attributes: attributesOf({ 'millrace.iteration.index': numberMember(span.input, 'index') }),
  }),
}

function httpFacts({ span, hide }: Seen): TypeFacts {
  const url = urlOf(textMember(span.input, 'url'), hide)
  const method = textMember(span.input, 'method')
  return {
    kind: spanKind.client,
    attributes: attributesOf({
      'http.request.method': method === undefined || httpMethods.has(method) ? method : '_OTHER',
      ...serverOf(url),
      // Path and query often contain data of customers.
      'url.full': url && `${url.protocol}//${url.host}/REDACTED`,
      ...attemptAttributes(span),
    }),
  }
}

function urlOf(given: string | undefined, hide: Hide): URL | undefined {
  const text = given !== undefined && given.length <= urlCharsMax ? hide(given) : undefined
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined
}

function serverOf(url: URL | undefined) {
  return {
    'server.address': url?.hostname,
    'server.port': url && Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
  }
}

function attemptAttributes({ attempts }: Span) {
  const resent = (attempts?.length ?? 0) - 1
  return {
    'http.response.status_code': attempts?.at(-1)?.status,
    'http.request.resend_count': resent > 0 ? resent : undefined,
  }
}

function modelFacts({ span, parent, shown, hide }: Seen): TypeFacts {
  const { usage } = span
  const knowsTokens = usage !== undefined && !usage.tokensUnknown
  return {
    kind: spanKind.client,
    name: `chat ${shown}`,
    attributes: attributesOf({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerOf(parent),
      'gen_ai.request.model': shown,
      'gen_ai.request.temperature': numberMember(parent.input, 'temperature'),
      'gen_ai.request.max_tokens': numberMember(parent.input, 'maxTokens'),
      'gen_ai.response.finish_reasons': finishReasons(span),
      ...serverOf(urlOf(textMember(parent.input, 'baseUrl'), hide)),
      'gen_ai.usage.input_tokens': knowsTokens ? usage.tokens.prompt : undefined,
      'gen_ai.usage.output_tokens': knowsTokens ? usage.tokens.completion : undefined,
      'gen_ai.response.time_to_first_chunk':
        typeof usage?.timeToFirstTokenMs === 'number' ? usage.timeToFirstTokenMs / 1_000 : undefined,
      'millrace.cost.usd': usage && !usage.costUnknown ? usage.cost.total : undefined,
      ...attemptAttributes(span),
    }),
  }
}

/** Undefined without a response. The providers' code has a fixed list of reasons. */
function finishReasons({ output }: Span): readonly string[] | undefined {
  const reason = textMember(output, 'finish')
  return reason === undefined ? undefined : [reason]
}

/** The names of the convention. Any other text in the parameter is not exported. */
function providerOf({ input }: Span): string | undefined {
  return providerNames[textMember(input, 'provider') ?? '']
}

const providerNames: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'gcp.gemini',
  'openai-compatible': 'openai_compatible',
}

const httpMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'])

function textMember(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}

/** Longer texts are not IDs. */
function shortText(text: string | undefined, hide: Hide): string | undefined {
  return text !== undefined && text.length <= nameCharsMax ? hide(text) : undefined
}

function numberMember(value: unknown, name: string): number | undefined {
  const member = memberOf(value, name)
  return typeof member === 'number' ? member : undefined
}

function memberOf(value: unknown, name: string): unknown {
  const isOwn = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isOwn ? (value as Record<string, unknown>)[name] : undefined
}
