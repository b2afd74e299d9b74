import { type Clock, sleep } from '../domain/clock.ts'
import { AppError, clip } from '../domain/errors.ts'
import { backoffMs, delayWithRetryAfter, retryAfterMs } from '../domain/run/backoff.ts'
import { addTokens, addUsd, noTokens, priceTokens, type TokenCount, type Tokens } from '../domain/run/cost.ts'
import { isObject } from '../domain/run/input.ts'
import type {
  CallModel,
  ModelFailure,
  ModelMessage,
  ModelOutcome,
  ModelResponse,
  ModelToolCall,
} from '../domain/run/model-call.ts'
import type { PriceOf } from '../domain/run/model-prices.ts'
import { readJson } from '../domain/text/json.ts'
import type { AssistantModel } from './assistant-model.ts'
import { replyLimits } from './budget.ts'

/** A tool of the assistant. */
export type AssistantTool = {
  name: string
  description: string
  /** The JSON schema of an object. */
  parameters: Record<string, unknown>
  /** Resolves with the result as text. Rejects with an `AppError` that the model can read and correct. */
  run(given: Record<string, unknown>): Promise<string>
  /** The subject of a call in a few words for people: a block type, a run. */
  subject(given: Record<string, unknown>): string
}

export type ReplyEvent =
  | { event: 'text'; text: string }
  | { event: 'tool'; name: string; subject: string; status: 'started' }
  /** `message`: why the tool refused the call. The model reads it, too. */
  | { event: 'tool'; name: string; subject: string; status: 'succeeded' | 'failed'; message: string | null }
  /** The cost of the reply so far. `usd` is null when the model has no known price. */
  | { event: 'cost'; model: string; tokens: Tokens; usd: number | null }
  | { event: 'failed'; code: string; message: string }

export type ReplyOptions = {
  model: AssistantModel
  call: CallModel
  priceOf: PriceOf
  clock: Clock
  random(): number
}

export type ReplyRequest = {
  workspaceId: string
  /** The instructions, then the conversation. */
  messages: readonly ModelMessage[]
  tools: readonly AssistantTool[]
  /** Aborts when nobody waits for the reply any more. */
  signal: AbortSignal
  emit(event: ReplyEvent): void
}

/**
 * One reply of the assistant: it calls the model until a response calls no tool, or until a limit is reached. Tools run
 * one after the other, because edits depend on earlier ones.
 */
export class Reply {
  readonly #options: ReplyOptions
  readonly #request: ReplyRequest
  readonly #messages: ModelMessage[]
  readonly #tools: ReadonlyMap<string, AssistantTool>
  #toolCalls = 0
  #tokens: Tokens = noTokens
  #usd: number | null = 0

  constructor(options: ReplyOptions, request: ReplyRequest) {
    this.#options = options
    this.#request = request
    this.#messages = [...request.messages]
    this.#tools = new Map(request.tools.map((tool) => [tool.name, tool]))
  }

  /** The tokens of all requests so far. */
  get tokens(): Tokens {
    return this.#tokens
  }

  /** Resolves when the reply is complete, or after the event of a failure. Rejects for bugs and outages only. */
  async run(): Promise<void> {
    const { modelCallsMax, toolCallsMax, tokensMax } = replyLimits
    for (let calls = 0; calls < modelCallsMax; calls += 1) {
      const outcome = await this.#ask()
      if (this.#request.signal.aborted) return
      if (!outcome.ok) return this.#fail(outcome.failure.code, outcome.failure.message)
      const { response } = outcome
      if (response.finish === 'content-filter') return this.#fail('REFUSED', 'The model refused to respond.')
      if (response.toolCalls.length === 0) return this.#end(response)
      if (this.#toolCalls + response.toolCalls.length > toolCallsMax) return this.#stop(`${toolCallsMax} tool calls`)
      if (this.#tokens.total >= tokensMax) return this.#stop(`${tokensMax} tokens`)
      await this.#callTools(response)
      if (this.#request.signal.aborted) return
    }
    this.#stop(`${modelCallsMax} requests to the model`)
  }

  #end({ text, finish }: ModelResponse): void {
    if (finish === 'length') this.#fail('OUTPUT_LIMIT', 'The response was cut off at the output limit of the model.')
    else if (text.trim() === '') this.#fail('INVALID_RESPONSE', 'The model returned an empty response.')
  }

  #stop(limit: string): void {
    this.#fail('LIMIT_REACHED', `The assistant stopped at its limit of ${limit}. Ask it to continue.`)
  }

  #fail(code: string, message: string): void {
    // A gateway may repeat the key in its errors.
    const { apiKey = '' } = this.#options.model
    const shown = apiKey === '' ? message : message.replaceAll(apiKey, '***')
    this.#request.emit({ event: 'failed', code, message: shown })
  }

  /** Calls the model, and retries temporary failures unless text has arrived. */
  async #ask(): Promise<ModelOutcome> {
    for (let attempt = 1; ; attempt += 1) {
      let hasText = false
      let chars = 0
      const outcome = await this.#call((text) => {
        hasText = true
        chars += text.length
      })
      this.#count(outcome, chars)
      if (outcome.ok || !outcome.failure.mayPass || hasText || attempt > retriesMax) return outcome
      if (!(await this.#pause(attempt, outcome.failure))) return outcome
    }
  }

