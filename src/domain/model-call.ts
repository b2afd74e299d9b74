import type { TokenCount } from './cost.ts'

/** The shape of every request to a language model, and of what became of it. `models/` carries it out. */

export const modelProviders = ['openai', 'anthropic', 'google', 'openai-compatible'] as const
export type ModelProvider = (typeof modelProviders)[number]

export type ModelMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: readonly ModelToolCall[] }
  /** What a tool gave for a call of the message before. */
  | { role: 'tool'; call: ModelToolCall; content: string; failed: boolean }

/** A tool as the model is told of it; `parameters` is a JSON schema of an object. */
export type ModelTool = { name: string; description: string; parameters: Record<string, unknown> }

/** `arguments` is JSON text as the model wrote it; `echo` is what its provider wants to see again with the call. */
export type ModelToolCall = { id: string; name: string; arguments: string; echo?: unknown }

export type ModelRequest = {
  provider: ModelProvider
  model: string
  /** Ends in `/v1` or what the service has in its place; the provider's own address when absent. */
  baseUrl?: string
  apiKey?: string
  messages: readonly ModelMessage[]
  temperature?: number
  maxTokens?: number
  /** A JSON schema: the model is asked for JSON that fits it. Whether it does is for the caller to check. */
  responseSchema?: Record<string, unknown>
  tools: readonly ModelTool[]
  /** From waiting for a free place to the last byte of the answer. */
  timeoutMs: number
  signal: AbortSignal
  /** Each piece of text as it is generated. */
  onText(text: string): void
}

export type ModelAnswer = {
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
  /** The header as it came. */
  retryAfter?: string
  /** Whether another attempt may do better. */
  mayPass: boolean
}

/**
 * `tokens` is undefined when the answer told none: also a broken one may have. `firstTokenMs`: from the start of the
 * request to the first piece of text or of a tool call; null when none came.
 */
export type ModelOutcome = { tokens: TokenCount | undefined; firstTokenMs: number | null } & (
  | { ok: true; answer: ModelAnswer }
  | { ok: false; failure: ModelFailure }
)

/** Never throws: what goes wrong is an outcome. */
export type CallModel = (request: ModelRequest) => Promise<ModelOutcome>

/** Whether a value fits a JSON schema: undefined when it does, else why not, in words for people. */
export type CheckJson = (schema: Record<string, unknown>, value: unknown) => Promise<string | undefined>

/** The power of blocks over language models. */
export type Models = { call: CallModel; checkJson: CheckJson }
