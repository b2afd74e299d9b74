import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelRequest } from '../domain/model-call.ts'

/**
 * The provider's code for a request, loaded when the first such request is made: a service that calls no models has none
 * of it in memory. Every option that it would take from the process's environment otherwise is set: keys and addresses
 * are the workflow's to say.
 */
export async function languageModel(request: Selection, fetch: SendRequest): Promise<LanguageModelV4> {
  const { provider, model, baseUrl, apiKey = '' } = request
  const sending = { apiKey, fetch: fetch as typeof globalThis.fetch }
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ ...sending, baseURL: baseUrl ?? 'https://api.openai.com/v1' }).chat(model)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ ...sending, baseURL: baseUrl ?? 'https://api.anthropic.com/v1' }).messages(model)
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
      const baseURL = baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta'
      return createGoogleGenerativeAI({ ...sending, baseURL }).chat(model)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({
        name: 'openaiCompatible',
        baseURL: baseUrl ?? '',
        // Without it streams tell no tokens.
        includeUsage: true,
        supportsStructuredOutputs: true,
        fetch: sending.fetch,
        ...(apiKey === '' ? {} : { apiKey }),
      }).chatModel(model)
    }
  }
}

type Selection = Pick<ModelRequest, 'provider' | 'model' | 'baseUrl' | 'apiKey'>

type SendRequest = (input: string | URL | Request, init?: RequestInit) => Promise<Response>
