/** The address by which this machine reaches a service that listens on `hostname`, which may mean every address. */
export function localAddress(hostname: string, port: number): string {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[hostname] ?? hostname
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
