/**
 * The network that a request comes from: an IPv4 address, or the first half of an IPv6 address. A client that owns one
 * IPv6 address usually owns the whole half, and can send each request from another address in it.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head = [], tail = []] = address
    .replace(/%.*$/, '')
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  const network = [...head, ...zeros, ...tail].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}

/** The site that a request comes from: 256 IPv4 addresses, or the IPv6 addresses that one site usually gets. */
export function siteOf(address: string): string {
  const network = networkOf(address)
  const [ipv4] = /^\d+\.\d+\.\d+\.(?=\d+$)/.exec(network) ?? []
  if (ipv4 !== undefined) return `${ipv4}0/24`
  return network.endsWith('::/64') ? `${network.split(':').slice(0, 3).join(':')}::/48` : network
}
