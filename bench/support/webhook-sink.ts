/**
 * A receiver of webhooks in a process of its own: takes what comes to `/ok…`, never answers what comes to `/hang…`, and
 * says at `/counts` how many came since it was last asked, and how long after their runs had ended (`/taken`: only how
 * many, and goes on counting). Prints its port.
 */
export type SinkCounts = {
  taken: number
  hanging: number
  p50: number
  p99: number
  max: number
  firstAt: number
  lastAt: number
}

/** Starts one. */
export async function startSink() {
  const server = Bun.spawn([process.execPath, import.meta.path], { stdout: 'pipe' })
  const { value } = await server.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  const ask = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`)
  return {
    /** Every name is a host of its own. */
    url: (path: 'ok' | 'hang', name: string) => `http://${name}.localhost:${port}/${path}`,
    taken: async () => Number(await (await ask('/taken')).text()),
    counts: async () => (await (await ask('/counts')).json()) as SinkCounts,
    stop: () => server.kill(),
  }
}

if (import.meta.main) {
  let latencies: number[] = []
  let hanging = 0
  let firstAt = 0
  let lastAt = 0
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname
      if (path.startsWith('/hang')) {
        hanging += 1
        return new Promise<Response>(() => {})
      }
      if (path.startsWith('/ok')) {
        const now = performance.timeOrigin + performance.now()
        const [, timestamp] = /"timestamp":(\d+)/.exec(await request.text()) ?? []
        latencies.push(now - Number(timestamp))
        firstAt ||= now
        lastAt = now
        return new Response('ok')
      }
      if (path === '/taken') return new Response(String(latencies.length))
      latencies.sort((one, other) => one - other)
      const counts = {
        taken: latencies.length,
        hanging,
        p50: at(0.5),
        p99: at(0.99),
        max: at(0.99999),
        firstAt,
        lastAt,
      }
      latencies = []
      hanging = 0
      firstAt = 0
      return Response.json(counts)
    },
  })
  console.log(server.port)
}
