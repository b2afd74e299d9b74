import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The kind of an address. Requests to every kind except `public` are refused unless the operator allows them. */
export type AddressKind = 'public' | 'loopback' | 'private' | 'link-local' | 'reserved'

/** Addresses that workflows may call although they are not public, because the operator allows it. */
export type AllowList = {
  loopback: boolean
  private: boolean
  blocks: BlockList
  /** `host` or `host:port`, with the host as in a URL: lower case, IPv6 in brackets, no trailing dot. */
  hosts: ReadonlySet<string>
}

export const allowSetting = 'MILLRACE_OUTBOUND_ALLOW'
const validEntries = 'Use loopback, private, a CIDR block such as 10.0.0.0/8'

export type AllowListOutcome = { ok: true; allow: AllowList } | { ok: false; message: string }

/** Reads the entries of the setting. The message names the first invalid entry and the valid forms. */
export function parseAllowList(entries: readonly string[]): AllowListOutcome {
  const blocks = new BlockList()
  const hosts = new Set<string>()
  const keywords = new Set<string>()
  for (const written of entries) {
    const entry = written.trim().toLowerCase()
    if (entry === '') continue
    if (entry === 'loopback' || entry === 'private') {
      keywords.add(entry)
      continue
    }
    const block = entry.includes('/') ? parseBlock(entry) : undefined
    if (block) {
      blocks.addSubnet(block.address, block.prefix, isIPv4(block.address) ? 'ipv4' : 'ipv6')
      continue
    }
    const host = parseHost(entry)
    if (!host) {
      const hint = isIPv6(entry) ? ` Write an IPv6 address in brackets: [${entry}].` : ''
      return {
        ok: false,
        message: `${allowSetting}: "${written}" is not valid. ${validEntries}, host or host:port.${hint}`,
      }
    }
    hosts.add(host)
  }
  return { ok: true, allow: { loopback: keywords.has('loopback'), private: keywords.has('private'), blocks, hosts } }
}

export type NetworksOutcome = { ok: true; has(address: string): boolean } | { ok: false; message: string }

/**
 * Reads a list of `loopback`, `private`, CIDR blocks and single addresses. The message names the first invalid entry.
 */
export function parseNetworks(entries: readonly string[], setting: string): NetworksOutcome {
  const blocks = new BlockList()
  const keywords = new Set<string>()
  for (const written of entries) {
    const entry = written.trim().toLowerCase()
    if (entry === '') continue
    const single = canonicalAddress(entry)
    const block = entry.includes('/') ? parseBlock(entry) : undefined
    if (entry === 'loopback' || entry === 'private') keywords.add(entry)
    else if (block) blocks.addSubnet(block.address, block.prefix, isIPv4(block.address) ? 'ipv4' : 'ipv6')
    else if (single) blocks.addAddress(single, isIPv4(single) ? 'ipv4' : 'ipv6')
    else {
      const message = `${setting}: "${written}" is not valid. ${validEntries} or an address.`
      return { ok: false, message }
    }
  }
  const has = (address: string) => {
    const canonical = canonicalAddress(address)
    if (canonical === undefined) return false
    return keywords.has(kindOf(canonical)) || blocks.check(canonical, isIPv4(canonical) ? 'ipv4' : 'ipv6')
  }
  return { ok: true, has }
}

/** The kind of an address in any spelling that a resolver or a URL may use. An invalid address is `reserved`. */
export function kindOf(address: string): AddressKind {
  const canonical = canonicalAddress(address)
  if (!canonical) return 'reserved'
  const family = isIPv4(canonical) ? 'ipv4' : 'ipv6'
  if (loopback.check(canonical, family)) return 'loopback'
  if (privateNetworks.check(canonical, family)) return 'private'
  if (linkLocal.check(canonical, family)) return 'link-local'
  if (family === 'ipv6' && !globalUnicast.check(canonical, family)) return 'reserved'
  return reserved.check(canonical, family) ? 'reserved' : 'public'
}

