import type { TokenCount } from '../domain/run/cost.ts'

/**
 * The tokens that one event of a stream reports, as the provider sent it. They count even if the stream breaks off
 * later. OpenAI reports them once, before the end; Anthropic reports those of the prompt in its first event.
 */
export function reportedTokens(event: unknown): TokenCount | undefined {
  const { type, message, usage } = (event ?? {}) as Event
  if (type === 'message_start') return promptTokens(message?.usage)
  return typeof usage?.prompt_tokens === 'number' || typeof usage?.completion_tokens === 'number'
    ? allTokens(usage)
    : undefined
}

function promptTokens(usage: AnthropicUsage | null | undefined): TokenCount | undefined {
  if (!usage) return undefined
  const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage
  return { prompt: count(fresh) + count(read) + count(written), cached: count(read), completion: 0 }
}

function allTokens(usage: OpenAiUsage): TokenCount {
  const prompt = count(usage.prompt_tokens)
  const cached = Math.min(count(usage.prompt_tokens_details?.cached_tokens), prompt)
  return { prompt, cached, completion: count(usage.completion_tokens) }
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

type Event = {
  type?: unknown
  message?: { usage?: AnthropicUsage | null } | null
  usage?: OpenAiUsage | null
}
type AnthropicUsage = {
  input_tokens?: unknown
  cache_read_input_tokens?: unknown
  cache_creation_input_tokens?: unknown
}
type OpenAiUsage = {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  prompt_tokens_details?: { cached_tokens?: unknown } | null
}
