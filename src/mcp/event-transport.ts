import { McpError } from '../domain/mcp-server.ts'
import type { StreamEvent } from './event-reader.ts'
import type { Bounds, Link } from './link.ts'
import { type Incoming, type Outgoing, type RpcRequest, readMessages, responseIdOf } from './rpc.ts'
import type { Transport } from './transport.ts'

/**
 * The transport of servers from 2024: all messages of the server arrive in one event stream, whose first event has the
 * address for the messages of the client.
 */
export class EventTransport implements Transport {
  readonly #link: Link
  readonly #events: AsyncGenerator<StreamEvent>
  readonly #endpoint: string

  private constructor(link: Link, events: AsyncGenerator<StreamEvent>, endpoint: string) {
    this.#link = link
    this.#events = events
    this.#endpoint = endpoint
  }

  static async open(link: Link, bounds: Bounds): Promise<EventTransport> {
    const { url } = link.access
    const response = await link.open({ url, method: 'GET', headers: [['accept', 'text/event-stream']] }, bounds)
    if (response.status !== 200) throw await link.refusal(response)
    const events = link.events(response)
    const first = await events.next()
    const endpoint = first.done || first.value.type !== 'endpoint' ? null : URL.parse(first.value.data, url)
    // Another origin could receive the credential.
    if (endpoint && endpoint.origin === new URL(url).origin) return new EventTransport(link, events, endpoint.href)
    await events.return(undefined)
    throw new McpError('INVALID_RESPONSE', `${link.host} does not respond like an MCP server. Check the address.`)
  }

  agreed(): void {}

  close(): void {
    void this.#events.return(undefined).catch(() => undefined)
  }

  async send(message: Outgoing, bounds: Bounds): Promise<void> {
    const headers = [['content-type', 'application/json']] as const
    const body = JSON.stringify(message)
    // The stream has a slot already. If all slots were taken by streams, none of them would get its messages.
    const request = { url: this.#endpoint, method: 'POST', headers, body, takesNoSlot: true } as const
    const response = await this.#link.open(request, bounds)
    if (response.status >= 300) throw await this.#link.refusal(response)
    response.body.close()
  }

  /** One request at a time, because each reads the stream up to its response. */
  async request(message: RpcRequest, bounds: Bounds, received: (message: Incoming) => void): Promise<Incoming> {
    const { host, access } = this.#link
    await this.send(message, bounds)
    for (;;) {
      const { done, value: event } = await this.#events.next()
      if (done) throw new McpError('INVALID_RESPONSE', `The MCP server ${host} ended its response without a result.`)
      if (event.type !== 'message' || event.data === '') continue
      for (const each of await readMessages(event.data, host, access.inSlices)) {
        if (responseIdOf(each) === message.id) return each
        received(each)
      }
    }
  }
}
