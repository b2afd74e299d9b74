import { httpPeer } from './peers.ts'

type Seen = { method: string; path: string; headers: Record<string, string>; body: string }

/** A server that redirects `/<status>?<location>`, and records every request. */
export function maze(name = '127.0.0.1') {
  const seen: Seen[] = []
  const peer = httpPeer(async (request, url) => {
    const path = url.pathname
    seen.push({
      method: request.method,
      path,
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
    })
    const status = Number(path.slice(1))
    if (status < 300) return new Response(`arrived at ${path}`, { status })
    return new Response('x'.repeat(100_000), { status, headers: { location: decodeURIComponent(url.search.slice(1)) } })
  })
  const origin = `http://${name}:${peer.port}`
  const through = (status: number, location: string) => `${origin}/${status}?${encodeURIComponent(location)}`
  return { seen, origin, through, [Symbol.dispose]: () => void peer.stop(true) }
}
