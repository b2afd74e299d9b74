import type { ChatMessage, TriggerInput } from '../domain/run/input.ts'
import type { RunRecord } from '../domain/run/log.ts'
import { type ChatParameters, endedReply } from '../domain/workflow/chat.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'
import type { Conversation } from './conversations.ts'

export type LateRepliesOptions = {
  keep(conversation: Conversation, turn: readonly ChatMessage[]): Promise<void>
  onFailure(executionId: string, cause: unknown): void
}

/** A run that continued without its caller and has ended. */
export type LateRun = { document: WorkflowDocument; chat: ChatParameters; input: TriggerInput; record: RunRecord }

/** Adds the replies of chat runs that have paused to their conversations, when the runs end. */
export class LateReplies {
  readonly #options: LateRepliesOptions

  constructor(options: LateRepliesOptions) {
    this.#options = options
  }

  /** Never rejects; failures go to `onFailure`. */
  async ended({ document, chat, input: { input }, record }: LateRun): Promise<void> {
    const { input: text, conversationId } = input
    if (record.failure || typeof text !== 'string' || typeof conversationId !== 'string') return
    const { workflowId, executionId } = record
    const turn: ChatMessage[] = [
      { role: 'user', content: text },
      { role: 'assistant', content: endedReply(document, record.output) },
    ]
    const conversation = { workflowId, conversationId, messagesMax: chat.historyMax }
    await this.#options.keep(conversation, turn).catch((cause: unknown) => this.#options.onFailure(executionId, cause))
  }
}
