import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'

/** A pixel, as a PNG file. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export type SeenMessage = {
  method: string
  session: string | undefined
  authorization: string | undefined
  traceparent: string | undefined
}

/** The server of the official SDK, with a few tools. */
export class SdkServer implements AsyncDisposable {
  readonly messages: SeenMessage[] = []
  /** Reasons of the calls that a client cancelled. */
  readonly cancelled: string[] = []
  /** The sessions that clients have ended. */
  readonly ended: string[] = []
  readonly #kind: 'streamable' | 'sse'
  readonly #token: string | undefined
  readonly #transports = new Map<string, StreamableHTTPServerTransport | SSEServerTransport>()
  readonly #servers: McpServer[] = []
  readonly #http = createServer((request, response) => void this.#serve(request, response))

  private constructor(kind: 'streamable' | 'sse', token: string | undefined) {
    this.#kind = kind
    this.#token = token
  }

  static async start(kind: 'streamable' | 'sse' = 'streamable', token?: string): Promise<SdkServer> {
    const server = new SdkServer(kind, token)
    await new Promise<void>((resolve) => server.#http.listen(0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`
  }

  count(method: string): number {
    return this.messages.filter((message) => message.method === method).length
  }

  /** Ends all sessions, as a restart does. */
  async forget(): Promise<void> {
    for (const server of this.#servers.splice(0)) await server.close()
    this.#transports.clear()
  }

  /** Adds a tool while clients are connected. */
  addTool(name: string): void {
    for (const server of this.#servers) server.registerTool(name, { description: 'Added later' }, () => text('new'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.forget()
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#token !== undefined && request.headers.authorization !== `Bearer ${this.#token}`) {
      response.writeHead(401).end('Sign in first')
      return
    }
    const body = request.method === 'POST' ? await jsonOf(request) : undefined
    const session = request.headers['mcp-session-id']?.toString()
    const { authorization } = request.headers
    const traceparent = request.headers['traceparent']?.toString()
    if (request.method === 'DELETE') this.ended.push(session ?? '')
    if (body) this.messages.push({ method: body['method'] as string, session, authorization, traceparent })
    if (this.#kind === 'sse') await this.#serveEvents(request, response, body)
    else await this.#serveStreamable(request, response, body, session)
  }

  async #serveStreamable(
    request: IncomingMessage,
    response: ServerResponse,
    body: Record<string, unknown> | undefined,
    session: string | undefined,
  ): Promise<void> {
    const known = this.#transports.get(session ?? '') as StreamableHTTPServerTransport | undefined
    if (known) return await known.handleRequest(request, response, body)
    if (body?.['method'] !== 'initialize') return void response.writeHead(404).end('No such session')
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#transports.set(id, transport),
    })
    await this.#connect(transport as Transport)
    await transport.handleRequest(request, response, body)
  }

  async #serveEvents(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url)
    if (request.method === 'GET' && pathname === '/mcp') {
      const transport = new SSEServerTransport('/messages', response)
      this.#transports.set(transport.sessionId, transport)
      return await this.#connect(transport)
    }
    const transport = this.#transports.get(searchParams.get('sessionId') ?? '') as SSEServerTransport | undefined
    if (pathname === '/messages' && transport) await transport.handlePostMessage(request, response, body)
    else response.writeHead(405).end()
  }

  async #connect(transport: Transport): Promise<void> {
    const server = new McpServer({ name: 'sdk', version: '1.0.0' })
    this.#servers.push(server)
    server.registerTool(
      'add',
      {
        description: 'Adds two numbers',
        inputSchema: { a: z.number(), b: z.number() },
        outputSchema: { sum: z.number() },
      },
      ({ a, b }) => ({ ...text(`${a + b}`), structuredContent: { sum: a + b } }),
    )
    server.registerTool('draw', { description: 'Draws a pixel' }, () => ({
      content: [
        { type: 'text', text: 'Here it is' },
        { type: 'image', data: png, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///notes/today.csv', mimeType: 'text/csv', blob: btoa('a,b') } },
      ],
    }))
    server.registerTool('break', { description: 'Always fails' }, () => ({ ...text('It is broken'), isError: true }))
    server.registerTool('wait', { description: 'Never ends' }, async ({ signal, sendNotification, _meta }) => {
      const progress = { progressToken: _meta?.progressToken ?? '', progress: 3, total: 10, message: 'half asleep' }
      await sendNotification({ method: 'notifications/progress', params: progress })
      if (!signal.aborted) await once(signal, 'abort')
      this.cancelled.push(String(signal.reason))
      return text('cancelled')
    })
    server.registerTool('grow', { description: 'Adds a tool' }, async ({ sendNotification }) => {
      this.addTool('fresh')
      await sendNotification({ method: 'notifications/tools/list_changed' })
      return text('grown')
    })
    await server.connect(transport)
  }
}

function text(said: string) {
  return { content: [{ type: 'text' as const, text: said }] }
}

async function jsonOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>
}
