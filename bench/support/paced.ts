/**
 * Sends requests at a steady rate: `bun bench/support/paced.ts <url> <per second> <ms> <body> [header: value]…`, in its
 * own process. Requests do not wait for earlier responses, so a blocked server delays all requests that are due
 * meanwhile. Prints one line of JSON.
 */
export type PacedResult = { requests: number; failed: number; p50: number; p99: number; max: number }

async function paced(url: string, perSecond: number, durationMs: number, body: string, headers: string[]) {
  const latencies: number[] = []
  let failed = 0
  const pairs = headers.map((header) => header.split(/: */, 2) as [string, string])
  const startedAt = performance.now()
  const ask = async () => {
    const sentAt = performance.now()
    const response = await fetch(url, { method: 'POST', headers: pairs, body })
    await response.text()
    latencies.push(performance.now() - sentAt)
    if (response.status !== 200) failed += 1
  }
  const asked: Promise<void>[] = []
  const count = Math.floor((durationMs / 1000) * perSecond)
  for (let index = 0; index < count; index += 1) {
    const waitMs = startedAt + (index * 1000) / perSecond - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
    asked.push(ask())
  }
  await Promise.all(asked)
  latencies.sort((a, b) => a - b)
  const at = (share: number) => Math.round((latencies[Math.floor(latencies.length * share)] ?? 0) * 1000) / 1000
  return { requests: latencies.length, failed, p50: at(0.5), p99: at(0.99), max: at(0.9999) } satisfies PacedResult
}

if (import.meta.main) {
  const [url = '', perSecond = '200', durationMs = '1000', body = '{}', ...headers] = process.argv.slice(2)
  console.log(JSON.stringify(await paced(url, Number(perSecond), Number(durationMs), body, headers)))
}
