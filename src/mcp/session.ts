import { McpError } from '../domain/mcp-server.ts'
import { isObject } from '../domain/run/input.ts'
import type { Bounds } from './link.ts'
import { type Incoming, type Outgoing, resultOf } from './rpc.ts'
import type { Transport } from './transport.ts'

/** The versions of the protocol that this client knows, the newest first. */
const protocolVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

type SessionOptions = {
  transport: Transport
  host: string
  clientVersion: string
  /** A number that no other request of the server's session has. */
  newId(): number
  /** Called when the server says that its tools have changed. */
  toolsChanged(): void
}

/** A conversation with a server. Rejects with `McpError`. */
export class McpSession {
  readonly #options: SessionOptions
  /** The last progress that the server reported, for messages. */
  #progress = ''
  #replies = 0

  constructor(options: SessionOptions) {
    this.#options = options
  }

  get progress(): string {
    return this.#progress
  }

  /** Agrees on a version. Must come first in a new session. */
  async initialize(bounds: Bounds): Promise<void> {
    const { transport, host, clientVersion } = this.#options
    const result = await this.request(
      'initialize',
      {
        protocolVersion: protocolVersions[0],
        capabilities: {},
        clientInfo: { name: 'millrace', title: 'Millrace', version: clientVersion },
      },
      bounds,
    )
    const version = result['protocolVersion']
    if (typeof version !== 'string' || !protocolVersions.includes(version)) {
      const said = JSON.stringify(version)?.slice(0, 50) ?? 'none'
      const known = protocolVersions.join(', ')
      throw new McpError('MCP_ERROR', `The MCP server ${host} uses version ${said} of the protocol, not ${known}.`)
    }
    transport.agreed(version)
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' }, bounds)
  }

  /** Resolves with the result. Tells the server when nobody waits for it any more. */
  async request(method: string, params: Record<string, unknown>, bounds: Bounds): Promise<Record<string, unknown>> {
    const { transport, host, newId } = this.#options
    const id = newId()
    const progressToken = `${id}`
    const sent = { ...params, _meta: { progressToken } }
    const received = (message: Incoming) => this.#receive(message, progressToken, bounds)
    try {
      return resultOf(await transport.request({ jsonrpc: '2.0', id, method, params: sent }, bounds, received), host)
    } catch (error) {
      const isGivenUp = bounds.signal.aborted || (error instanceof McpError && error.code === 'TIMEOUT')
      if (isGivenUp && method !== 'initialize') this.#cancel(id, bounds.signal.aborted ? 'cancelled' : 'timeout')
      throw error
    }
  }

  /** The caller does not wait for this, so a hanging server delays no run. */
  #cancel(requestId: number, reason: string): void {
    const { transport } = this.#options
    const params = { requestId, reason }
    const bounds = { timeoutMs: () => farewellMs, signal: new AbortController().signal }
    void transport
      .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, bounds)
      .catch(() => undefined)
      .finally(() => transport.close())
  }

  #receive(message: Incoming, progressToken: string, bounds: Bounds): void {
    const { method, id, params } = message
    if (method === 'notifications/tools/list_changed') this.#options.toolsChanged()
    else if (method === 'notifications/progress' && isObject(params) && params['progressToken'] === progressToken)
      this.#progress = progressText(params)
    else if (typeof method === 'string' && (typeof id === 'string' || typeof id === 'number'))
      this.#reply(method, id, bounds)
  }

  /** Replies to a request of the server. This client only supports `ping`. */
  #reply(method: string, id: string | number, bounds: Bounds): void {
    this.#replies += 1
    if (this.#replies > repliesMax) return
    const error = { code: -32_601, message: `This client does not support ${method.slice(0, 100)}.` }
    const reply: Outgoing = { jsonrpc: '2.0', id, ...(method === 'ping' ? { result: {} } : { error }) }
    void this.#options.transport.send(reply, bounds).catch(() => undefined)
  }
}

/** Replies to requests of the server while it works on one question. Each is a request of its own. */
const repliesMax = 20
/** For the last message to a server. */
const farewellMs = 5_000

function progressText({ progress, total, message }: Record<string, unknown>): string {
  const share = typeof progress === 'number' ? `${progress}${typeof total === 'number' ? ` of ${total}` : ''}` : ''
  const said = typeof message === 'string' ? message.slice(0, 200) : ''
  return [share, said].filter((part) => part !== '').join(', ')
}