  #call(onText: (text: string) => void): Promise<ModelOutcome> {
    const { call, model } = this.#options
    const { workspaceId, signal, emit, tools } = this.#request
    return call({
      ...model,
      ...{ workspaceId, signal },
      messages: [...this.#messages],
      tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      timeoutMs: replyLimits.modelCallTimeoutMs,
      onText: (text) => {
        onText(text)
        emit({ event: 'text', text })
      },
    })
  }

  /** Waits until the next attempt. False when there is none. */
  async #pause(attempt: number, { retryAfter }: ModelFailure): Promise<boolean> {
    const { clock, random } = this.#options
    const delay = delayWithRetryAfter(backoffMs(attempt, random()), retryAfterMs(retryAfter, clock.now()))
    if (delay === undefined) return false
    return await sleep(clock, delay, this.#request.signal).then(
      () => true,
      () => false,
    )
  }

  #count({ tokens: reported, ok }: ModelOutcome, chars: number): void {
    const { model, priceOf } = this.#options
    // A provider reports the tokens at the end of its response, which a reader who leaves does not wait for.
    const tokens = reported ?? (ok || chars > 0 ? this.#estimate(chars) : undefined)
    if (!tokens) return
    const { prompt, completion } = tokens
    this.#tokens = addTokens(this.#tokens, { prompt, completion, total: prompt + completion })
    const price = priceOf(model.model)
    this.#usd = price && this.#usd !== null ? addUsd(this.#usd, priceTokens(tokens, price).total) : null
    this.#request.emit({ event: 'cost', model: model.model, tokens: this.#tokens, usd: this.#usd })
  }

  #estimate(chars: number): TokenCount {
    const prompt = this.#messages.reduce((sum, { content }) => sum + content.length, 0)
    return { prompt: Math.ceil(prompt / 4), cached: 0, completion: Math.ceil(chars / 4) }
  }

  async #callTools({ text, toolCalls }: ModelResponse): Promise<void> {
    this.#messages.push({ role: 'assistant', content: text, toolCalls })
    for (const call of toolCalls) {
      if (this.#request.signal.aborted) return
      this.#toolCalls += 1
      this.#messages.push({ role: 'tool', call, ...(await this.#callTool(call)) })
    }
  }

  async #callTool({ name, arguments: text }: ModelToolCall): Promise<{ content: string; failed: boolean }> {
    const { emit } = this.#request
    const tool = this.#tools.get(name)
    let subject = ''
    try {
      if (!tool) throw new AppError('NOT_FOUND', `There is no tool "${clip(name, 100)}".`)
      const given = argumentsIn(text)
      subject = tool.subject(given)
      emit({ event: 'tool', name, subject, status: 'started' })
      const content = shortened(await tool.run(given))
      emit({ event: 'tool', name, subject, status: 'succeeded', message: null })
      return { content, failed: false }
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code === 'INTERNAL') throw thrown
      const content = refusalText(thrown)
      emit({ event: 'tool', name: clip(name, 100), subject, status: 'failed', message: clip(content, 500) })
      return { content, failed: true }
    }
  }
}

const retriesMax = 2

function argumentsIn(text: string): Record<string, unknown> {
  const given = text.trim() === '' ? {} : readJson(text, { what: 'The arguments', values })
  if (isObject(given)) return given
  throw new AppError('INVALID_INPUT', 'The arguments must be a JSON object.')
}

const values = { max: 20_000, setting: 'the assistant' } as const

function shortened(text: string): string {
  const { toolResultCharsMax: charsMax } = replyLimits
  return text.length <= charsMax ? text : `${clip(text, charsMax)} (shortened)`
}

/** An error as the model reads it. */
function refusalText({ code, message, details = [] }: AppError): string {
  const rows = details.map((row) => `- ${row.path === '' ? '' : `${row.path}: `}${row.message}`)
  return clip([`${code}: ${message}`, ...rows].join('\n'), 4_000)
}
