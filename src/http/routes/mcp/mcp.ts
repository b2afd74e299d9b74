import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import type { RunObserver } from '../../../domain/run/run-observer.ts'
import { assertMay, type Caller, workspacesOf } from '../../access/auth.ts'
import { allowSilence, disconnect, type ServerPort } from '../../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../../access/door.ts'
import { type CheckedKey, requireKeyOrBearer } from '../../access/key-or-bearer.ts'
import { assertOwnOrigin } from '../../access/mcp-origin.ts'
import type { PeerCall } from '../../peers/peers.ts'
import { parseJsonBody, readBody } from '../../requests/body.ts'
import { uncountedBytes } from '../../requests/body-budget.ts'
import { respondWithBody } from '../../responses/json-text.ts'
import type { Services } from '../../services.ts'
import { EventStream, eventStreamHeaders } from '../../streams/event-stream.ts'
import { createManualStart } from '../editor/manual-start.ts'
import { type ApiCall, apiCallOf, type ToolRequests } from './api-call.ts'
import { type CallInFlight, CallsInFlight, callIdOf } from './calls-in-flight.ts'
import { elicitedIn, placeIn, showsForms } from './elicitation.ts'
import { ExposedWorkflows } from './exposed-workflows.ts'
import {
  errorText,
  isId,
  type RpcAnswer,
  RpcError,
  type RpcId,
  type RpcMessage,
  readMessage,
  resultText,
  rpcCodes,
} from './json-rpc.ts'
import { continuePaused, giveAnswer, type PausedCall } from './paused-call.ts'
import { protocolVersions, respondTo, type Session } from './protocol.ts'
import { progressOf } from './run-progress.ts'
import { callWorkflow } from './workflow-call.ts'

type Exchange = { request: Request; set: ResponseSet; server: ServerPort | null }
/** Who sent a message. */
type Sender = {
  keyId: string
  apiKey: string
  caller: Caller
  workspaceId: string
  session: string
  api: ApiCall
  /** The length of the message. */
  chars: number
}
const metadataPath = '/.well-known/oauth-protected-resource'

/**
 * The MCP server, over streamable HTTP: `/mcp` and `/mcp/<workspace>`. Every request is complete in itself, so any
 * process can respond to it.
 */
