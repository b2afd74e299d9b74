import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import type { RunObserver } from '../../../domain/run/run-observer.ts'
import { assertMay, type Caller, workspacesOf } from '../../access/auth.ts'
import { allowSilence, disconnect, type ServerPort } from '../../access/connection.ts'
import { type Door, type ResponseSet, sendAsIs } from '../../access/door.ts'
import { requireKeyOrBearer } from '../../access/key-or-bearer.ts'
import { readJsonBody } from '../../requests/body.ts'
import { respondWithBody } from '../../responses/json-text.ts'
import type { Services } from '../../services.ts'
import { EventStream, eventStreamHeaders } from '../../streams/event-stream.ts'
import { createManualStart } from '../editor/manual-start.ts'
import { apiCallOf } from './api-call.ts'
import { type CallKey, CallsInFlight } from './calls-in-flight.ts'
import { ExposedWorkflows } from './exposed-workflows.ts'
import {
  errorText,
  isId,
  RpcError,
  type RpcId,
  type RpcMessage,
  readMessage,
  resultText,
  rpcCodes,
} from './json-rpc.ts'
import { protocolVersions, respondTo, type Session } from './protocol.ts'
import { progressOf } from './run-progress.ts'
import { callWorkflow } from './workflow-call.ts'

type Exchange = { request: Request; set: ResponseSet; server: ServerPort | null }
const metadataPath = '/.well-known/oauth-protected-resource'

/**
 * The MCP server, over streamable HTTP: `/mcp` and `/mcp/<workspace>`. Every request is complete in itself, so any
 * process can respond to it. `fetch` handles requests of the API.
 */
export function mcpRoutes(services: Services, door: Door, fetch: (request: Request) => Promise<Response> | Response) {
  const { settings, clock } = services
  const calls = new CallsInFlight()
  const exposed = new ExposedWorkflows(services.store)
  const startRun = createManualStart(services)
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
    const key = await requireKeyOrBearer(services, door, exchange, `${settings.baseUrl()}${metadataPath}`)
    assertVersion(request.headers)
    const message = readMessage(await readJsonBody(request, settings.body))
    const workspaceId = workspaceOf(key.row, named)
    const call = { keyId: key.row.id, session: sessionOf(request.headers) }
    if (message?.id === undefined) {
      if (message?.method === 'notifications/cancelled') cancel(call, message)
      set.status = 202
      return ''
    }
    const { id } = message
    if (message.method === 'initialize') set.headers['mcp-session-id'] = crypto.randomUUID()
    return await calls.run({ ...call, id }, async (signal) => {
      const caller = { ...key.row, workspaceId }
      const session: Session = {
        ...{ services, caller, workspaceId, exposed, startRun, signal, api: apiCallOf(fetch, key.text) },
        callWorkflow: (workflowId, given, observer) =>
          callWorkflow({
            ...{ ...exchange, services: services.runs.execute, door, apiKey: key.text },
            ...{ workflowId, arguments: given, signal, observer },
          }),
      }
      allowSilence(request, exchange.server)
      const token = progressTokenOf(message)
      if (token !== undefined && acceptsEvents(request.headers))
        return streamed(exchange, session, message, { id, token })
      const text = await answer(session, message, id, undefined)
      return respondWithBody(set, services.unsent.body(workspaceId, text))
    })
  }

  function cancel(call: Omit<CallKey, 'id'>, { params }: RpcMessage): void {
    const { requestId } = params
    if (isId(requestId)) calls.cancel({ ...call, id: requestId })
  }

  /** The response as events, with the progress of the run before the result. */
  function streamed(
    exchange: Exchange,
    session: Session,
    message: RpcMessage,
    { id, token }: { id: RpcId; token: RpcId },
  ): Response {
    const { request, set, server } = exchange
    const { streamBufferBytes } = services.runs.execute.settings
    const stream = new EventStream({
      clock,
      bytesWaitingMax: streamBufferBytes,
      onOverflow: () => disconnect(request, server),
    })
    const observer = progressOf(token, (text) => stream.message(text))
    answer(session, message, id, observer).then(
      (text) => stream.end(text),
      (thrown: unknown) => {
        door.onAborted(request, thrown)
        stream.end(errorText(id, new RpcError(rpcCodes.internal, 'Internal error')))
      },
    )
    const headers = { ...(set.headers as Record<string, string>), ...eventStreamHeaders }
    return sendAsIs(set, new Response(stream as unknown as ReadableStream, { headers }))
  }

  function metadata(request: Request, set: ResponseSet, path: string) {
    door.allowAnonymous(request, set)
    const base = settings.baseUrl()
    return {
      resource: `${base}${path}`,
      resource_name: 'Millrace',
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

function progressTokenOf({ method, params }: RpcMessage): RpcId | undefined {
  const meta = params['_meta']
  const token = method === 'tools/call' && isObject(meta) ? meta['progressToken'] : undefined
  return isId(token) ? token : undefined
}

function acceptsEvents(headers: Headers): boolean {
  return (headers.get('accept') ?? '').includes('text/event-stream')
}
