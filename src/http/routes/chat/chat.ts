import { Elysia } from 'elysia'
import { newExecutionId } from '../../../domain/ids.ts'
import type { ChatMessage } from '../../../domain/run/input.ts'
import type { ChatParameters } from '../../../domain/workflow/chat.ts'
import type { Deployment } from '../../../engine/deployments.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import type { RunRequest } from '../../../engine/run/run-request.ts'
import type { Upload } from '../../../files/upload.ts'
import { hideLimits, withoutDetails } from '../../access/anonymous-caller.ts'
import { isAnonymous, sorry } from '../../access/anonymous-chat.ts'
import { type ChatCall, ChatReception, noChat } from '../../access/chat-reception.ts'
import { addressOf, allowSilence, disconnect, type ServerPort, visitorOf } from '../../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../../access/door.ts'
import { assertAllowed, showWindow } from '../../access/rate-headers.ts'
import { toAppError } from '../../errors.ts'
import { chatDetail, chatFactsDetail, lateReplyDetail } from '../../openapi/chat-operation.ts'
import { type ChatBody, chatInput } from '../../requests/chat-body.ts'
import { chatResponse, Listening } from '../../responses/chat-response.ts'
import { pausedResponse } from '../../responses/pauses/paused-response.ts'
import type { ChatServices } from '../../run-services.ts'
import { streamRun } from '../../streams/run-stream.ts'
import { lateReplyOf } from './late-reply.ts'

const chatPath = '/api/chat/:identifier'

/** `/api/chat/<identifier>`: conversations with a workflow. */
export function chatRoutes(services: ChatServices, door: Door) {
  const reception = new ChatReception(services, door)
  const chats = { services, reception, door }
  return new Elysia()
    .post(chatPath, (context) => handle(chats, context, respond), { parse: 'none', detail: chatDetail })
    .get(chatPath, (context) => handle(chats, context, describe), { detail: chatFactsDetail })
    .get(`${chatPath}/runs/:executionId`, (context) => handle(chats, context, (call) => replyLater(call, context)), {
      detail: lateReplyDetail,
    })
}

type Chats = { services: ChatServices; reception: ChatReception; door: Door }

type Context = { request: Request; params: { identifier: string }; server: ServerPort | null; set: ResponseSet }

type LateContext = Context & { params: { executionId: string } }

/** A request whose chat has been found. */
type Call = Chats & ChatCall & { deployment: Deployment }

async function handle(
  chats: Chats,
  { request, params, server, set }: Context,
  respond: (call: Call) => Promise<Response>,
): Promise<Response> {
  const { services, door } = chats
  door.allowAnonymous(request, set)
  const found = await find(services, params.identifier, request, server)
  door.note(request, { workflowId: found.deployment.workflowId })
  const headers = set.headers as Record<string, string>
  return sendAsIs(set, await respond({ ...chats, request, server, set, headers, workflow: found.deployment, ...found }))
}

async function find({ at, limits, clock }: ChatServices, name: string, request: Request, server: ServerPort | null) {
  const deployment = await at({ kind: 'chat', name })
  const plan = deployment?.plan
  const trigger = plan?.triggers.get('chat')
  if (deployment && plan && trigger) return { deployment, plan, chat: trigger.params as ChatParameters }
  // Limits attempts to guess addresses.
  assertAllowed(limits.takeRefused(addressOf(request, server)), clock.now())
  throw noChat()
}

/** Responds with what the page shows before the first message. */
async function describe(call: Call): Promise<Response> {
  const { access, title = null, greeting = null } = call.chat
  const mayTalk = access === 'public' || (access === 'key' && (await isKnown(call)))
  call.headers['content-type'] = 'application/json'
  return new Response(JSON.stringify({ access, title, greeting, mayTalk }), { headers: call.headers })
}

/** Responds with the reply of a run that has paused. */
async function replyLater(call: Call, { params: { executionId } }: LateContext): Promise<Response> {
  await call.reception.assertWelcome(call)
  const late = await lateReplyOf({ ...call, executionId, sorry: isAnonymous(call.chat) ? sorry : undefined })
  call.headers['content-type'] = 'application/json'
  call.headers['cache-control'] = 'no-store'
  return new Response(JSON.stringify(late), { headers: call.headers })
}

