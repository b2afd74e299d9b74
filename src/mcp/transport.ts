import type { Bounds } from './link.ts'
import type { Incoming, Outgoing, RpcRequest } from './rpc.ts'

/** Carries messages to a server and back. Rejects with `McpError`. */
export interface Transport {
  /** Resolves with the response. `received` gets all other messages that arrive before it. */
  request(message: RpcRequest, bounds: Bounds, received: (message: Incoming) => void): Promise<Incoming>
  /** Sends a message that has no response. */
  send(message: Outgoing, bounds: Bounds): Promise<void>
  /** Called with the version that both sides use. */
  agreed(version: string): void
  /** Closes open connections. */
  close(): void
}
