import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { forgetOldest } from '../domain/forget-oldest.ts'
import type { ModelRequest } from '../domain/run/model-call.ts'

/** The `fetch` that a provider's code calls. */
export type Send = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Keeps the providers' code by model, address and key. Each instance builds the schemas of its protocol anew, 150 KB of
 * them, which would live as long as the response. Each call has its own `fetch`: a header that is removed before the
 * request is sent tells which call a request belongs to.
 */
export class Providers {
  readonly #models = new Map<string, Promise<LanguageModelV4>>()
  readonly #sending = new Map<string, Send>()
  #calls = 0

  /**
   * Sends one request with `send` and returns its stream. Rejects with the errors of `send` and of the provider's
   * code.
   */
  async stream(selection: Selection, options: LanguageModelV4CallOptions, send: Send): Promise<Stream['stream']> {
    const model = await this.#model(selection)
    this.#calls += 1
    const call = String(this.#calls)
    this.#sending.set(call, send)
    try {
      return (await model.doStream({ ...options, headers: { [callHeader]: call } })).stream
    } finally {
      this.#sending.delete(call)
    }
  }

  #model(selection: Selection): Promise<LanguageModelV4> {
    const { provider, model, baseUrl, apiKey } = selection
    const name = JSON.stringify([provider, model, baseUrl, apiKey])
    const known = this.#models.get(name)
    if (known) return known
    const made = languageModel(selection, this.#send)
    this.#models.set(name, made)
    made.catch(() => this.#models.delete(name))
    forgetOldest(this.#models, modelsMax)
    return made
  }

  #send: Send = (input, init = {}) => {
    const headers = new Headers(init.headers)
    const send = this.#sending.get(headers.get(callHeader) ?? '')
    if (!send) return Promise.reject(new Error('A language model sent a request that belongs to no call'))
    headers.delete(callHeader)
    return send(input, { ...init, headers })
  }
}

const callHeader = 'x-millrace-call'
const modelsMax = 100

type Stream = Awaited<ReturnType<LanguageModelV4['doStream']>>
type Selection = Pick<ModelRequest, 'provider' | 'model' | 'baseUrl' | 'apiKey'>

/**
 * Loads the provider's code when the first request needs it, so that a service without models does not have it in
 * memory. Every option that the code would otherwise read from the environment is set: keys and addresses come from the
 * workflow.
 */
async function languageModel(
  { provider, model, baseUrl, apiKey = '' }: Selection,
  send: Send,
): Promise<LanguageModelV4> {
  const sending = { apiKey, fetch: send as typeof globalThis.fetch }
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
        // Streams report tokens only with this option.
        includeUsage: true,
        supportsStructuredOutputs: true,
        fetch: sending.fetch,
        ...(apiKey === '' ? {} : { apiKey }),
      }).chatModel(model)
    }
  }
}
