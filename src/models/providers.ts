import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { forgetOldest } from '../domain/forget-oldest.ts'
import type { ModelRequest } from '../domain/model-call.ts'

/** Sends a request of a provider's code. */
type Send = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** A request as a provider's code would send it. */
export type ProviderRequest = { url: string; method: string; headers: [name: string, value: string][]; body: string }

/**
 * The providers' code, kept by model, address and key: making it anew makes the schemas of its protocol anew, 150 KB of
 * them, and they would live as long as the answer. It is asked twice: what it would send, and, when there is something of
 * the answer for it to read, what that means. In between it is in no call: one that waits for an answer to begin holds
 * some 8 KB, its request among them. Each call has its own way to send: a header, taken off again, tells whose request it is.
 */
export class Providers {
  readonly #models = new Map<string, Promise<LanguageModelV4>>()
  readonly #sending = new Map<string, Send>()
  #calls = 0

  /** Rejects with what the provider's code refuses to send. */
  async requestOf(selection: Selection, options: LanguageModelV4CallOptions): Promise<ProviderRequest> {
    let request: ProviderRequest | undefined
    const take: Send = (input, { method = 'POST', headers, body } = {}) => {
      const url = input instanceof Request ? input.url : String(input)
      request = { url, method, headers: [...new Headers(headers)], body: typeof body === 'string' ? body : '' }
      return Promise.reject(new Error('This request is sent by others'))
    }
    try {
      await this.#doStream(selection, options, take)
    } catch (error) {
      if (!request) throw error
    }
    if (!request) throw new Error('The code of the provider sends no request')
    return request
  }

  /** Reads an answer to the request of these options. */
  async read(selection: Selection, options: LanguageModelV4CallOptions, answer: Response): Promise<Stream['stream']> {
    const { stream } = await this.#doStream(selection, options, () => Promise.resolve(answer))
    return stream
  }

  async #doStream(selection: Selection, options: LanguageModelV4CallOptions, send: Send): Promise<Stream> {
    const model = await this.#model(selection)
    this.#calls += 1
    const call = String(this.#calls)
    this.#sending.set(call, send)
    try {
      return await model.doStream({ ...options, headers: { [callHeader]: call } })
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
    if (!send) return Promise.reject(new Error('A request of a language model belongs to no call'))
    headers.delete(callHeader)
    return send(input, { ...init, headers })
  }
}

const callHeader = 'x-millrace-call'
const modelsMax = 100

type Stream = Awaited<ReturnType<LanguageModelV4['doStream']>>
type Selection = Pick<ModelRequest, 'provider' | 'model' | 'baseUrl' | 'apiKey'>

/**
 * The provider's code for a model, loaded when the first such request is made: a service that calls no models has none
 * of it in memory. Every option that it would take from the process's environment otherwise is set: keys and addresses
 * are the workflow's to say.
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
        // Without it streams tell no tokens.
        includeUsage: true,
        supportsStructuredOutputs: true,
        fetch: sending.fetch,
        ...(apiKey === '' ? {} : { apiKey }),
      }).chatModel(model)
    }
  }
}
