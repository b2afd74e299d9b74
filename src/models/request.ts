import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { ModelMessage, ModelRequest, ModelToolCall } from '../domain/run/model-call.ts'
import { jsonRefusal } from '../domain/text/json.ts'

/** A request in the form that the providers' code takes. */
export function callOptions(request: ModelRequest): LanguageModelV4CallOptions {
  const { messages, temperature, maxTokens, responseSchema, tools } = request
  return {
    prompt: messages.map(promptMessage),
    // The providers' code reports tokens at the end of a stream only, and nothing if the stream breaks off.
    includeRawChunks: true,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(responseSchema
      ? { responseFormat: { type: 'json', name: 'answer', schema: responseSchema as JSONSchema7 } }
      : {}),
    ...(tools.length > 0
      ? {
          tools: tools.map(({ name, description, parameters }) => {
            return { type: 'function', name, description, inputSchema: parameters as JSONSchema7 }
          }),
        }
      : {}),
    // Strict mode accepts only a subset of JSON schema. The service checks the response in any case.
    providerOptions: { openai: { strictJsonSchema: false }, openaiCompatible: { strictJsonSchema: false } },
  }
}

function promptMessage(message: ModelMessage): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.content }] }
    case 'assistant': {
      const text = message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]
      return { role: 'assistant', content: [...text, ...(message.toolCalls ?? []).map(callPart)] }
    }
    case 'tool': {
      const { call, content, failed } = message
      const output = { type: failed ? ('error-text' as const) : ('text' as const), value: content }
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId: call.id, toolName: call.name, output }] }
    }
  }
}

function callPart({ id, name, arguments: text, echo }: ModelToolCall) {
  return {
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: inputOf(text),
    ...(echo === undefined ? {} : { providerOptions: echo as SharedV4ProviderOptions }),
  }
}

/**
 * The service rejected arguments that are invalid JSON, nested too deeply, or have too many values. The history
 * contains `{}` in their place.
 */
function inputOf(text: string): unknown {
  if (jsonRefusal(text) !== undefined) return {}
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