export function mcpRoutes(services: Services, door: Door, { fetch, turns }: ToolRequests) {
  const { settings, clock, peers } = services
  const calls = new CallsInFlight(settings.shareFactor)
  peers.keep('mcp-call', (id) => calls.has(id))
  const exposed = new ExposedWorkflows(services.store)
  const startRun = createManualStart(services)
  const inTurn: Session['inTurn'] = (work) => turns.run(work)
  const hidden = { parse: 'none', detail: { hide: true } } as const
  return new Elysia()
    .post('/mcp', ({ request, set, server }) => handle({ request, set, server }, undefined), hidden)
    .post(
      '/mcp/:workspaceId',
      ({ request, set, server, params }) => handle({ request, set, server }, params.workspaceId),
      hidden,
    )
    .get(metadataPath, ({ request, set }) => metadata(request, set, '/mcp'), hidden)
    .get(`${metadataPath}/mcp`, ({ request, set }) => metadata(request, set, '/mcp'), hidden)
    .get(
      `${metadataPath}/mcp/:workspaceId`,
      ({ request, set, params }) => metadata(request, set, `/mcp/${encodeURIComponent(params.workspaceId)}`),
      hidden,
    )

  async function handle(exchange: Exchange, named: string | undefined): Promise<unknown> {
    const { request, set } = exchange
    door.allowAnonymous(request, set)
    assertOwnOrigin(request, settings.baseUrl())
    const path = named === undefined ? '/mcp' : `/mcp/${encodeURIComponent(named)}`
    const metadata = `${settings.baseUrl()}${metadataPath}${path}`
    const key = await requireKeyOrBearer(services, door, exchange, metadata)
    assertVersion(request.headers)
    try {
      const text = await readBody(request, settings.body)
      const body = await parseJsonBody(request, text, settings.body)
      return await handleMessage(exchange, key, { named, body, chars: text.length })
    } finally {
      settings.body.budget.release(request)
    }
  }

  async function handleMessage(
    exchange: Exchange,
    key: CheckedKey,
    { named, body, chars }: { named: string | undefined; body: unknown; chars: number },
  ): Promise<unknown> {
    const { request, set } = exchange
    const message = readMessage(body)
    const workspaceId = workspaceOf(key.row, named)
    const sender: Sender = {
      ...{ keyId: key.row.id, apiKey: key.apiKey(), caller: { ...key.row, workspaceId }, workspaceId },
      ...{ session: sessionOf(request.headers), api: apiCallOf(fetch, key.apiKey), chars },
    }
    if (!('answered' in message) && message.id !== undefined)
      return await respond(exchange, sender, message, message.id)
    const elsewhere =
      'answered' in message
        ? await takeAnswer(exchange, sender, message, body)
        : await cancelCall(exchange, sender, message, body)
    if (elsewhere) return elsewhere
    set.status = 202
    return ''
  }

  /** Cancels a call, in whichever process it is. */
  async function cancelCall(
    exchange: Exchange,
    { keyId, session }: Sender,
    { method, params: { requestId } }: RpcMessage,
    body: unknown,
  ): Promise<Response | undefined> {
    if (method !== 'notifications/cancelled' || !isId(requestId)) return undefined
    const id = callIdOf({ keyId, session, id: requestId })
    if (calls.cancel(id)) return undefined
    return await peers.forward(exchange as PeerCall, { kind: 'mcp-call', id }, { body, isVital: false })
  }

  /** Takes the answer to a question. Without a call that waits for it, it still answers the paused run. */
  async function takeAnswer(
    exchange: Exchange,
    { keyId, api, workspaceId }: Sender,
    { answered, result }: RpcAnswer,
    body: unknown,
  ): Promise<Response | undefined> {
    const place = placeIn(answered)
    if (!place) return undefined
    const given = elicitedIn(result)
    if (calls.answer(place.callId, { keyId, question: answered, given })) return undefined
    const elsewhere = await peers.forward(exchange as PeerCall, { kind: 'mcp-call', id: place.callId }, { body })
    if (elsewhere) return elsewhere
    const pause = given.action === 'cancel' ? undefined : await services.store.getPause(place.contextId)
    if (pause?.workspaceId === workspaceId) await giveAnswer(api, pause, given)
    return undefined
  }

  /** Responds to a request: with JSON, or with events when the client gets more than the result. */
  async function respond(exchange: Exchange, sender: Sender, message: RpcMessage, id: RpcId): Promise<unknown> {
    const { request, set, server } = exchange
    if (message.method === 'initialize') set.headers['mcp-session-id'] = newSession(message)
    allowSilence(request, server)
    const token = progressTokenOf(message)
    // A run may wait for a person for hours, so nothing large may wait with it.
    const isAsking =
      message.method === 'tools/call' && sender.session.endsWith(asking) && sender.chars <= uncountedBytes
    const events = (token !== undefined || isAsking) && acceptsEvents(request.headers) ? eventsOf(exchange) : undefined
    const send = events && ((text: string) => events.message(text))
    const progress = send && token !== undefined ? progressOf(token, send) : undefined
    const answering = calls.run({ ...sender, id }, (call) => {
      const ask = isAsking && send ? { send, note: progress?.note } : undefined
      const session = sessionFor(exchange, sender, call, ask)
      return answer(session, message, id, progress?.observer)
    })
    if (!events) return respondWithBody(set, services.unsent.body(sender.workspaceId, await answering))
    answering.then(
      (text) => events.end(text),
      (thrown: unknown) => {
        door.onAborted(request, thrown)
        events.end(errorText(id, new RpcError(rpcCodes.internal, 'Internal error')))
      },
    )
    const headers = { ...(set.headers as Record<string, string>), ...eventStreamHeaders }
    return sendAsIs(set, new Response(events as unknown as ReadableStream, { headers }))
  }

  function eventsOf({ request, server }: Exchange): EventStream {
    const { streamBufferBytes } = services.runs.execute.settings
    return new EventStream({
      clock,
      bytesWaitingMax: streamBufferBytes,
      onOverflow: () => disconnect(request, server),
    })
  }

  /** `ask`: sends questions of paused runs to the client. Undefined when it cannot show them. */
  function sessionFor(
    exchange: Exchange,
    { caller, workspaceId, api, apiKey, chars }: Sender,
    call: CallInFlight,
    ask: Pick<PausedCall, 'send' | 'note'> | undefined,
  ): Session {
    const { request } = exchange
    const { signal } = call
    const version = request.headers.get('mcp-protocol-version') ?? ''
    const left = AbortSignal.any([signal, request.signal])
    const paused = ask && { services, caller, api, call, left, version, ...ask }
    return {
      ...{ services, caller, workspaceId, exposed, startRun, inTurn, signal, api, chars },
      callWorkflow(workflowId, given, observer) {
        // The execute endpoint counts the arguments itself.
        settings.body.budget.release(request)
        return callWorkflow({
          ...{ ...exchange, services: services.runs.execute, door, apiKey, workflowId, arguments: given },
          ...{ signal, observer, continuePaused: paused && ((executionId) => continuePaused(paused, executionId)) },
        })
      },
    }
  }

  function metadata(request: Request, set: ResponseSet, path: string) {
    door.allowAnonymous(request, set)
    const base = settings.baseUrl()
    return {
      resource: `${base}${path}`,
      resource_name: 'Millrace',
      authorization_servers: [base],
      scopes_supported: ['mcp'],
      bearer_methods_supported: ['header'],
      resource_documentation: `${base}/docs/mcp`,
    }
  }
}

