import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import type { Cost } from '../domain/run/cost.ts'
import type { TriggerKind } from '../domain/workflow/workflow.ts'

/** The workflow of a chat, and its workspace. */
export type Chat = { workspaceId: string; workflowId: string }

export type ChatBudgetOptions = {
  /** The cost of a workflow's chat runs that were recorded since a time, in USD. */
  getChatCost(chat: Chat, since: number): Promise<number>
  /** The most that a public chat may cost in a day. */
  usdPerDay: number
  /** Called when a chat reaches the limit. */
  onReached(workflowId: string): void
  clock: Clock
  chatsMax?: number
}

/**
 * The cost of chats in this day (UTC). Each sum is read from the log once a day and updated with each run, so that a
 * message needs no query. The cost of runs in flight is not known yet, so a chat can exceed its limit by that much.
 */
export class ChatBudget {
  readonly #options: ChatBudgetOptions
  /** By workflow, in the order in which they were read. */
  readonly #days = new Map<string, Day>()

  constructor(options: ChatBudgetOptions) {
    this.#options = options
  }

  /** Rejects with USAGE_LIMIT_EXCEEDED when the chat has reached its limit for today, or with the store's errors. */
  async assertWithin(chat: Chat): Promise<void> {
    const { usdPerDay } = this.#options
    const day = this.#today(chat.workflowId) ?? this.#begin(chat)
    if (day.reading) await day.reading
    if (day.usd < usdPerDay) return
    const message =
      `The chat has reached its limit of ${usdPerDay} USD for today (UTC). Try again tomorrow, or raise ` +
      'MILLRACE_PUBLIC_CHAT_USD_PER_DAY.'
    throw new AppError('USAGE_LIMIT_EXCEEDED', message)
  }

  /** Other processes may have added costs: sums that are not recent are read again when they are next used. */
  refresh(): void {
    const before = this.#options.clock.now() - refreshMs
    for (const [workflowId, day] of this.#days) if (day.readAt < before) this.#days.delete(workflowId)
  }

  /** Counts a run that was just recorded. */
  add({ workflowId, trigger, cost }: RecordedRun): void {
    if (trigger !== 'chat' || cost.total === 0) return
    const day = this.#today(workflowId)
    if (!day) return
    // A sum being read may or may not include this cost, so it is read again.
    day.isStale = true
    if (!day.reading) this.#set(workflowId, day, day.usd + cost.total)
  }

  #today(workflowId: string): Day | undefined {
    const day = this.#days.get(workflowId)
    return day?.start === startOfDay(this.#options.clock.now()) ? day : undefined
  }

  #begin(chat: Chat): Day {
    const { clock, chatsMax = 10_000 } = this.#options
    const now = clock.now()
    const day: Day = { start: startOfDay(now), readAt: now, usd: 0, isStale: false, reading: undefined }
    this.#days.delete(chat.workflowId)
    this.#days.set(chat.workflowId, day)
    forgetOldest(this.#days, chatsMax)
    day.reading = this.#read(chat, day)
    return day
  }

  async #read(chat: Chat, day: Day): Promise<void> {
    try {
      let usd: number
      do {
        day.isStale = false
        usd = await this.#options.getChatCost(chat, day.start)
      } while (day.isStale)
      day.reading = undefined
      this.#set(chat.workflowId, day, usd)
    } catch (error) {
      if (this.#days.get(chat.workflowId) === day) this.#days.delete(chat.workflowId)
      throw error
    }
  }

  #set(workflowId: string, day: Day, usd: number): void {
    const { usdPerDay, onReached } = this.#options
    if (day.usd < usdPerDay && usd >= usdPerDay) onReached(workflowId)
    day.usd = usd
  }
}

/** The part of a run's record that is used. */
type RecordedRun = { workflowId: string; trigger: TriggerKind; cost: Pick<Cost, 'total'> }
/** `start` and `readAt`: epoch milliseconds. `reading`: set while the sum is being read. */
type Day = { start: number; readAt: number; usd: number; isStale: boolean; reading: Promise<void> | undefined }

/** A sum is read from the log, so not for every message. */
const refreshMs = 30_000
const dayMs = 86_400_000

function startOfDay(now: number): number {
  return now - (now % dayMs)
}
