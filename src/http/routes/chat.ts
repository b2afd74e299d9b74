import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { newExecutionId } from '../../domain/ids.ts'
import { networkOf } from '../../domain/network.ts'
import type { ChatMessage } from '../../domain/run/input.ts'
import type { ChatParameters } from '../../domain/workflow/chat.ts'
import type { Plan } from '../../engine/compile/plan.ts'
import type { Deployment } from '../../engine/deployments.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'
import type { RunRequest } from '../../engine/run/runner.ts'
import type { Upload } from '../../files/upload.ts'
import { isPassword } from '../../triggers/chat-password.ts'
import { headerTexts } from '../../triggers/header-texts.ts'
import { hideLimits, isAnonymous, sorry, withoutDetails } from '../access/anonymous-chat.ts'
import { assertMay, roleOf } from '../access/auth.ts'
import { addressOf, allowSilence, disconnect, type ServerPort } from '../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../access/door.ts'
import { assertAllowed, showWindow } from '../access/rate-headers.ts'
import { toAppError } from '../errors.ts'
import { chatDetail, chatFactsDetail } from '../openapi/chat-operation.ts'
import { parseJsonBody, readChunks } from '../requests/body.ts'
import { uncountedBytes } from '../requests/body-budget.ts'
import { type ChatBody, chatInput, readChatBody } from '../requests/chat-body.ts'
import { chatResponse, Listening } from '../responses/chat-response.ts'
import type { ChatServices } from '../run-services.ts'
import { streamRun } from '../streams/run-stream.ts'

const chatPath = '/api/chat/:identifier'

/** `/api/chat/<identifier>`: conversations with a workflow. */
export function chatRoutes(services: ChatServices, door: Door) {
  return new Elysia()
    .post(chatPath, (context) => handle(services, door, context, respond), { parse: 'none', detail: chatDetail })
    .get(chatPath, (context) => handle(services, door, context, describe), { detail: chatFactsDetail })
}

type Context = { request: Request; params: { identifier: string }; server: ServerPort | null; set: ResponseSet }

/** A request whose chat has been found. */
type Call = {
  services: ChatServices
  door: Door
  request: Request
  server: ServerPort | null
  set: ResponseSet
  /** The headers of `set`, which the response carries. */
  headers: Record<string, string>
  deployment: Deployment
  plan: Plan
  chat: ChatParameters
}

async function handle(
  services: ChatServices,
  door: Door,
  { request, params, server, set }: Context,
  respond: (call: Call) => Promise<Response>,
): Promise<Response> {
  door.allowAnonymous(request, set)
  const found = await find(services, params.identifier, request, server)
  door.note(request, { workflowId: found.deployment.workflowId })
  const headers = set.headers as Record<string, string>
  return sendAsIs(set, await respond({ services, door, request, server, set, headers, ...found }))
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

/** Whether the caller's key or session gives access. */
async function isKnown(call: Call): Promise<boolean> {
  try {
    await assertWelcome(call)
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
  const { services, request, headers, deployment, chat } = call
  const { limits, clock, settings } = services
  await assertWelcome(call)
  const { workspaceId, workflowId } = deployment
  const visitor = visitorOf(call)
  if (isAnonymous(chat)) {
    assertAllowed(limits.takeChatVisitor(workflowId, visitor), clock.now(), 'messages from your address')
  }
  const owner = await limits.account(deployment.ownerId)
  // Before the body is read: anyone may send one to a public chat.
  const window = limits.take('sync', owner)
  showWindow(headers, window)
  assertAllowed(window, clock.now())
  await hideLimits(chat, async () => {
    limits.assertWithinUsage(owner)
    if (chat.access === 'public') await services.budget.assertWithin({ workspaceId, workflowId })
  })
  // Files are spooled to disk and may be larger; text stays in memory.
  const [text, all] = isAnonymous(chat)
    ? [settings.anonymousBody, settings.anonymousBodyWithFiles]
    : [settings.body, settings.bodyWithFiles]
  const { files, budget } = all
  const limited = isAnonymous(chat) ? { ...all, visitor } : all
  const upload = await services.receiveFiles(readChunks(request, all), ['files'], { text: text.bytes, files })
  try {
    if (upload.text.length > uncountedBytes) budget.add(request, upload.text.length, limited.visitor)
    const body = upload.text === '' ? {} : await parseJsonBody(request, upload.text, limited)
    return await run(call, readChatBody(body, call.plan, isAnonymous(chat)), upload)
  } catch (error) {
    await upload.takeBack(error)
    throw error
  } finally {
    budget.release(request)
    await upload.discard()
  }
}

/** Throws when the caller may not use the chat. */
async function assertWelcome(call: Call): Promise<void> {
  const { services, door, request, set, deployment, chat } = call
  if (chat.access === 'public') return
  if (chat.access === 'key') {
    const caller = await door.requireKeyOrSession(request, set)
    if (roleOf(caller, deployment.workspaceId) === undefined) {
      // The response must look the same as for an address that does not exist.
      delete call.headers['set-cookie']
      throw noChat()
    }
    assertMay(caller, deployment.workspaceId, 'execute', 'chat')
    return
  }
  const { clock, environmentOf, limits, logger } = services
  const { values } = await environmentOf(deployment.workspaceId)
  // Nothing is awaited from here on: otherwise parallel guesses would all be checked before one is counted.
  const who = `${deployment.workflowId} ${visitorOf(call)}`
  assertAllowed(limits.peekWrongPassword(who), clock.now(), 'wrong passwords')
  const given = request.headers.get('x-chat-password')
  if (given === null || given === '') {
    throw new AppError('INVALID_CREDENTIALS', 'This chat needs a password: send it in the header X-Chat-Password.')
  }
  const isRight = passwordTexts(given).map((text) => isPassword(text, chat.password ?? '', values))
  if (isRight.includes(true)) return
  limits.takeWrongPassword(who)
  if (isRight.includes(undefined)) {
    logger.error('a chat refuses everyone: the variable of its password is not set', {
      workflowId: deployment.workflowId,
    })
  }
  throw new AppError('INVALID_CREDENTIALS', 'The password is wrong.')
}

/**
 * Browsers cannot send characters beyond Latin-1 in a header, so the page percent-encodes it. Programs send it as is.
 */
function passwordTexts(header: string): string[] {
  try {
    return [...headerTexts(header), decodeURIComponent(header)]
  } catch {
    return headerTexts(header)
  }
}

async function run(call: Call, body: ChatBody, upload: Upload): Promise<Response> {
  const { services, door, headers, deployment, plan, chat, request, server } = call
  const { conversations, inSlices, settings, clock, logger } = services
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
    const end = await services.execute(started)
    const facts = await remember(end)
    return await chatResponse(isAnonymous(chat) ? withoutDetails(end) : end, facts, { headers, inSlices })
  }
  return await streamRun({
    request: started,
    selected: body.stream,
    execute: services.execute,
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

/** The network that a message comes from. */
function visitorOf({ request, server }: Call): string {
  return networkOf(addressOf(request, server))
}

function noChat(): AppError {
  return new AppError('NOT_FOUND', 'There is no chat at this address, or none that you may see.')
}
