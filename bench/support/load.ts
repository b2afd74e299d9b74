import type { Socket } from 'bun'

/**
 * A load generator in its own process: `bun bench/support/load.ts <url> <connections> <ms> <body> [header: value]…`.
 * It uses raw sockets and one prepared request, to take as little CPU time as possible from the server.
 * Prints one line of JSON: responses, failures, duration and latency percentiles in milliseconds.
 */
export type LoadResult = {
  requests: number
  failed: number
  perSecond: number
  p50: number
  p90: number
  p99: number
  max: number
  /** The first response with a status other than 200 or 202. */
  firstFailure?: string
}

type Connection = { startedAt: number; pending: string; missing: number }

const decoder = new TextDecoder('latin1')

async function load(
  url: URL,
  connections: number,
  durationMs: number,
  body: string,
  headers: readonly string[],
): Promise<LoadResult> {
  const head = [`POST ${url.pathname} HTTP/1.1`, `Host: ${url.host}`, `Content-Length: ${Buffer.byteLength(body)}`]
  const request = Buffer.from(`${[...head, 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n${body}`)
  const latencies: number[] = []
  let failed = 0
  let firstFailure: string | undefined
  let open = connections
  const startedAt = performance.now()
  const endAt = startedAt + durationMs
  const { promise: done, resolve } = Promise.withResolvers<void>()

  const send = (socket: Socket<Connection>) => {
    if (performance.now() >= endAt) {
      socket.end()
      return
    }
    socket.data.startedAt = performance.now()
    socket.write(request)
  }
  const receive = (socket: Socket<Connection>, chunk: Uint8Array) => {
    const { data } = socket
    if (data.missing > 0) data.missing -= chunk.byteLength
    else {
      data.pending += decoder.decode(chunk)
      const headEnd = data.pending.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const length = Number(/content-length: *(\d+)/i.exec(data.pending)?.[1] ?? 0)
      data.missing = headEnd + 4 + length - data.pending.length
      if (!/^HTTP\/1.1 20[02]/.test(data.pending)) {
        failed += 1
        firstFailure ??= data.pending.slice(0, 600)
      }
      data.pending = ''
    }
    if (data.missing > 0) return
    data.missing = 0
    latencies.push(performance.now() - data.startedAt)
    send(socket)
  }
  for (let index = 0; index < connections; index += 1) {
    await Bun.connect<Connection>({
      hostname: url.hostname,
      port: Number(url.port),
      data: { startedAt: 0, pending: '', missing: 0 },
      socket: {
        open: send,
        data: receive,
        close() {
          open -= 1
          if (open === 0) resolve()
        },
      },
    })
  }
  await done
  latencies.sort((a, b) => a - b)
  const at = (share: number) => Math.round((latencies[Math.floor(latencies.length * share)] ?? 0) * 1000) / 1000
  const seconds = (performance.now() - startedAt) / 1000
  return {
    requests: latencies.length,
    failed,
    perSecond: Math.round(latencies.length / seconds),
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: Math.round((latencies.at(-1) ?? 0) * 1000) / 1000,
    ...(firstFailure === undefined ? {} : { firstFailure }),
  }
}

if (import.meta.main) {
  const [url = '', connections = '1', durationMs = '1000', body = '{}', ...headers] = process.argv.slice(2)
  console.log(JSON.stringify(await load(new URL(url), Number(connections), Number(durationMs), body, headers)))
}