/** Whether a request to a URL's `host` and `port` may be sent to `address`, one of the host's addresses. */
export function isAllowed(allow: AllowList, host: string, port: number, address: string): boolean {
  const kind = kindOf(address)
  if (kind === 'public') return true
  if (allow.hosts.has(host) || allow.hosts.has(`${host}:${port}`)) return true
  if ((kind === 'loopback' && allow.loopback) || (kind === 'private' && allow.private)) return true
  const canonical = canonicalAddress(address)
  return canonical !== undefined && allow.blocks.check(canonical, isIPv4(canonical) ? 'ipv4' : 'ipv6')
}

/**
 * The message for an address that may not be called: the reason, and the entry that the operator can add to the
 * setting.
 */
export function refusalOf(host: string, port: number, kind: AddressKind): string {
  const verb = literalAddress(host) ? 'is' : 'has'
  const address = kind === 'loopback' ? 'a loopback address' : `a ${kind} address`
  const wholeKind = kind === 'loopback' || kind === 'private' ? ` (or ${kind}, for all such addresses)` : ''
  return (
    `${host}:${port} cannot be called: it ${verb} ${address}, and workflows may call public addresses only. ` +
    `To allow it, the operator of this service adds ${host}:${port} to ${allowSetting}${wholeKind}.`
  )
}

/** The address in the host of a URL, without brackets; undefined for a name. */
export function literalAddress(host: string): string | undefined {
  if (host.startsWith('[')) return canonicalAddress(host.slice(1, -1))
  return isIPv4(host) ? host : undefined
}

/** One spelling for each address: IPv6 compressed and without a zone, IPv4 for a mapped address (`::ffff:0:0/96`). */
export function canonicalAddress(address: string): string | undefined {
  if (isIPv4(address)) return address
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return undefined
  const compressed = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(compressed)
  if (!mapped) return compressed
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/**
 * One spelling for each host of a URL: lower case, ASCII, no trailing dots, IPv6 in brackets, IPv4 for a mapped
 * address. Undefined for an invalid host.
 */
export function canonicalHost(host: string): string | undefined {
  const hostname = URL.parse(`http://${host}/`)?.hostname
  const bare = hostname?.replace(/\.+$/, '')
  if (!bare) return undefined
  // Without its dots, a host may be a number, which the parser rewrites as an address.
  const name = bare === hostname ? bare : URL.parse(`http://${bare}/`)?.hostname
  const literal = name && literalAddress(name)
  return literal && isIPv4(literal) ? literal : name
}

function parseBlock(entry: string): { address: string; prefix: number } | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(entry)
  if (!match) return undefined
  const written = match[1]!
  const address = canonicalAddress(written)
  if (!address) return undefined
  const mapped = isIPv6(written) && isIPv4(address)
  const prefix = Number(match[2]) - (mapped ? 96 : 0)
  return prefix >= 0 && prefix <= (isIPv4(address) ? 32 : 128) ? { address, prefix } : undefined
}

function parseHost(entry: string): string | undefined {
  const match = /^(\[[^\]]+\]|[^:/?#@*\\\s[\]]+)(?::(\d{1,5}))?$/.exec(entry)
  if (!match) return undefined
  const host = canonicalHost(match[1]!)
  const port = match[2] === undefined ? undefined : Number(match[2])
  if (!host || (port !== undefined && (port < 1 || port > 65_535))) return undefined
  return port === undefined ? host : `${host}:${port}`
}

function blockList(...blocks: string[]): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [address, prefix] = block.split('/') as [string, string]
    list.addSubnet(address, Number(prefix), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return list
}

const loopback = blockList('127.0.0.0/8', '::1/128')
const privateNetworks = blockList('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7')
const linkLocal = blockList('169.254.0.0/16', 'fe80::/10')

/**
 * The only part of IPv6 from which addresses on the internet are assigned. Elsewhere are multicast and the forms that
 * translators turn into an IPv4 address (NAT64, SIIT, IPv4-compatible).
 */
const globalUnicast = blockList('2000::/3')

/**
 * The other ranges that IANA's special-purpose registries do not list as globally reachable, IPv4 multicast, and the
 * forms of IPv6 addresses that contain an IPv4 address (6to4, Teredo), because they lead to the inner address.
 * 168.63.129.16 is a public address at which Azure serves requests from inside the machine.
 */
const reserved = blockList(
  '0.0.0.0/8',
  '100.64.0.0/10',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
)
