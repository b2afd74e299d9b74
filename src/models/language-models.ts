import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Clock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import type { OutboundOpen } from '../domain/outbound-request.ts'
import type { TokenCount } from '../domain/run/cost.ts'
import type {
  CallModel,
  ModelFailure,
  ModelOutcome,
  ModelRequest,
  ModelResponse,
  Models,
} from '../domain/run/model-call.ts'
import { shorten } from '../domain/text/shorten.ts'
import { checkJson } from './json-check.ts'
import { ModelTransport } from './model-transport.ts'
import { Providers } from './providers.ts'
import { reportedTokens } from './reported-tokens.ts'
import { callOptions } from './request.ts'

export type LanguageModelsOptions = {
  /** Sends every request. */
  open: OutboundOpen
  clock: Clock
  /** Bytes of a response. */
  responseBytesMax: number
}

/**
 * Calls language models through the low-level interface of the `ai` SDK's providers, which know the wire formats.
 * Retries, tools, addresses and timeouts are the service's own.
 */
export function createLanguageModels(options: LanguageModelsOptions): Models {
  const providers = new Providers()
  const call: CallModel = (request) => new ModelCall(request, options, providers).run()
  return { call, checkJson }
}

class ModelCall {
  readonly #request: ModelRequest
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #providers: Providers
  readonly #transport: ModelTransport
  readonly #text = new GrowingText()
  readonly #toolCalls: ModelResponse['toolCalls'][number][] = []
  #finish = 'other'
  #tokens: TokenCount | undefined
  #firstTokenMs: number | null = null
  #error: { thrown: unknown } | undefined

  constructor(request: ModelRequest, { open, clock, responseBytesMax }: LanguageModelsOptions, providers: Providers) {
    const { timeoutMs, signal, workspaceId = '', authorization, headers = [] } = request
    this.#request = request
    this.#providers = providers
    this.#clock = clock
    this.#startedAt = clock.monotonic()
    const bounds = { timeoutMs, signal, workspaceId, responseBytesMax, authorization, headers }
    this.#transport = new ModelTransport(open, clock, bounds)
  }

  async run(): Promise<ModelOutcome> {
    try {
      await this.#read()
    } catch (thrown) {
      this.#error ??= { thrown }
    }
    const seen = { tokens: this.#tokens, firstTokenMs: this.#firstTokenMs }
    const failure = this.#failure()
    if (failure) return { ok: false, failure, ...seen }
    const response = { text: this.#text.whole(), toolCalls: this.#toolCalls, finish: this.#finish }
    return { ok: true, response, ...seen }
  }

  async #read(): Promise<void> {
    const request = this.#request
    const stream = await this.#providers.stream(request, callOptions(request), this.#transport.send)
    const reader = stream.getReader()
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) this.#take(part.value)
    } finally {
      reader.cancel().catch(() => undefined)
    }
  }

  #take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'reasoning-delta':
        this.#firstTokenMs ??= this.#elapsedMs()
        if (part.delta !== '') this.#request.onThinking?.(part.delta)
        return
      case 'tool-input-start':
        this.#firstTokenMs ??= this.#elapsedMs()
        return
      case 'text-delta':
        this.#takeText(part.delta)
        return
      case 'tool-call': {
        this.#firstTokenMs ??= this.#elapsedMs()
        const { toolCallId, toolName, input, providerMetadata } = part
        const echo = providerMetadata === undefined ? {} : { echo: providerMetadata }
        this.#toolCalls.push({ id: toolCallId, name: toolName, arguments: input, ...echo })
        return
      }
      case 'raw':
        this.#tokens = reportedTokens(part.rawValue) ?? this.#tokens
        return
      case 'finish':
        this.#finish = part.finishReason.unified
        this.#tokens = tokensOf(part.usage) ?? this.#tokens
        return
      case 'error':
        this.#error ??= { thrown: part.error }
        return
      default:
        return
    }
  }

  #takeText(text: string): void {
    if (text === '') return
    this.#firstTokenMs ??= this.#elapsedMs()
    this.#text.add(text)
    this.#request.onText(text)
  }

  #elapsedMs(): number {
    return Math.round((this.#clock.monotonic() - this.#startedAt) * 1000) / 1000
  }

  /** The failure of the call. The transport's finding takes precedence over that of the provider's code. */
  #failure(): ModelFailure | undefined {
    const { failure, status, retryAfter, host } = this.#transport
    const thrown = this.#error?.thrown
    if (failure) {
      const mayPass = failure.code === 'TIMEOUT' || failure.code === 'CONNECTION_FAILED'
      return { code: failure.code, message: failure.message, mayPass }
    }
    if (status !== undefined && status >= 300 && status < 400) {
      const message = `${host} responded with ${status}, a redirect, which is not followed: check the base URL`
      return { code: 'HTTP_ERROR', message, status, mayPass: false }
    }
    if (status !== undefined && status >= 400) {
      const mayPass = status === 429 || status >= 500
      const message = `${host} responded with ${status}: ${wordsOf(thrown)}`
      return { code: 'HTTP_ERROR', message, status, mayPass, ...(retryAfter === undefined ? {} : { retryAfter }) }
    }
    if (this.#error) return this.#brokenResponse(thrown)
    if (this.#finish === 'interrupted' || this.#finish === 'error') {
      return this.#brokenResponse(new Error('it ended before it was complete'))
    }
    return undefined
  }

  #brokenResponse(thrown: unknown): ModelFailure {
    const { statusCode } = (thrown ?? {}) as { statusCode?: unknown }
    const { host, status, isFinished } = this.#transport
    if (status === undefined) return { code: 'INVALID_REQUEST', message: wordsOf(thrown), mayPass: false }
    // Some providers report an overload inside the stream, with the status that the response would have had.
    const mayPass = (typeof statusCode === 'number' && (statusCode === 429 || statusCode >= 500)) || !isFinished
    return { code: 'INVALID_RESPONSE', message: `The response of ${host} cannot be used: ${wordsOf(thrown)}`, mayPass }
  }
}

/**
 * A text that arrives in small pieces. Appending each piece to a string would keep every piece as an object of its own
 * until somebody reads the whole: 60 bytes for a piece of 5.
 */
class GrowingText {
  readonly #parts: string[] = []
  #pieces: string[] = []

  add(piece: string): void {
    this.#pieces.push(piece)
    if (this.#pieces.length < piecesMax) return
    this.#parts.push(this.#pieces.join(''))
    this.#pieces = []
  }

  whole(): string {
    return this.#parts.join('') + this.#pieces.join('')
  }
}

const piecesMax = 64

/** Undefined when the response reported no tokens: the providers' code then reports zeros. */
function tokensOf({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenCount | undefined {
  const { total: prompt = 0, cacheRead: cached = 0 } = inputTokens
  const { total: completion = 0 } = outputTokens
  return prompt + completion > 0 ? { prompt, cached: Math.min(cached, prompt), completion } : undefined
}

const wordsMax = 1_000

/**
 * The words of an error in one of the shapes that providers use: thrown, or the `error` member of a message. A thrown
 * error also holds the whole prompt; if it has no message, only the response's own words are shown.
 */
function wordsOf(thrown: unknown): string {
  const isThrown = thrown instanceof Error
  const { message, responseBody } = (thrown ?? {}) as { message?: unknown; responseBody?: unknown }
  const words = [isThrown ? messageOf(thrown) : message, isThrown ? responseBody : JSON.stringify(thrown)]
  const text = words.find((each) => typeof each === 'string' && each.trim() !== '') ?? 'no reason given'
  return shorten(String(text).trim().toWellFormed(), wordsMax)
}
