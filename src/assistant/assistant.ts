import type { Timer } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { addTokens, noTokens, type Tokens } from '../domain/run/cost.ts'
import type { AssistantModel } from './assistant-model.ts'
import { DailyTokens, repliesMax, replyLimits } from './budget.ts'
import { Reply, type ReplyOptions, type ReplyRequest } from './reply.ts'

export type AssistantOptions = ReplyOptions & {
  /** For one account, in a day. */
  tokensPerDay: number
}

/**
 * The assistant of the editor: replies with the operator's language model. It keeps nothing of a conversation; only the
 * replies in progress and the tokens of this day are in memory.
 */
export class Assistant {
  readonly #options: AssistantOptions
  readonly #daily: DailyTokens
  /** The replies in progress, by account. */
  readonly #byAccount = new Map<string, number>()
  readonly #stops = new Set<AbortController>()
  readonly #running = new Set<Promise<void>>()
  #replies = 0
  #tokens: Tokens = noTokens

  constructor(options: AssistantOptions) {
    this.#options = options
    this.#daily = new DailyTokens(options.tokensPerDay, () => options.clock.now())
  }

  get model(): Pick<AssistantModel, 'provider' | 'model'> {
    const { provider, model } = this.#options.model
    return { provider, model }
  }

  /** Since the start of the service. */
  get counts(): { replies: number; promptTokens: number; completionTokens: number } {
    return { replies: this.#replies, promptTokens: this.#tokens.prompt, completionTokens: this.#tokens.completion }
  }

  /**
   * Begins a reply. Throws when the account or the service has too many of them, or when the account has used the
   * tokens of this day. `done` resolves when it has ended, and rejects for bugs and outages only.
   */
  reply(userId: string, request: ReplyRequest): { done: Promise<void> } {
    this.#assertFree(userId)
    this.#byAccount.set(userId, (this.#byAccount.get(userId) ?? 0) + 1)
    const done = this.#run(userId, request)
    this.#running.add(done)
    const forget = () => this.#running.delete(done)
    done.then(forget, forget)
    return { done }
  }

  /** Ends the replies in progress. */
  async stop(): Promise<void> {
    for (const controller of this.#stops) controller.abort()
    await Promise.allSettled(this.#running)
  }

  #assertFree(userId: string): void {
    if (this.#running.size >= repliesMax.total) {
      const message = `The assistant already works on ${repliesMax.total} requests. Try again in a moment.`
      throw new AppError('OVERLOADED', message, { retryAfterS })
    }
    if ((this.#byAccount.get(userId) ?? 0) >= repliesMax.perAccount) {
      const message = `The assistant already works on ${repliesMax.perAccount} of your requests. Wait for one to end, or stop it.`
      throw new AppError('RATE_LIMIT_EXCEEDED', message, { retryAfterS })
    }
    if (!this.#daily.isUsedUp(userId)) return
    const message =
      'Your account has used all tokens that the assistant may use in a day (UTC). Try again tomorrow, or ask the ' +
      'operator to raise MILLRACE_ASSISTANT_TOKENS_PER_DAY.'
    throw new AppError('USAGE_LIMIT_EXCEEDED', message)
  }

  async #run(userId: string, request: ReplyRequest): Promise<void> {
    const { clock } = this.#options
    const controller = new AbortController()
    this.#stops.add(controller)
    let timer: Timer | undefined
    let isLate = false
    const signal = AbortSignal.any([request.signal, controller.signal])
    const reply = new Reply(this.#options, { ...request, signal })
    try {
      timer = clock.setTimer(replyLimits.timeoutMs, () => {
        isLate = true
        controller.abort()
      })
      await reply.run()
      if (!controller.signal.aborted || request.signal.aborted) return
      const late = `The reply took longer than ${replyLimits.timeoutMs / 60_000} minutes. Ask the assistant to continue.`
      const failure = isLate
        ? { code: 'TIMEOUT', message: late }
        : { code: 'OVERLOADED', message: 'The service is stopping.' }
      request.emit({ event: 'failed', ...failure })
    } finally {
      timer?.cancel()
      this.#stops.delete(controller)
      this.#replies += 1
      this.#tokens = addTokens(this.#tokens, reply.tokens)
      this.#daily.add(userId, reply.tokens.total)
      const others = (this.#byAccount.get(userId) ?? 1) - 1
      if (others > 0) this.#byAccount.set(userId, others)
      else this.#byAccount.delete(userId)
    }
  }
}

const retryAfterS = 5
