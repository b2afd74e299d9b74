import type { Clock } from '../domain/clock.ts'
import type { ChatMessage } from '../domain/run/input.ts'
import type { ChatWrite } from '../domain/run/write.ts'

export type ConversationsOptions = {
  listTurns(workflowId: string, conversationId: string, limit: number): Promise<Uint8Array[]>
  /** Resolves when it is on disk. */
  write(write: ChatWrite): Promise<unknown>
  seal(text: string, context: string): Uint8Array
  open(sealed: Uint8Array, context: string): string
  clock: Clock
}

/** A conversation, and how many of its messages are remembered. */
export type Conversation = { workflowId: string; conversationId: string; messagesMax: number }

/** The messages of chats. They are sealed in the store, because they may contain private data. */
export class Conversations {
  readonly #options: ConversationsOptions

  constructor(options: ConversationsOptions) {
    this.#options = options
  }

  /** The latest messages, oldest first. Empty for an unknown conversation. */
  async history({ workflowId, conversationId, messagesMax }: Conversation): Promise<ChatMessage[]> {
    if (messagesMax === 0) return []
    const { listTurns, open } = this.#options
    const turns = await listTurns(workflowId, conversationId, turnsOf(messagesMax))
    const context = conversationContext(workflowId, conversationId)
    const said = turns.flatMap((sealed) => JSON.parse(open(sealed, context)) as ChatMessage[]).slice(-messagesMax)
    // Some models reject conversations that start with a reply.
    const first = said.findIndex(({ role }) => role === 'user')
    return first === -1 ? [] : said.slice(first)
  }

  /** Stores a message and its reply. Resolves when both are on disk. */
  async keep({ workflowId, conversationId, messagesMax }: Conversation, turn: readonly ChatMessage[]): Promise<void> {
    if (messagesMax === 0) return
    const { write, seal, clock } = this.#options
    const content = seal(JSON.stringify(turn), conversationContext(workflowId, conversationId))
    await write({ kind: 'chat', workflowId, conversationId, at: clock.now(), kept: turnsOf(messagesMax), content })
  }
}

/** A turn is two messages. */
function turnsOf(messages: number): number {
  return Math.ceil(messages / 2)
}

/** Ties sealed messages to their conversation. */
export function conversationContext(workflowId: string, conversationId: string): string {
  return `chat/${workflowId}/${conversationId}`
}
