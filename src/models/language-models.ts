import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Clock } from '../domain/clock.ts'
import type { TokenCount } from '../domain/cost.ts'
import { messageOf } from '../domain/errors.ts'
import type { CallModel, ModelAnswer, ModelFailure, ModelOutcome, ModelRequest, Models } from '../domain/model-call.ts'
import type { OutboundOpen } from '../domain/outbound-request.ts'
import { AnswersUnderWay } from './answers-under-way.ts'
import { checkJson } from './json-check.ts'
import { Providers } from './providers.ts'
import { callOptions } from './request.ts'
import { Wire } from './wire.ts'

export type LanguageModelsOptions = {
  /** Every request goes out by it. */
  open: OutboundOpen
  clock: Clock
  /** Bytes of an answer. */
  answerBytesMax: number
  /** Soon, and beside what goes on. */
  collectGarbage?(): void
}

/**
 * Language models, spoken to by the low-level interface of the `ai` SDK's providers: they know the wire formats, and
 * nothing else of the SDK has a say. Retries, tools, addresses and time are this service's own.
 */
export function createLanguageModels(options: LanguageModelsOptions): Models {
  const providers = new Providers()
  const underWay = new AnswersUnderWay(options.collectGarbage ?? (() => Bun.gc(false)))
  const call: CallModel = (request) => new ModelCall(request, options, providers, underWay).run()
  return { call, checkJson }
}

class ModelCall {
  readonly #request: ModelRequest
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #providers: Providers
  readonly #underWay: AnswersUnderWay
  readonly #wire: Wire
  readonly #text = new GrowingText()
  readonly #toolCalls: ModelAnswer['toolCalls'][number][] = []
  #finish = 'other'
  #tokens: TokenCount | undefined
  #firstTokenMs: number | null = null
  #error: { thrown: unknown } | undefined

  #resolve: ((outcome: ModelOutcome) => void) | undefined

  constructor(
    request: ModelRequest,
    { open, clock, answerBytesMax }: LanguageModelsOptions,
    providers: Providers,
    underWay: AnswersUnderWay,
  ) {
    this.#request = request
    this.#providers = providers
    this.#underWay = underWay
    this.#clock = clock
    this.#startedAt = clock.monotonic()
    const { provider, timeoutMs, signal } = request
    const isOpenAi = provider === 'openai' || provider === 'openai-compatible'
    this.#wire = new Wire(open, clock, { timeoutMs, signal, answerBytesMax }, isOpenAi ? this.#takeText : undefined)
  }

  /** In no call while it waits for its answer: thousands of them may be waiting. */
  run(): Promise<ModelOutcome> {
    this.#underWay.begin()
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#send()
        .then(() => this.#wire.read(this))
        .catch((error: unknown) => this.#fail(error))
    })
  }

