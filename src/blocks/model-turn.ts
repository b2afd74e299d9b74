import { backoffMs, delayWithRetryAfter, retryAfterMs } from '../domain/backoff.ts'
import { sleep } from '../domain/clock.ts'
import {
  addTokens,
  addUsd,
  type CallCost,
  type ModelUsage,
  noTokens,
  priceTokens,
  type Tokens,
} from '../domain/cost.ts'
import type { SpanAttempt } from '../domain/log.ts'
import type { ModelAnswer, ModelFailure, ModelMessage, ModelOutcome, ModelTool } from '../domain/model-call.ts'
import type { BlockContext, BlockErrorData } from '../engine/block.ts'
import { type ModelParameters, selectionOf } from './model-parameters.ts'

export type Question = {
  params: ModelParameters
  messages: readonly ModelMessage[]
  tools: readonly ModelTool[]
  responseSchema?: Record<string, unknown> | undefined
  /** Where the text goes as it is generated: from the first piece on, the question is not asked again. */
  onText?: (text: string) => void
}

export type Turn = { tokens: Tokens; cost: CallCost } & (
  | { ok: true; answer: ModelAnswer }
  | { ok: false; error: BlockErrorData }
)

/** Asks a model one question, again where that may help, in a span of its own; what it costs is counted. */
export async function askModel(question: Question, context: BlockContext): Promise<Turn> {
  const { params, messages, tools } = question
  const part = context.part(params.model, 'model')
  const attempts: SpanAttempt[] = []
  let usage = noUsage(params.model)
  const outcome = await answerOf(question, context, attempts, async (each) => {
    usage = await counted(usage, each, context)
  })
  const { tokens, cost } = usage
  const input = { messages, ...(tools.length > 0 ? { tools: tools.map(({ name }) => name) } : {}) }
  if (outcome.ok) {
    const { text, toolCalls, finish } = outcome.answer
    const calls = toolCalls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given }))
    part.end({ input, output: { content: text, toolCalls: calls, finish }, attempts, usage })
    return { ok: true, answer: outcome.answer, tokens, cost }
  }
  const { code, message } = outcome.failure
  const status = context.signal.aborted ? 'cancelled' : 'error'
  part.end({ input, status, error: { code, message }, attempts, usage })
  return { ok: false, error: { code, message, attempts: attempts.length }, tokens, cost }
}

async function answerOf(
  question: Question,
  context: BlockContext,
  attempts: SpanAttempt[],
  count: (outcome: ModelOutcome) => Promise<void>,
): Promise<ModelOutcome> {
  const { params, messages, tools, responseSchema, onText } = question
  const { clock, signal } = context
  for (;;) {
    const startTime = clock.now()
    const startedAt = clock.monotonic()
    let isStreamed = false
    const outcome = await context.models.call({
      ...selectionOf(params),
      messages,
      tools,
      ...(responseSchema ? { responseSchema } : {}),
      signal,
      onText(text) {
        if (!onText) return
        isStreamed = true
        onText(text)
      },
    })
    await count(outcome)
    const failure = outcome.ok ? undefined : outcome.failure
    attempts.push(spanAttempt(attempts.length + 1, startTime, clock.monotonic() - startedAt, failure))
    if (!failure?.mayPass || isStreamed || signal.aborted || attempts.length > params.retries) return outcome
    const asked = retryAfterMs(failure.retryAfter, clock.now())
    const delayMs = delayWithRetryAfter(backoffMs(attempts.length, context.random()), asked)
    if (delayMs === undefined) {
      const wait = `it asks to wait ${Math.ceil(asked! / 1000)} s, which is longer than this block waits`
      return { ...outcome, ok: false, failure: { ...failure, message: `${failure.message}; ${wait}` } }
    }
    try {
      await sleep(clock, delayMs, signal)
    } catch {
      return outcome
    }
  }
}

function spanAttempt(number: number, startTime: number, durationMs: number, failure?: ModelFailure): SpanAttempt {
  const attempt: SpanAttempt = { number, startTime, durationMs: Math.round(durationMs * 1000) / 1000 }
  if (failure?.status !== undefined) attempt.status = failure.status
  if (failure) attempt.error = failure.message
  return attempt
}

function noUsage(model: string): ModelUsage {
  return { model, tokens: noTokens, cost: { input: 0, output: 0, total: 0 }, timeToFirstTokenMs: null }
}

/** What an attempt used is spent, whatever became of it. One that was refused before it began used nothing. */
async function counted(sum: ModelUsage, outcome: ModelOutcome, context: BlockContext): Promise<ModelUsage> {
  const { model } = sum
  const { tokens: told, firstTokenMs } = outcome
  if (!told && !outcome.ok && firstTokenMs === null) return sum
  const price = context.priceOf(model)
  const used: ModelUsage = {
    ...noUsage(model),
    timeToFirstTokenMs: firstTokenMs,
    ...(price ? {} : { costUnknown: true }),
    ...(told ? {} : { tokensUnknown: true }),
  }
  if (told) {
    used.tokens = { prompt: told.prompt, completion: told.completion, total: told.prompt + told.completion }
    if (price) used.cost = priceTokens(told, price)
  }
  await context.spend(used)
  return { ...sum, ...used, tokens: addTokens(sum.tokens, used.tokens), cost: addCallCost(sum.cost, used.cost) }
}

export function addCallCost(a: CallCost, b: CallCost): CallCost {
  return { input: addUsd(a.input, b.input), output: addUsd(a.output, b.output), total: addUsd(a.total, b.total) }
}
