import { block, document } from '../../../support/make.ts'
import { ModelServer, type SeenRequest } from '../../../support/models/model-server.ts'
import { ExecutionWorld } from '../execution-world.ts'

/** The whole service, with chats whose agents repeat the message, and the variable CHAT_PASSWORD. */
export class ChatWorld {
  readonly executions: ExecutionWorld
  readonly server: ModelServer
  #names = 0

  static async open(flags: Record<string, string> = {}): Promise<ChatWorld> {
    const own = { 'outbound-allow': 'loopback', 'body-bytes-max-files': '40000' }
    const executions = await ExecutionWorld.open({ ...own, ...flags })
    const variable = { method: 'PUT', body: { value: 'open sesame' } }
    await executions.call(`/api/workspaces/${executions.workspaceId}/environment/CHAT_PASSWORD`, variable)
    return new ChatWorld(executions, await ModelServer.start((request) => parrot(request)))
  }

  private constructor(executions: ExecutionWorld, server: ModelServer) {
    this.executions = executions
    this.server = server
  }

  async close(): Promise<void> {
    await this.executions.close()
    await this.server[Symbol.asyncDispose]()
  }

  newName(): string {
    this.#names += 1
    return `chat-${this.#names}`
  }

  /** Deploys a chat. Returns its identifier. */
  async chat(params: Record<string, unknown> = {}, agent: Record<string, unknown> = {}): Promise<string> {
    const identifier = this.newName()
    const asked = { provider: 'openai-compatible', model: 'm', baseUrl: this.server.url, retries: 0 }
    const blocks = [
      block('talk', 'chat_trigger', { identifier, access: 'public', ...params }),
      block('ask', 'agent', { ...asked, systemPrompt: 'Repeat.', userPrompt: '<chat.input>', ...agent }),
    ]
    await this.executions.deploy(document({ name: identifier, blocks, edges: ['talk > ask'] }))
    return identifier
  }

  say(identifier: string, body: unknown, headers: Record<string, string> = {}, key: string | null = null) {
    return this.executions.call(`/api/chat/${identifier}`, { body, key, headers })
  }

  /** The last prompt that the model received. */
  get told(): { role: string; content: string }[] {
    return this.server.requests.at(-1)?.body['messages'] as { role: string; content: string }[]
  }
}

/** A fake model: its text is the number of messages that it received, and the last one. */
function parrot({ body }: SeenRequest) {
  const messages = body['messages'] as { role: string; content: string }[]
  return { text: [`${messages.length}: `, String(messages.at(-1)?.content)], usage: { prompt: 5, completion: 5 } }
}