/** The message of the response. Rejects for bugs and outages only. */
async function answer(
  session: Session,
  message: RpcMessage,
  id: RpcId,
  observer: RunObserver | undefined,
): Promise<string> {
  try {
    return resultText(id, await respondTo(session, message, observer))
  } catch (thrown) {
    if (thrown instanceof RpcError) return errorText(id, thrown)
    throw thrown
  }
}

/** The workspace that the address names, or the only one that the key reaches. */
function workspaceOf(caller: Caller, named: string | undefined): string {
  const reached = workspacesOf(caller)
  if (named === undefined && reached.length > 1) {
    const message = 'This key reaches several workspaces. Use the address /mcp/<workspace ID> of one of them.'
    const details = reached.slice(0, 20).map((id) => ({ path: 'workspaceId', message: `/mcp/${id}` }))
    throw new AppError('INVALID_PARAMETERS', message, { details })
  }
  const workspaceId = named ?? reached[0]
  assertMay(caller, workspaceId, 'read', 'workspace')
  return workspaceId as string
}

function assertVersion(headers: Headers): void {
  const version = headers.get('mcp-protocol-version')
  if (version === null || protocolVersions.some((each) => each === version)) return
  const message = `MCP-Protocol-Version is "${version.slice(0, 50)}". This server knows ${protocolVersions.join(', ')}.`
  throw new AppError('INVALID_PARAMETERS', message)
}

/** The name of the client's session. It only keeps its requests apart from those of others with the same key. */
function sessionOf(headers: Headers): string {
  return (headers.get('mcp-session-id') ?? '').slice(0, 100)
}

/** The end of the name of a session whose client can ask its user. The service stores nothing about sessions. */
const asking = '.asks'

function newSession({ params }: RpcMessage): string {
  return crypto.randomUUID() + (showsForms(params['capabilities']) ? asking : '')
}

function progressTokenOf({ method, params }: RpcMessage): RpcId | undefined {
  const meta = params['_meta']
  const token = method === 'tools/call' && isObject(meta) ? meta['progressToken'] : undefined
  return isId(token) ? token : undefined
}

function acceptsEvents(headers: Headers): boolean {
  return (headers.get('accept') ?? '').includes('text/event-stream')
}
