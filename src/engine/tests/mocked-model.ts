import { isObject } from '../../domain/run/input.ts'
import type { ModelOutcome, ModelToolCall } from '../../domain/run/model-call.ts'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'

type Response = NonNullable<NonNullable<WorkflowTest['mocks']>[number]['response']>

/**
 * The answer of a mocked model. `data` is its text, or `{ content, toolCalls, tokens }`, which the outputs of an agent
 * have too. Other data is the JSON text that a model writes for a response format.
 */
export function modelOutcome({ status, data }: Response): ModelOutcome {
  const whole = isWhole(data) ? data : { content: data }
  const tokens = tokensOf(whole.tokens)
  if (status >= 400) {
    const message = `The model responded with ${status}`
    const failure = { code: 'HTTP_ERROR', message, status, mayPass: status === 429 || status >= 500 }
    return { ok: false, failure, tokens, firstTokenMs: null }
  }
  const toolCalls = toolCallsOf(whole.toolCalls)
  const response = { text: textOf(whole.content), toolCalls, finish: toolCalls.length > 0 ? 'tool-calls' : 'stop' }
  return { ok: true, response, tokens, firstTokenMs: null }
}

type Whole = { content?: unknown; toolCalls?: unknown; tokens?: unknown }

function isWhole(data: unknown): data is Whole {
  if (!isObject(data) || !('content' in data || 'toolCalls' in data)) return false
  return Object.keys(data).every((name) => name === 'content' || name === 'toolCalls' || name === 'tokens')
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : content === undefined ? '' : JSON.stringify(content)
}

function toolCallsOf(calls: unknown): ModelToolCall[] {
  if (!Array.isArray(calls)) return []
  return (calls as unknown[]).filter(isObject).map((call, index) => {
    return { id: `call-${index + 1}`, name: String(call['name']), arguments: JSON.stringify(call['arguments'] ?? {}) }
  })
}

function tokensOf(tokens: unknown) {
  if (!isObject(tokens)) return undefined
  const { prompt, completion } = tokens
  return { prompt: Number(prompt) || 0, cached: 0, completion: Number(completion) || 0 }
}
