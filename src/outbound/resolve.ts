import { type Clock, sleep } from '../domain/clock.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import { canonicalAddress, literalAddress } from './addresses.ts'

/** Looks up all addresses of a name. Rejects with an error that has a `code`, as `Bun.dns.lookup` does. */
export type Lookup = (name: string) => Promise<readonly string[]>

/**
 * Reads the hosts file, then asks DNS. Bun uses c-ares here, which waits on sockets and not on threads. So names whose
 * servers never respond cannot use up the thread pool that files and compression need, as `node:dns` lookups do.
 */
export const systemLookup: Lookup = async (name) => {
  const found = await Bun.dns.lookup(name)
  return found.map((entry) => entry.address)
}

/**
 * Shares lookups of one name for a second, because webhooks send many requests to few names and a resolver may take
 * only a thousand questions a second. A failed lookup is not kept.
 */
export function sharedLookup(lookup: Lookup, clock: Pick<Clock, 'monotonic'>): Lookup {
  const known = new Map<string, { found: ReturnType<Lookup>; until: number }>()
  return (name) => {
    const now = clock.monotonic()
    const before = known.get(name)
    if (before && now < before.until) return before.found
    const asked = { found: lookup(name), until: now + sharedMs }
    if (known.size >= namesMax) known.clear()
    known.set(name, asked)
    asked.found.catch(() => {
      if (known.get(name) === asked) known.delete(name)
    })
    return asked.found
  }
}

const sharedMs = 1_000
const namesMax = 1_000

export type ResolveOptions = { lookup: Lookup; clock: Clock }

const lookupMsMax = 10_000
const addressesMax = 16

/**
 * The addresses of a URL's host, IPv4 first, each once. Throws `NAME_NOT_FOUND`, `CONNECTION_FAILED` when DNS fails, or
 * the signal's reason.
 */
export async function resolve(host: string, options: ResolveOptions, signal: AbortSignal): Promise<string[]> {
  const known = knownAddresses(host)
  if (known) return known
  const found = await lookupInTime(host, options, signal)
  const addresses = [...new Set(found.map(canonicalAddress))].filter((address) => address !== undefined)
  if (addresses.length === 0) throw notFound(host)
  // The addresses are tried in turn. IPv4 is first, because without a route it fails at once, while IPv6 may hang.
  return addresses.sort((a, b) => Number(a.includes(':')) - Number(b.includes(':'))).slice(0, addressesMax)
}

/** The addresses of a host that needs no lookup; undefined for all others. */
function knownAddresses(host: string): string[] | undefined {
  const literal = literalAddress(host)
  if (literal) return [literal]
  // These names mean this machine, whatever a resolver returns for them (RFC 6761).
  return host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : undefined
}

async function lookupInTime(host: string, { lookup, clock }: ResolveOptions, signal: AbortSignal) {
  const waiting = new AbortController()
  const abort = () => waiting.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const late = sleep(clock, lookupMsMax, waiting.signal).then(() => {
    throw new OutboundError('TIMEOUT', `The name ${host} was not resolved within ${lookupMsMax} ms`)
  })
  try {
    return await Promise.race([lookup(host), late])
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof OutboundError) throw error
    throw lookupFailure(host, error)
  } finally {
    signal.removeEventListener('abort', abort)
    waiting.abort()
    late.catch(() => {})
  }
}

function lookupFailure(host: string, error: unknown): OutboundError {
  const code = String((error as { code?: unknown } | null)?.code ?? error).replace(/^DNS_/, '')
  // ENOTFOUND and ENODATA are final. Anything else (SERVFAIL, REFUSED, a silent server) may be temporary.
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'ENONAME') return notFound(host, error)
  return new OutboundError('CONNECTION_FAILED', `The name ${host} could not be resolved: ${code} from DNS`, error)
}

function notFound(host: string, cause?: unknown): OutboundError {
  return new OutboundError('NAME_NOT_FOUND', `The host ${host} does not exist`, cause)
}
