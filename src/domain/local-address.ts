/** Whether only this machine can reach a service that listens on this address. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}

/** The host name for URLs by which this machine reaches a service that listens on `hostname`. */
export function localHost(hostname: string): string {
  // A wildcard address is reached through the loopback address of its family.
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[hostname] ?? hostname
  return host.includes(':') ? `[${host}]` : host
}

export function localAddress(hostname: string, port: number): string {
  return `http://${localHost(hostname)}:${port}`
}