/** Whether the caller's key or session gives access. */
async function isKnown(call: Call): Promise<boolean> {
  try {
    await call.reception.assertWelcome(call)
    return true
  } catch (error) {
    const { code } = toAppError(error)
    if (refusals.has(code)) return false
    throw error
  }
}

const refusals: ReadonlySet<string> = new Set([
  ...['API_KEY_REQUIRED', 'INVALID_API_KEY', 'SIGN_IN_REQUIRED', 'FORBIDDEN', 'NOT_FOUND'],
])

async function respond(call: Call): Promise<Response> {
  const { services, reception, headers, deployment, chat } = call
  const { limits, clock } = services
  await reception.admit(call)
  const { workspaceId, workflowId } = deployment
  const owner = await limits.account(deployment.ownerId)
  // Before the body is read: anyone may send one to a public chat.
  const window = limits.take('sync', owner)
  showWindow(headers, window)
  assertAllowed(window, clock.now())
  await hideLimits(hidden(chat), async () => {
    limits.assertWithinUsage(owner)
    if (chat.access === 'public') await services.budget.assertWithin({ workspaceId, workflowId })
  })
  return await reception.receive(call, (body, upload) => run(call, body, upload))
}

function hidden(chat: ChatParameters) {
  return { isAnonymous: isAnonymous(chat), message: 'This chat accepts no more messages for now.' }
}

async function run(call: Call, body: ChatBody, upload: Upload): Promise<Response> {
  const { services, door, headers, deployment, plan, chat, request, server } = call
  const { conversations, inSlices, unsent, settings, clock, logger } = services
  const { workflowId, workspaceId, version } = deployment
  const { conversationId } = body
  const given = chatInput(body, [])
  upload.check(given)
  const conversation = { workflowId, conversationId, messagesMax: chat.historyMax }
  const history = body.isNew ? [] : await conversations.history(conversation)
  const visitor = chat.access === 'public' ? visitorOf(call) : undefined
  services.assertAccepting(workspaceId, visitor)
  const executionId = newExecutionId()
  const stored = await upload.store(chatInput(body, history), { workspaceId, workflowId, executionId })
  const input = { ...stored, history }
  headers['x-execution-id'] = executionId
  headers['x-conversation-id'] = conversationId
  door.note(request, { executionId })
  const listening = new Listening(plan)
  const callerSignal = () => {
    // A run may take longer than the server's idle timeout.
    allowSilence(request, server)
    return settings.cancelOnDisconnect ? request.signal : undefined
  }
  const facts = { executionId, plan, workflowId, workspaceId, version: version ?? 0, trigger: 'chat' as const, input }
  const started: RunRequest = { ...facts, visitor, observer: listening, callerSignal }
  const remember = async (end: RunEnd) => {
    const reply = listening.replyOf(end)
    const { failure } = end.record
    if (failure) {
      door.note(request, { runCode: failure.code })
      return { ...(isAnonymous(chat) && { error: sorry }), reply: '', conversationId }
    }
    const turn: ChatMessage[] = [
      { role: 'user', content: body.text },
      { role: 'assistant', content: reply },
    ]
    // The reply is sent even when the conversation cannot be stored.
    await conversations.keep(conversation, turn).catch((cause: unknown) => {
      logger.error('a chat message could not be stored', { executionId, cause })
    })
    return { reply, conversationId }
  }
  if (!body.stream) {
    const end = await hideLimits(hidden(chat), () => services.execute(started))
    if (end.suspension) return pausedResponse(end, headers, { conversationId })
    const facts = await remember(end)
    return await chatResponse(isAnonymous(chat) ? withoutDetails(end, sorry) : end, facts, {
      headers,
      inSlices,
      unsent,
    })
  }
  return await streamRun({
    request: started,
    selected: body.stream,
    execute: (request) => hideLimits(hidden(chat), () => services.execute(request)),
    inSlices,
    clock,
    callerSignal: callerSignal(),
    bytesWaitingMax: settings.streamBufferBytes,
    disconnect: () => disconnect(request, server),
    headers,
    lost: (error) => door.onAborted(request, error),
    more: remember,
  })
}
