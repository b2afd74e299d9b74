import { deploy, residentMb, startMillrace } from './support/service.ts'

/**
 * How much later does a streamed piece of text arrive through the service? A fake model sends the time every 10 ms, and
 * the reader compares it with its own, through an agent block and without the service. `bun bench/stream.ts [streams]
 * [chunks]` (more than 200 streams want BUN_CONFIG_MAX_HTTP_REQUESTS for the reader); the upstream is a process of its
 * own, the reader is this one.
 */
const [streams = 200, chunks = 300] = process.argv.slice(2).map(Number)
const everyMs = 10

async function measure(): Promise<void> {
  const upstream = Bun.spawn([process.execPath, import.meta.path, 'upstream', `${chunks}`], { stdout: 'pipe' })
  const { value } = await upstream.stdout.getReader().read()
  const address = new TextDecoder().decode(value).trim()
  const service = await startMillrace({
    MILLRACE_OUTBOUND_ALLOW: 'loopback',
    MILLRACE_OUTBOUND_CONCURRENCY: `${streams + 100}`,
    MILLRACE_OUTBOUND_HOST_CONCURRENCY: `${streams + 100}`,
    MILLRACE_RUNS_MAX: `${streams + 100}`,
  })
  try {
    const params = { provider: 'openai-compatible', baseUrl: `${address}/v1`, model: 'm', userPrompt: 'Go' }
    const endpoint = await deploy(service, {
      name: 'Stream',
      blocks: {
        in: { id: 'in', type: 'api_trigger', name: 'in' },
        ask: { id: 'ask', type: 'agent', name: 'ask', params },
      },
      edges: [{ id: 'e', source: 'in', target: 'ask' }],
    })
    const headers = { 'x-api-key': service.apiKey }
    const idleMb = await residentMb(service.pid)
    // The first stream loads what only models need.
    await read(endpoint, headers, '{"stream":true}')
    const bare = await all(() => read(`${address}/v1/chat/completions`, {}, '{}'))
    let peakMb = 0
    const watch = setInterval(async () => {
      peakMb = Math.max(peakMb, await residentMb(service.pid))
    }, 100)
    const through = await all(() => read(endpoint, headers, '{"stream":true}'))
    clearInterval(watch)
    console.log(`${streams} streams of ${chunks} pieces, one every ${everyMs} ms`)
    for (const share of [0.5, 0.99, 0.999]) {
      const [a, b] = [quantile(bare, share), quantile(through, share)]
      console.log(
        `p${share * 100}`.padEnd(7),
        `bare ${a.toFixed(2)} ms, through ${b.toFixed(2)} ms, added ${(b - a).toFixed(2)} ms`,
      )
    }
    console.log(`resident: idle ${idleMb.toFixed(0)} MB, at most ${peakMb.toFixed(0)} MB`)
  } finally {
    await service.stop()
    upstream.kill()
  }
}

async function all(one: () => Promise<number[]>): Promise<number[]> {
  // Within two seconds: callers do not come in step either.
  const later = async (index: number) => {
    await Bun.sleep((index * 2_000) / streams)
    return await one()
  }
  const delays = await Promise.all(Array.from({ length: streams }, (_, index) => later(index)))
  return delays.flat().toSorted((a, b) => a - b)
}

/** The delays of one stream's pieces. */
async function read(url: string, headers: Record<string, string>, body: string): Promise<number[]> {
  const response = await fetch(url, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  const decoder = new TextDecoder()
  const delays: number[] = []
  for await (const piece of response.body!) {
    const at = clock()
    for (const [, said] of decoder.decode(piece, { stream: true }).matchAll(/@(\d+\.\d+)@/g))
      delays.push(at - Number(said))
  }
  // The text comes once more, as a whole, with the end of a run.
  return delays.slice(0, chunks)
}

/** Says the time, chunk by chunk, as OpenAI's chat completions are streamed. */
function serveUpstream(count: number): void {
  const chunk = (delta: object, finish_reason: string | null) => {
    return `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch() {
      async function* events() {
        // Not all at once: two hundred models do not speak in step.
        await Bun.sleep(Math.random() * everyMs)
        for (let index = 0; index < count; index += 1) {
          yield chunk({ content: `@${clock().toFixed(3)}@` }, null)
          await Bun.sleep(everyMs)
        }
        yield `${chunk({}, 'stop')}data: [DONE]\n\n`
      }
      return new Response(events as unknown as ReadableStream, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  console.log(`http://127.0.0.1:${server.port}`)
}

/** Epoch milliseconds with fractions. */
function clock(): number {
  return performance.timeOrigin + performance.now()
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

if (process.argv[2] === 'upstream') serveUpstream(Number(process.argv[3]))
else await measure()
