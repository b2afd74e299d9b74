import { AppError } from '../../domain/errors.ts'
import type { ChatParameters } from '../../domain/workflow/chat.ts'
import type { Plan } from '../../engine/compile/plan.ts'
import type { Upload } from '../../files/upload.ts'
import { parseJsonBody, readChunks } from '../requests/body.ts'
import { uncountedBytes } from '../requests/body-budget.ts'
import type { BodyLimits } from '../requests/body-limits.ts'
import { type ChatBody, readChatBody } from '../requests/chat-body.ts'
import type { ChatServices } from '../run-services.ts'
import { isAnonymous } from './anonymous-chat.ts'
import { type ServerPort, visitorOf } from './connection.ts'
import type { Door, ResponseSet } from './door.ts'
import { assertMember } from './page-members.ts'
import { assertPassword } from './page-password.ts'
import { assertAllowed } from './rate-headers.ts'

export type ReceptionServices = Pick<
  ChatServices,
  'clock' | 'limits' | 'environmentOf' | 'logger' | 'settings' | 'receiveFiles'
>

/** A message to a chat. */
export type ChatCall = {
  request: Request
  server: ServerPort | null
  set: ResponseSet
  /** The headers of `set`, which the response carries. */
  headers: Record<string, string>
  workflow: { workflowId: string; workspaceId: string }
  plan: Plan
  chat: ChatParameters
}

/** Receives messages to chats: checks who is calling and the limits of visitors, and reads the body. */
export class ChatReception {
  readonly #services: ReceptionServices
  readonly #door: Door

  constructor(services: ReceptionServices, door: Door) {
    this.#services = services
    this.#door = door
  }

  /** Throws when the caller may not use the chat, or when an anonymous visitor sends too many messages. */
  async admit(call: ChatCall): Promise<void> {
    await this.assertWelcome(call)
    const { workflow, chat } = call
    if (!isAnonymous(chat)) return
    const { limits, clock } = this.#services
    const window = limits.takeChatVisitor(workflow.workflowId, visitorOf(call))
    assertAllowed(window, clock.now(), 'messages from your address')
  }

  /** Throws when the caller may not use the chat. */
  async assertWelcome(call: ChatCall): Promise<void> {
    const { request, set, workflow, chat } = call
    if (chat.access === 'public') return
    if (chat.access === 'key') {
      const { workspaceId } = workflow
      return await assertMember(this.#door, { request, set, workspaceId, kind: 'chat', missing: noChat() })
    }
    await assertPassword(this.#services, {
      ...{ request, ...workflow, visitor: visitorOf(call), password: chat.password ?? '' },
      ...{ kind: 'chat', header: 'X-Chat-Password' },
    })
  }

  /** Reads a message as it arrives. `use` gets its files, which are deleted afterwards if it does not store them. */
  async receive<Result>(
    call: ChatCall,
    use: (body: ChatBody, upload: Upload) => Promise<Result>,
    chunksOf: (limits: BodyLimits) => AsyncIterable<Uint8Array> = (limits) => readChunks(call.request, limits),
  ): Promise<Result> {
    const { request, plan, chat } = call
    const { text, all } = this.limitsFor(call)
    const { files, budget } = all
    const upload = await this.#services.receiveFiles(chunksOf(all), ['files'], { text: text.bytes, files })
    try {
      if (upload.text.length > uncountedBytes) budget.add(request, upload.text.length, all.visitor)
      const body = upload.text === '' ? {} : await parseJsonBody(request, upload.text, all)
      return await use(readChatBody(body, plan, isAnonymous(chat)), upload)
    } catch (error) {
      await upload.takeBack(error)
      throw error
    } finally {
      budget.release(request)
      await upload.discard()
    }
  }

  /** `text`: without the content of files, which are spooled to disk and may be larger. */
  limitsFor(call: ChatCall): { text: BodyLimits; all: BodyLimits } {
    const { body, bodyWithFiles, anonymousBody, anonymousBodyWithFiles } = this.#services.settings
    if (!isAnonymous(call.chat)) return { text: body, all: bodyWithFiles }
    return { text: anonymousBody, all: { ...anonymousBodyWithFiles, visitor: visitorOf(call) } }
  }
}

export function noChat(): AppError {
  return new AppError('NOT_FOUND', 'There is no chat at this address, or none that you may see.')
}
