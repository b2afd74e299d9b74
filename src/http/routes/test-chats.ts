import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { RunObserver } from '../../domain/run/run-observer.ts'
import type { ChatParameters } from '../../domain/workflow/chat.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'
import type { Upload } from '../../files/upload.ts'
import type { WorkflowRow } from '../../store/workflow-store.ts'
import { type ChatCall, ChatReception } from '../access/chat-reception.ts'
import { addressOf, allowSilence, disconnect, type ServerPort } from '../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../access/door.ts'
import { assertAllowed } from '../access/rate-headers.ts'
import { alreadyTaken, workflowAt } from '../access/test-address.ts'
import { forwardTestRequest } from '../peers/test-requests.ts'
import { readBytes } from '../requests/body.ts'
import type { ChatBody } from '../requests/chat-body.ts'
import { copyOf, takenMessage } from '../requests/taken-message.ts'
import type { TakenRequest } from '../requests/taken-request.ts'
import { chatResponse, Listening } from '../responses/chat-response.ts'
import { findingsError } from '../responses/findings-error.ts'
import type { Services } from '../services.ts'
import { streamRun } from '../streams/run-stream.ts'
import { createManualStart } from './editor/manual-start.ts'

type Context = { request: Request; params: { token: string }; server: ServerPort | null; set: ResponseSet }

/**
 * `/api/chat/test/<token>`: one real message to the chat trigger of a draft, while somebody listens. The draft runs
 * with it, and the sender gets the reply. The conversation is not stored.
 */
export function testChatRoutes(services: Services, door: Door) {
  const { clock, manual, listeners, peers } = services
  const { chats } = services.runs
  const reception = new ChatReception(chats, door)
  const startManualRun = createManualStart(services)
  return new Elysia().post(
    '/api/chat/test/:token',
    async ({ request, params: { token }, server, set }: Context) => {
      door.allowAnonymous(request, set)
      const call = { request, server, set }
      const elsewhere = await forwardTestRequest({ peers, listeners, limits: chats.limits, clock }, call, token)
      if (elsewhere) return elsewhere
      return sendAsIs(set, await receive({ request, token, server, set }))
    },
    { parse: 'none' as const, detail: { hide: true } },
  )

  async function receive({ token, ...call }: Pick<ChatCall, 'request' | 'server' | 'set'> & { token: string }) {
    const { request, server, set } = call
    const workflow = await workflowAt(services, 'chat', token)
    if (!workflow) {
      // Limits attempts to guess addresses.
      assertAllowed(chats.limits.takeRefused(addressOf(request, server)), clock.now())
      throw new AppError('NOT_FOUND', 'Nobody listens at this test address any more. Listen again in the editor.')
    }
    const { id: workflowId, workspaceId, document } = workflow
    door.note(request, { workflowId })
    const { plan, findings } = await manual.compile(document, workspaceId, { trigger: 'chat', through: [] })
    const trigger = plan?.triggers.get('chat')
    if (!plan || !trigger) throw findingsError(findings, 'run')
    const headers = set.headers as Record<string, string>
    const chat = trigger.params as ChatParameters
    const full: ChatCall = { ...call, headers, workflow: { workflowId, workspaceId }, plan, chat }
    await reception.admit(full)
    const { body, taken } = await take(full)
    if (!listeners.take(token, taken)) {
      throw alreadyTaken('chat')
    }
    return await respond(full, { workflow, body, taken })
  }

  /** Reads the message. It stays in memory, so its files count against the limit of the body. */
  async function take(call: ChatCall): Promise<{ body: ChatBody; taken: TakenRequest }> {
    const { request, workflow, chat } = call
    const { text, all } = reception.limitsFor(call)
    try {
      const bytes = await readBytes(request, { ...all, bytes: chats.settings.body.bytes })
      const read = async (body: ChatBody, upload: Upload) => {
        const { conversationId } = body
        const conversation = { workflowId: workflow.workflowId, conversationId, messagesMax: chat.historyMax }
        const history = body.isNew ? [] : await chats.conversations.history(conversation)
        const limits = { text: text.bytes, files: all.files }
        const received = { bytes, body, upload, history, at: clock.now() }
        return { body, taken: takenMessage(received, { receiveFiles: chats.receiveFiles, limits }) }
      }
      return await reception.receive(call, read, () => copyOf(bytes))
    } finally {
      all.budget.release(request)
    }
  }

  async function respond(
    { request, server, headers, plan }: ChatCall,
    { workflow, body, taken }: { workflow: WorkflowRow; body: ChatBody; taken: TakenRequest },
  ): Promise<Response> {
    const { conversationId } = body
    const executionId = newExecutionId()
    headers['x-execution-id'] = executionId
    headers['x-conversation-id'] = conversationId
    door.note(request, { executionId })
    allowSilence(request, server)
    const execute = async (observer: RunObserver): Promise<RunEnd> => {
      const { ending } = await startManualRun(workflow, { trigger: 'chat' }, { taken, executionId, observer })
      const end = await ending
      if (!end) throw new AppError('STORAGE_UNAVAILABLE', 'The run could not be recorded.')
      return end
    }
    const listening = new Listening(plan)
    const replyTo = (end: RunEnd) => ({ reply: end.record.failure ? '' : listening.replyOf(end), conversationId })
    const { inSlices, unsent } = chats
    if (!body.stream) {
      const end = await execute(listening)
      return await chatResponse(end, replyTo(end), { headers, inSlices, unsent })
    }
    const { id: workflowId, workspaceId } = workflow
    const facts = { executionId, plan, workflowId, workspaceId, version: 0, trigger: 'chat' as const }
    return await streamRun({
      request: { ...facts, input: { input: {}, fields: {} }, observer: listening },
      selected: body.stream,
      execute: ({ observer }) => execute(observer ?? listening),
      inSlices,
      clock,
      // The run goes on without its caller, like every manual run.
      callerSignal: undefined,
      bytesWaitingMax: chats.settings.streamBufferBytes,
      disconnect: () => disconnect(request, server),
      headers,
      lost: (error) => door.onAborted(request, error),
      more: async (end) => replyTo(end),
    })
  }
}
