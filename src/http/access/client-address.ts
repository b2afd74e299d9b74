import type { Server } from 'bun'
import { canonicalAddress } from '../../outbound/addresses.ts'

/**
 * The caller's address. When `peer` is one of the operator's proxies, this is the last address in `X-Forwarded-For`
 * that is not such a proxy. Addresses before that one are not trusted: the caller may have invented them.
 */
export function clientAddress(peer: string, forwarded: string | null, isProxy: (address: string) => boolean): string {
  if (forwarded === null || !isProxy(peer)) return peer
  let known = peer
  for (const written of forwarded.split(',').reverse()) {
    const address = canonicalAddress(withoutPort(written.trim()))
    if (address === undefined) return known
    known = address
    if (!isProxy(address)) return address
  }
  return known
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(written: string): string {
  return /^\[([^\]]+)\](:\d+)?$/.exec(written)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(written)?.[1] ?? written
}

/** The server as handlers use it, with callers' addresses resolved behind the operator's proxies. */
export function behindProxies(server: Server<unknown>, isProxy: (address: string) => boolean): Server<unknown> {
  const seen = {
    timeout: (request: Request, seconds: number) => server.timeout(request, seconds),
    requestIP(request: Request) {
      const peer = server.requestIP(request)
      const forwarded = request.headers.get('x-forwarded-for')
      return peer && { ...peer, address: clientAddress(peer.address, forwarded, isProxy) }
    },
  }
  return seen as unknown as Server<unknown>
}
