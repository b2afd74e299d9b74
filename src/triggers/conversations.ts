import type { ChatMessage } from '../domain/chat.ts'
import type { Clock } from '../domain/clock.ts'
import type { ChatWrite } from '../domain/write.ts'

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

/** What was said in chats, sealed where it is stored: people write what they like, and models answer with what they know. */
export class Conversations {
  readonly #options: ConversationsOptions

  constructor(options: ConversationsOptions) {
    this.#options = options
  }

  /** The latest messages, the oldest of them first. None of a conversation that nobody has begun. */
  async history({ workflowId, conversationId, messagesMax }: Conversation): Promise<ChatMessage[]> {
    if (messagesMax === 0) return []
    const { listTurns, open } = this.#options
    const turns = await listTurns(workflowId, conversationId, turnsOf(messagesMax))
    const context = contextOf(workflowId, conversationId)
    const said = turns.flatMap((sealed) => JSON.parse(open(sealed, context)) as ChatMessage[]).slice(-messagesMax)
    // Some models take no conversation that begins with an answer.
    const first = said.findIndex(({ role }) => role === 'user')
    return first === -1 ? [] : said.slice(first)
  }

  /** Keeps what was said and what was answered. Resolves when that is on disk. */
  async keep({ workflowId, conversationId, messagesMax }: Conversation, turn: readonly ChatMessage[]): Promise<void> {
    if (messagesMax === 0) return
    const { write, seal, clock } = this.#options
    const content = seal(JSON.stringify(turn), contextOf(workflowId, conversationId))
    await write({ kind: 'chat', workflowId, conversationId, at: clock.now(), kept: turnsOf(messagesMax), content })
  }
}

/** A turn is two messages. */
function turnsOf(messages: number): number {
  return Math.ceil(messages / 2)
}

/** What is sealed of a conversation opens for this one only. */
function contextOf(workflowId: string, conversationId: string): string {
  return `chat/${workflowId}/${conversationId}`
}
