import { isIPv6 } from 'node:net'
import { type Clock, systemClock } from '../domain/clock.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import type { ResolveTcp } from '../domain/tcp-target.ts'
import { type AllowList, canonicalHost, literalAddress } from './addresses.ts'
import { allowedAddresses } from './allowed-addresses.ts'
import { type Lookup, resolve, systemLookup } from './resolve.ts'

/** Applies the address rules of requests to servers that speak another protocol than HTTP. */
export function tcpTargets(options: { allow: AllowList; lookup?: Lookup; clock?: Clock }): ResolveTcp {
  const { allow, lookup = systemLookup, clock = systemClock } = options
  return async (server, signal) => {
    const host = canonicalServer(server.host)
    const { port } = server
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new OutboundError('INVALID_URL', `${port} is not a valid port: use a number from 1 to 65535`)
    signal.throwIfAborted()
    const addresses = allowedAddresses(allow, { host, port }, await resolve(host, { lookup, clock }, signal))
    return { host, port, serverName: literalAddress(host) ? undefined : host, addresses }
  }
}

const shownCharsMax = 200

/** Throws for everything but a host. A path would be taken for a socket file, and `user@host` for a host. */
function canonicalServer(written: string): string {
  const trimmed = written.trim()
  const host = isIPv6(trimmed) ? `[${trimmed.replace(/%.*$/, '')}]` : trimmed
  const plain = /^(\[[0-9a-f:.]+\]|[^:/?#@*%\\\s[\]]+)$/i.test(host) ? canonicalHost(host) : undefined
  if (plain) return plain
  const message = `${JSON.stringify(trimmed.slice(0, shownCharsMax))} is not a valid host: write a name or an address`
  throw new OutboundError('INVALID_URL', message)
}
