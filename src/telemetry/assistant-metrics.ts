import type { Metrics } from './metrics.ts'

/** Replies of the assistant that have ended since the start, and the tokens of the model that they used. */
export type AssistantCounts = { replies: number; promptTokens: number; completionTokens: number }

export function addAssistantMetrics(metrics: Metrics, read: () => AssistantCounts): void {
  const replies = { name: 'millrace_assistant_replies_total', help: 'Replies of the assistant that have ended.' }
  metrics.reading({ ...replies, type: 'counter', labels: [] }, () => [{ labels: [], value: read().replies }])
  const tokens = { name: 'millrace_assistant_tokens_total', help: 'Tokens that replies of the assistant have used.' }
  metrics.reading({ ...tokens, type: 'counter', labels: ['kind'] }, () => {
    const { promptTokens, completionTokens } = read()
    return [
      { labels: ['prompt'], value: promptTokens },
      { labels: ['completion'], value: completionTokens },
    ]
  })
}
