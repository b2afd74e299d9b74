import {
  addTokens,
  addUsd,
  type CallCost,
  type ModelUsage,
  noTokens,
  priceTokens,
  type Tokens,
} from '../domain/run/cost.ts'
import type { SpanAttempt, SpanNotes } from '../domain/run/log.ts'
import type { ModelFailure, ModelMessage, ModelOutcome, ModelResponse, ModelTool } from '../domain/run/model-call.ts'
import type { BlockContext, BlockErrorData, PartContext } from '../engine/block.ts'
import { type ModelParameters, requestPartOf } from './model-parameters.ts'
import { pauseBeforeRetry, spanAttempt } from './retry.ts'

export type Question = {
  params: ModelParameters
  messages: readonly ModelMessage[]
  tools: readonly ModelTool[]
  responseSchema?: Record<string, unknown> | undefined
  /** Whether the block streams the text. After the first piece, the call is not retried. */
  streams?: boolean
}

export type Turn = { tokens: Tokens; cost: CallCost } & (
  | { ok: true; response: ModelResponse }
  | { ok: false; error: BlockErrorData }
)

/** Calls a model, with retries, in a span of its own, and counts the cost. */
export function askModel(question: Question, context: BlockContext): Promise<Turn> {
  return new ModelTurn(question, context).run()
}

/** A class rather than closures, to save memory: thousands of calls may be waiting for models. */
class ModelTurn {
  readonly #question: Question
  readonly #context: BlockContext
  readonly #part: PartContext
  readonly #attempts: SpanAttempt[] = []
  #usage: ModelUsage
  /** Whether a piece of the text was streamed: then the call is not retried. */
  #isStreamed = false

  constructor(question: Question, context: BlockContext) {
    this.#question = question
    this.#context = context
    this.#part = context.part(question.params.model, 'model')
    this.#usage = noUsage(question.params.model)
  }

  async run(): Promise<Turn> {
    const { clock } = this.#context
    for (;;) {
      const startTime = clock.now()
      const startedAt = clock.monotonic()
      const outcome = await this.#ask()
      this.#usage = await counted(this.#usage, outcome, this.#context)
      const failure = outcome.ok ? undefined : outcome.failure
      const durationMs = clock.monotonic() - startedAt
      this.#attempts.push(spanAttempt(this.#attempts.length + 1, startTime, durationMs, failure ?? {}))
      if (outcome.ok) return this.#succeeded(outcome.response)
      const last = await this.#pause(outcome.failure)
      if (last) return this.#failed(last)
    }
  }

  async #ask(): Promise<ModelOutcome> {
    const { params, messages, tools, responseSchema } = this.#question
    const { credential = '' } = params
    return await this.#part.models.call({
      ...requestPartOf(params),
      ...(credential === '' ? {} : { authorization: await this.#context.credential(credential) }),
      messages,
      tools,
      ...(responseSchema ? { responseSchema } : {}),
      signal: this.#context.signal,
      workspaceId: this.#context.run.workspaceId,
      onText: (text) => this.#take(text),
      onThinking: (text) => this.#think(text),
    })
  }

  #take(text: string): void {
    if (!this.#question.streams) return
    this.#isStreamed = true
    this.#context.chunk(text)
  }

  #think(text: string): void {
    if (this.#question.streams) this.#context.agentEvent({ kind: 'thinking', text })
  }

  /** Waits until the next attempt. Resolves with the failure if there is none. */
  async #pause(failure: ModelFailure): Promise<ModelFailure | undefined> {
    const { signal } = this.#context
    const attempts = this.#attempts.length
    if (!failure.mayPass || this.#isStreamed || signal.aborted || attempts > this.#question.params.retries)
      return failure
    const pause = await pauseBeforeRetry(attempts, failure.retryAfter, this.#context)
    if (pause === 'again') return undefined
    return pause === 'ended' ? failure : { ...failure, message: `${failure.message}; ${pause.refusal}` }
  }

  #succeeded(response: ModelResponse): Turn {
    const { text, toolCalls, finish } = response
    const calls = toolCalls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given }))
    this.#end({ output: { content: text, toolCalls: calls, finish } })
    const { tokens, cost } = this.#usage
    return { ok: true, response, tokens, cost }
  }

  #failed({ code, message }: ModelFailure): Turn {
    const status = this.#context.signal.aborted ? 'cancelled' : 'error'
    this.#end({ status, error: { code, message } })
    const { tokens, cost } = this.#usage
    return { ok: false, error: { code, message, attempts: this.#attempts.length }, tokens, cost }
  }

  #end(notes: SpanNotes): void {
    const { messages, tools } = this.#question
    const input = { messages, ...(tools.length > 0 ? { tools: tools.map(({ name }) => name) } : {}) }
    this.#part.end({ input, ...notes, attempts: this.#attempts, usage: this.#usage })
  }
}

function noUsage(model: string): ModelUsage {
  return { model, tokens: noTokens, cost: { input: 0, output: 0, total: 0 }, timeToFirstTokenMs: null }
}

/** Counts the usage of an attempt, even of a failed one. An attempt that was refused before it started used nothing. */
async function counted(sum: ModelUsage, outcome: ModelOutcome, context: BlockContext): Promise<ModelUsage> {
  const { model } = sum
  const { tokens: reported, firstTokenMs } = outcome
  if (!reported && !outcome.ok && firstTokenMs === null) return sum
  const price = context.priceOf(model)
  const used: ModelUsage = {
    ...noUsage(model),
    timeToFirstTokenMs: firstTokenMs,
    ...(price ? {} : { costUnknown: true }),
    ...(reported ? {} : { tokensUnknown: true }),
  }
  if (reported) {
    used.tokens = {
      prompt: reported.prompt,
      completion: reported.completion,
      total: reported.prompt + reported.completion,
    }
    if (price) used.cost = priceTokens(reported, price)
  }
  await context.spend(used)
  return { ...sum, ...used, tokens: addTokens(sum.tokens, used.tokens), cost: addCallCost(sum.cost, used.cost) }
}

export function addCallCost(a: CallCost, b: CallCost): CallCost {
  return { input: addUsd(a.input, b.input), output: addUsd(a.output, b.output), total: addUsd(a.total, b.total) }
}
