/** A server that a user chose, after its addresses were checked. Connect to `addresses` and never to `host`. */
export type TcpTarget = {
  /** In its canonical spelling, IPv6 in brackets. For messages. */
  host: string
  port: number
  /** The name for the TLS handshake, which the server's certificate must have; undefined for an address. */
  serverName: string | undefined
  /** The addresses to try in turn; at least one. */
  addresses: readonly string[]
}

/**
 * Resolves a host and applies the address rules. Rejects with an `OutboundError`, or with the signal's reason. A
 * caller that looked the name up again could be led to an address that nobody checked.
 */
export type ResolveTcp = (server: { host: string; port: number }, signal: AbortSignal) => Promise<TcpTarget>
