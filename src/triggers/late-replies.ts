import type { ChatMessage, TriggerInput } from '../domain/run/input.ts'
import type { ChatParameters } from '../domain/workflow/chat.ts'
import type { Plan } from '../engine/compile/plan.ts'
import type { RunEnd } from '../engine/run/run-end.ts'
import type { Conversation } from './conversations.ts'
import { endedReply } from './ended-reply.ts'

export type LateRepliesOptions = {
  keep(conversation: Conversation, turn: readonly ChatMessage[]): Promise<void>
  onFailure(executionId: string, cause: unknown): void
}

/** A run that continued without its caller, and has ended. */
export type LateRun = { plan: Plan; input: TriggerInput; end: RunEnd }

/** Adds the replies of chat runs that have paused to their conversations: nobody waited for them. */
export class LateReplies {
  readonly #options: LateRepliesOptions

  constructor(options: LateRepliesOptions) {
    this.#options = options
  }

  /** Never rejects. */
  async ended({ plan, input: { input }, end: { record } }: LateRun): Promise<void> {
    const chat = plan.triggers.get('chat')?.params as ChatParameters | undefined
    const { input: text, conversationId } = input
    if (record.failure || !chat || typeof text !== 'string' || typeof conversationId !== 'string') return
    const { workflowId, executionId } = record
    const turn: ChatMessage[] = [
      { role: 'user', content: text },
      { role: 'assistant', content: endedReply(plan, record.output) },
    ]
    const conversation = { workflowId, conversationId, messagesMax: chat.historyMax }
    await this.#options.keep(conversation, turn).catch((cause: unknown) => this.#options.onFailure(executionId, cause))
  }
}
