import type { OutboundRequest, RequestAuthorization } from '../outbound-request.ts'
import type { TokenCount } from './cost.ts'

/** The shape of a request to a language model and of its outcome. `models/` sends it. */

export const modelProviders = ['openai', 'anthropic', 'google', 'openai-compatible'] as const
export type ModelProvider = (typeof modelProviders)[number]

export type ModelMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: readonly ModelToolCall[] }
  /** The result of a tool call of the previous message. */
  | { role: 'tool'; call: ModelToolCall; content: string; failed: boolean }

/** A tool as described to the model; `parameters` is the JSON schema of an object. */
export type ModelTool = { name: string; description: string; parameters: Record<string, unknown> }

/** `arguments` is JSON text written by the model; `echo` is what the provider expects back with the call. */
export type ModelToolCall = { id: string; name: string; arguments: string; echo?: unknown }

export type ModelRequest = {
  provider: ModelProvider
  model: string
  /** Ends in `/v1` or the service's equivalent; the provider's own address when absent. */
  baseUrl?: string
  apiKey?: string
  /** The credential that the request is sent with, in place of an API key. */
  authorization?: RequestAuthorization | undefined
  messages: readonly ModelMessage[]
  temperature?: number
  maxTokens?: number
  /** A JSON schema: the model is asked for JSON that matches it. The caller must check the result. */
  responseSchema?: Record<string, unknown>
  tools: readonly ModelTool[]
  /** From waiting for a free slot to the last byte of the response. */
  timeoutMs: number
  signal: AbortSignal
  /** See `OutboundRequest`. */
  workspaceId?: string
  /** Further headers of the request. */
  headers?: OutboundRequest['headers']
  /** The block that calls the model. */
  blockName?: string
  /** Receives each piece of text as it is generated. */
  onText(text: string): void
  /** Receives each piece of the model's reasoning, if the provider sends it. */
  onThinking?(text: string): void
}

export type ModelResponse = {
  text: string
  toolCalls: readonly ModelToolCall[]
  /** Why the model stopped: `stop`, `length`, `content-filter`, `tool-calls`, `other`. */
  finish: string
}

export type ModelFailure = {
  /** `HTTP_ERROR`, `TIMEOUT`, `CONNECTION_FAILED`, `ADDRESS_REFUSED`, `INVALID_RESPONSE`, … */
  code: string
  message: string
  status?: number
  /** The header as it arrived. */
  retryAfter?: string
  /** Whether another attempt may succeed. */
  mayPass: boolean
}

/**
 * `tokens` is undefined when the response did not report them; even a failed response may. `firstTokenMs`: from the
 * start of the request to the first text or tool call; null when there was none.
 */
export type ModelOutcome = { tokens: TokenCount | undefined; firstTokenMs: number | null } & (
  | { ok: true; response: ModelResponse }
  | { ok: false; failure: ModelFailure }
)

/** Never throws: a failure is an outcome. */
export type CallModel = (request: ModelRequest) => Promise<ModelOutcome>

/** Checks a value against a JSON schema: undefined when it matches, otherwise an explanation for people. */
export type CheckJson = (schema: Record<string, unknown>, value: unknown) => Promise<string | undefined>

/** The capability of blocks to use language models. */
export type Models = { call: CallModel; checkJson: CheckJson }
