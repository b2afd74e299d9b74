/** Whether what listens there can be reached from this machine only. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}

/** The host by which this machine reaches a service that listens on `hostname`, as it stands in a URL. */
export function localHost(hostname: string): string {
  // An address that means every one is reached by the local one of its kind.
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[hostname] ?? hostname
  return host.includes(':') ? `[${host}]` : host
}

export function localAddress(hostname: string, port: number): string {
  return `http://${localHost(hostname)}:${port}`
}
