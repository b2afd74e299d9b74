import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { deploy, type Millrace, residentMb, startMillrace } from './support/service.ts'

/**
 * How much memory do many open streams need, and what do callers leave behind that disconnect early? `bun
 * bench/streams-held.ts [streams] [leaving callers]`. An agent calls a fake model that sends one word per second.
 */
const [streams = 2_000, leaving = 10_000] = process.argv.slice(2).map(Number)

async function measure(): Promise<void> {
  const upstream = Bun.spawn([process.execPath, import.meta.path, 'upstream'], { stdout: 'pipe' })
  const { value } = await upstream.stdout.getReader().read()
  const address = Buffer.from(value ?? '')
    .toString()
    .trim()
  const room = `${streams + 100}`
  const service = await startMillrace({
    MILLRACE_OUTBOUND_ALLOW: 'loopback',
    MILLRACE_OUTBOUND_CONCURRENCY: room,
    MILLRACE_OUTBOUND_HOST_CONCURRENCY: room,
    MILLRACE_RUNS_MAX: room,
  })
  try {
    const params = { provider: 'openai-compatible', baseUrl: `${address}/v1`, model: 'm', userPrompt: 'Go' }
    const blocks = {
      in: { id: 'in', type: 'api_trigger', name: 'in' },
      ask: { id: 'ask', type: 'agent', name: 'ask', params },
    }
    const edges = [{ id: 'e', source: 'in', target: 'ask' }]
    const { pathname } = new URL(await deploy(service, { name: 'Stream', blocks, edges }))
    const open = () => openStream(service, pathname)
    // Load the code for models and connections, and let one-time growth happen first.
    for (let warm = 0; warm < 3; warm += 1) await leaveAll(await openMany(open, 200))
    await settled(service)
    const before = await state(service)
    const held = await openMany(open, streams)
    await Bun.sleep(3_000)
    const during = await state(service)
    console.log(`${streams} streams held: ${during.mb.toFixed(0)} MB, ${before.mb.toFixed(0)} MB before:`)
    console.log(`  ${(((during.mb - before.mb) * 1024) / streams).toFixed(1)} KB a stream`)
    await leaveAll(held)
    await settled(service)
    let left = 0
    while (left < leaving) {
      const batch = await Promise.all(Array.from({ length: Math.min(200, leaving - left) }, () => leaveSoon(open)))
      left += batch.length
    }
    await settled(service)
    const after = await state(service)
    console.log(
      `after ${streams + leaving} callers that left: ${after.mb.toFixed(0)} MB, open files ${before.files} → ${after.files}`,
    )
  } finally {
    await service.stop()
    upstream.kill()
  }
}

/** A connection whose stream has begun. */
function openStream({ url, apiKey }: Millrace, path: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const body = '{"stream":true}'
    socket.on('error', reject)
    socket.once('data', () => resolve(socket.on('data', () => undefined)))
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  })
}

async function openMany(open: () => Promise<Socket>, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(50, count - sockets.length) }, open))))
  }
  return sockets
}

async function leaveAll(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy()
}

/** Leaves at a random point, from the first byte to some words later. */
async function leaveSoon(open: () => Promise<Socket>): Promise<void> {
  const socket = await open()
  await Bun.sleep(Math.random() * 100)
  socket.destroy()
}

type State = { mb: number; files: number; runs: number }

async function state({ pid, url }: Millrace): Promise<State> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const runs = Number(/^millrace_runs_in_flight (\d+)/m.exec(metrics)?.[1] ?? Number.NaN)
  return { mb: await residentMb(pid), files: readdirSync(`/proc/${pid}/fd`).length, runs }
}

/** Until no run is in flight and memory has not become less for a while: a collection comes when it comes. */
async function settled(service: Millrace): Promise<void> {
  while ((await state(service)).runs > 0) await Bun.sleep(50)
  let least = Number.POSITIVE_INFINITY
  for (let quiet = 0; quiet < quietS; quiet += 1) {
    const { mb } = await state(service)
    if (mb < least - 1) quiet = 0
    least = Math.min(least, mb)
    await Bun.sleep(1_000)
  }
}

const quietS = 15

function serveUpstream(): void {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch() {
      async function* events() {
        for (;;) {
          yield `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`
          await Bun.sleep(1_000)
        }
      }
      return new Response(events as unknown as ReadableStream, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  console.log(`http://127.0.0.1:${server.port}`)
}

if (process.argv[2] === 'upstream') serveUpstream()
else await measure()
