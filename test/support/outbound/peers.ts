import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import type { OutboundBody, OutboundRequest } from '../../../src/domain/outbound-request.ts'
import { type AllowList, parseAllowList } from '../../../src/outbound/addresses.ts'
import { createOutbound, type Outbound, type OutboundOptions } from '../../../src/outbound/fetch.ts'

/** A server that sends exactly the bytes that a test gives it. */
export class RawPeer implements Disposable {
  connections = 0
  /** The bytes that each connection has received so far, in the order of connecting. */
  readonly received: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  /** `respond` is called for each piece of a request, with how many pieces the connection has had. */
  constructor(respond: (socket: Socket, piece: number, connection: number) => void) {
    this.#server = createServer((socket) => {
      const connection = this.connections++
      this.received[connection] = ''
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
      let pieces = 0
      socket.on('data', (data) => {
        this.received[connection] += data.toString('latin1')
        respond(socket, pieces++, connection)
      })
    })
  }

  listen(host = '127.0.0.1', port = 0): Promise<this> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => resolve(this))
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#sockets.size
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

/** Reads a body to its end. Rejects with its error when it has no end. */
export async function eachOf(body: OutboundBody, onPart: (part: Uint8Array<ArrayBuffer>) => void): Promise<void> {
  for (let part = await body.read(); part; part = await body.read()) onPart(part)
}

/** A peer that responds to every request with the same bytes. */
export function respondingWith(bytes: string | Uint8Array, then: 'end' | 'keep' = 'end'): Promise<RawPeer> {
  const data = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes
  return new RawPeer((socket) => (then === 'end' ? socket.end(data) : socket.write(data))).listen()
}

/** A peer that accepts requests and never responds. */
export function hanging(): Promise<RawPeer> {
  return new RawPeer(() => {}).listen()
}

export function httpPeer(
  handler: (request: Request, url: URL) => Response | Promise<Response>,
  hostname = '127.0.0.1',
) {
  return Bun.serve({ port: 0, hostname, idleTimeout: 0, fetch: (request) => handler(request, new URL(request.url)) })
}

/** An HTTP client on the real network; `allow` as in the setting. */
export function outboundOf(allow: readonly string[], more: Partial<OutboundOptions> = {}): Outbound & Disposable {
  const outbound = createOutbound({ allow: allowList(allow), version: '1.2.3', ...more })
  return { ...outbound, [Symbol.dispose]: () => outbound.stop() }
}

export function allowList(entries: readonly string[]): AllowList {
  const parsed = parseAllowList(entries)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.allow
}

export function requestTo<More extends Partial<OutboundRequest>>(url: string, more: More = {} as More) {
  return {
    url,
    method: 'GET',
    headers: [],
    followRedirects: 5,
    timeoutMs: 20_000,
    responseBytesMax: 10_485_760,
    signal: new AbortController().signal,
    ...more,
  }
}

/** Waits until a condition holds; checks it after every turn of the event loop. */
export async function until(fact: () => boolean): Promise<void> {
  while (!fact()) await new Promise((resolve) => setImmediate(resolve))
}
