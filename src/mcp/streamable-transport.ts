import { type Clock, sleep } from '../domain/clock.ts'
import { McpError } from '../domain/mcp-server.ts'
import type { OutboundStream } from '../domain/outbound-request.ts'
import type { Bounds, Link } from './link.ts'
import { type Incoming, type Outgoing, type RpcRequest, readMessages, responseIdOf } from './rpc.ts'
import type { Transport } from './transport.ts'

/** A session that a server keeps for this client. `id`: undefined when the server keeps none. */
export type StreamableSession = { id: string | undefined; version: string }

/** Streamable HTTP: each message is a POST, whose response is JSON or an event stream. */
export class StreamableTransport implements Transport {
  readonly #link: Link
  readonly #clock: Clock
  #session: StreamableSession | undefined

  constructor(link: Link, clock: Clock, session?: StreamableSession) {
    this.#link = link
    this.#clock = clock
    this.#session = session
  }

  get session(): StreamableSession | undefined {
    return this.#session
  }

  agreed(version: string): void {
    this.#session = { id: this.#session?.id, version }
  }

  close(): void {}

  async send(message: Outgoing, bounds: Bounds): Promise<void> {
    // A reply to the server belongs to a request that has a slot already.
    const response = await this.#post(message, bounds, { takesNoSlot: true })
    response.body.close()
  }

  async request(message: RpcRequest, bounds: Bounds, received: (message: Incoming) => void): Promise<Incoming> {
    const response = await this.#post(message, bounds)
    if (message.method === 'initialize') this.#session = { id: sessionIdOf(response), version: '' }
    if (typeOf(response) === 'text/event-stream') return await this.#fromStream(response, message.id, bounds, received)
    const { access, host } = this.#link
    const text = await this.#link.text(response)
    return await this.#responseIn(await readMessages(text, host, access.inSlices), message.id, received)
  }

  /** Tells the server that nobody will use the session again. A server may refuse this. */
  async end(bounds: Bounds): Promise<void> {
    if (this.#session?.id === undefined) return
    const { url } = this.#link.access
    const response = await this.#link.open({ url, method: 'DELETE', headers: this.#sessionHeaders() }, bounds)
    response.body.close()
  }

  async #post(message: Outgoing, bounds: Bounds, more: { takesNoSlot?: true } = {}): Promise<OutboundStream> {
    const headers = [
      ['content-type', 'application/json'],
      ['accept', 'application/json, text/event-stream'],
      ...this.#sessionHeaders(),
    ] as const
    const { url } = this.#link.access
    const request = { url, method: 'POST', headers, body: JSON.stringify(message), ...more }
    const response = await this.#link.open(request, bounds)
    if (response.status >= 300) throw await this.#link.refusal(response)
    return response
  }

  #sessionHeaders(): (readonly [string, string])[] {
    const { id, version = '' } = this.#session ?? {}
    return [
      ...(id === undefined ? [] : [['mcp-session-id', id] as const]),
      ...(version === '' ? [] : [['mcp-protocol-version', version] as const]),
    ]
  }

  /** Reads events until the response is there. If the stream ends before, asks for the rest of it. */
  async #fromStream(
    first: OutboundStream,
    id: number,
    bounds: Bounds,
    received: (message: Incoming) => void,
  ): Promise<Incoming> {
    const { access, host } = this.#link
    let response = first
    let last: string | undefined
    let retryMs = retryMsUsual
    for (let breaks = 0; ; breaks += 1) {
      let failure: McpError | undefined
      try {
        for await (const event of this.#link.events(response)) {
          last = event.id ?? last
          retryMs = Math.min(event.retryMs ?? retryMs, retryMsMax)
          if (event.type !== 'message' || event.data === '') continue
          breaks = 0
          const found = await this.#find(await readMessages(event.data, host, access.inSlices), id, received)
          if (found) return found
        }
      } catch (error) {
        if (!(error instanceof McpError) || error.code !== 'CONNECTION_FAILED') throw error
        failure = error
      }
      if (last === undefined || breaks >= breaksMax) throw failure ?? endedEarly(host)
      await sleep(this.#clock, Math.min(retryMs, Math.max(0, bounds.timeoutMs())), bounds.signal).catch(() => {
        throw new McpError('CANCELLED', 'The request was cancelled')
      })
      const headers = [['accept', 'text/event-stream'], ['last-event-id', last], ...this.#sessionHeaders()] as const
      response = await this.#link.open({ url: access.url, method: 'GET', headers }, bounds)
      if (response.status !== 200) throw failure ?? endedEarly(host)
    }
  }

  async #responseIn(messages: Incoming[], id: number, received: (message: Incoming) => void): Promise<Incoming> {
    const found = await this.#find(messages, id, received)
    if (found) return found
    throw new McpError('INVALID_RESPONSE', `The MCP server ${this.#link.host} responded to another request.`)
  }

  async #find(messages: Incoming[], id: number, received: (message: Incoming) => void): Promise<Incoming | undefined> {
    let found: Incoming | undefined
    for (const message of messages) {
      if (responseIdOf(message) === id) found ??= message
      else received(message)
    }
    return found
  }
}

/** How often a stream may break without a message in between. */
const breaksMax = 5
const retryMsUsual = 1_000
const retryMsMax = 10_000

function endedEarly(host: string): McpError {
  return new McpError('INVALID_RESPONSE', `The MCP server ${host} ended its response without a result.`)
}

function typeOf({ headers }: OutboundStream): string {
  return String(headers['content-type'] ?? '')
    .split(';')[0]!
    .trim()
    .toLowerCase()
}

/** The session's ID, if it can be sent back in a header. */
function sessionIdOf({ headers }: OutboundStream): string | undefined {
  const id = headers['mcp-session-id']
  return typeof id === 'string' && /^[\x21-\x7e]{1,1000}$/.test(id) ? id : undefined
}