  answered(response: Response): void {
    this.#read(response)
      .then(() => this.#end())
      .catch((error: unknown) => this.#fail(error))
  }

  #fail(thrown: unknown): void {
    this.#error ??= { thrown }
    this.#end()
  }

  #end(): void {
    this.#underWay.end()
    const seen = { tokens: this.#tokens ?? this.#wire.tokens, firstTokenMs: this.#firstTokenMs }
    const failure = this.#failure()
    if (failure) this.#resolve?.({ ok: false, failure, ...seen })
    else {
      const answer = { text: this.#text.whole(), toolCalls: this.#toolCalls, finish: this.#finish }
      this.#resolve?.({ ok: true, answer, ...seen })
    }
  }

  async #send(): Promise<void> {
    await this.#wire.send(await this.#providers.requestOf(this.#request, callOptions(this.#request)))
  }

  /** The options are made again: they would live as long as the answer, with the whole prompt. */
  async #read(response: Response): Promise<void> {
    const request = this.#request
    const reader = (await this.#providers.read(request, callOptions(request), response)).getReader()
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) this.#take(part.value)
    } finally {
      reader.cancel().catch(() => undefined)
    }
  }

  #take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'reasoning-delta':
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
        this.#tokens ??= promptTokensOf(part.rawValue)
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

  #takeText = (text: string): void => {
    if (text === '') return
    this.#firstTokenMs ??= this.#elapsedMs()
    this.#text.add(text)
    this.#request.onText(text)
  }

  #elapsedMs(): number {
    return Math.round((this.#clock.monotonic() - this.#startedAt) * 1000) / 1000
  }

  /** What went wrong, by what the wire saw before what the provider's code made of it. */
  #failure(): ModelFailure | undefined {
    const { failure, status, retryAfter, host } = this.#wire
    const thrown = this.#error?.thrown
    if (failure) {
      const mayPass = failure.code === 'TIMEOUT' || failure.code === 'CONNECTION_FAILED'
      return { code: failure.code, message: failure.message, mayPass }
    }
    if (status !== undefined && status >= 300 && status < 400) {
      const message = `${host} answered ${status}, a redirect, and those of models are not followed: check the baseUrl`
      return { code: 'HTTP_ERROR', message, status, mayPass: false }
    }
    if (status !== undefined && status >= 400) {
      const mayPass = status === 429 || status >= 500
      const message = `${host} answered ${status}: ${wordsOf(thrown)}`
      return { code: 'HTTP_ERROR', message, status, mayPass, ...(retryAfter === undefined ? {} : { retryAfter }) }
    }
    if (this.#error) return this.#brokenAnswer(thrown)
    if (this.#finish === 'interrupted' || this.#finish === 'error') {
      return this.#brokenAnswer(new Error('it ended before it was complete'))
    }
    return undefined
  }

  #brokenAnswer(thrown: unknown): ModelFailure {
    const { statusCode } = (thrown ?? {}) as { statusCode?: unknown }
    const { host, answered, finished } = this.#wire
    if (!answered) return { code: 'INVALID_REQUEST', message: wordsOf(thrown), mayPass: false }
    // Some report in the stream that they are overloaded, by an error that names the status it would have been.
    const mayPass = (typeof statusCode === 'number' && (statusCode === 429 || statusCode >= 500)) || !finished
    return { code: 'INVALID_RESPONSE', message: `The answer of ${host} cannot be used: ${wordsOf(thrown)}`, mayPass }
  }
}

/**
 * A text that comes in small pieces. Put together each time, each piece would live as a string of its own for as long as
 * the whole: 60 bytes for one of 5, until somebody reads it.
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

/** Undefined when the answer said nothing of tokens: providers' code then makes zeros of it. */
function tokensOf({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenCount | undefined {
  const { total: prompt = 0, cacheRead: cached = 0 } = inputTokens
  const { total: completion = 0 } = outputTokens
  return prompt + completion > 0 ? { prompt, cached: Math.min(cached, prompt), completion } : undefined
}

/** Anthropic tells the tokens of the prompt first: of an answer that breaks off they are what is known to be spent. */
function promptTokensOf(event: unknown): TokenCount | undefined {
  const { type, message } = (event ?? {}) as { type?: unknown; message?: { usage?: Record<string, unknown> } }
  if (type !== 'message_start' || !message?.usage) return undefined
  const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = message.usage
  const count = (value: unknown) => (typeof value === 'number' ? value : 0)
  return { prompt: count(fresh) + count(read) + count(written), cached: count(read), completion: 0 }
}

const wordsMax = 1_000

/**
 * An error as providers report it: thrown, or the `error` member of a message, in one of their shapes. One that was thrown
 * holds the whole prompt as well; where it has no words, those of the answer are all that is said.
 */
function wordsOf(thrown: unknown): string {
  const isThrown = thrown instanceof Error
  const { message, responseBody } = (thrown ?? {}) as { message?: unknown; responseBody?: unknown }
  const words = [isThrown ? messageOf(thrown) : message, isThrown ? responseBody : JSON.stringify(thrown)]
  const text = words.find((each) => typeof each === 'string' && each.trim() !== '') ?? 'no reason given'
  return String(text).trim().slice(0, wordsMax).toWellFormed()
}
