import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from '../../../bench/support/service.ts'
import { type Attack, type AttackRequest, attacksOn } from './attacks.ts'
import { folderBytes } from './folder-bytes.ts'
import { startTarget, type Target } from './target.ts'

export type AttackReport = {
  name: string
  /** The bytes that the attackers sent. */
  sentBytes: number
  /** How often each status was received; 0 stands for a broken connection. */
  statuses: Record<number, number>
  largestResponse: number
  /** The longest wait for `/health/live` in milliseconds, and for a bare server on the same cores. */
  healthMs: number
  noiseMs: number
  /** The p99 of ordinary callers in milliseconds during the attack, and while a bare server is attacked. */
  p99Ms: number
  bareP99Ms: number
  /** Resident memory in MB: before, at most, and afterwards. */
  memoryMb: { before: number; peak: number; after: number }
  /** The growth of the data folder. */
  diskBytes: number
}

export type HostileOptions = {
  data: string
  isShort: boolean
  /** Ordinary callers that run a condition workflow all the time. */
  callers: number
  /** How long each attack is repeated. It is sent at least once. */
  attackMs: number
  /** Selects attacks by name. */
  only?: RegExp
  environment?: Record<string, string>
  report?(report: AttackReport): void
  /** Called after all attacks, while the service still runs. */
  afterwards?(residentMb: () => number): Promise<void>
}

/** Sends every attack to the executable, and measures the effect on other clients. */
export async function hostile(options: HostileOptions): Promise<AttackReport[]> {
  const { data, isShort, only = /./, report = () => undefined, environment } = options
  const upstream = await startServer('upstream.ts')
  const target = await startTarget(data, upstream.url, environment)
  const bare = await startServer('bare-sink.ts')
  const meters = { health: new Observer(`${target.url}/health/live`), noise: new Observer(bare.url) }
  const reports: AttackReport[] = []
  try {
    for (const attack of attacksOn(target, isShort).filter(({ name }) => only.test(name))) {
      const measured = await measure(target, attack, { ...options, ...meters, bareUrl: bare.url })
      reports.push(measured)
      report(measured)
    }
    await options.afterwards?.(() => residentMb(target.service.pid))
  } finally {
    meters.health.stop()
    meters.noise.stop()
    bare.stop()
    upstream.stop()
    await target.service.kill('SIGKILL')
  }
  return reports
}

type Measuring = HostileOptions & { health: Observer; noise: Observer; bareUrl: string }

async function measure(target: Target, attack: Attack, measuring: Measuring): Promise<AttackReport> {
  const { health, noise, bareUrl } = measuring
  const elsewhere = { ...attack, requests: attack.requests.map(({ then, ...sent }) => ({ ...sent, url: bareUrl })) }
  // Without ordinary callers there is nothing to compare.
  const { p99: bareP99Ms } = measuring.callers > 0 ? await underAttack(target, elsewhere, measuring) : { p99: 0 }
  const before = residentMb(target.service.pid)
  const diskBefore = folderBytes(target.data)
  let peak = before
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentMb(target.service.pid))
  }, 10)
  await Promise.all([health.period(), noise.period()])
  const { p99, responses, sentBytes } = await underAttack(target, attack, measuring)
  const [healthMs, noiseMs] = await Promise.all([health.period(), noise.period()])
  clearInterval(sampling)
  const statuses: Record<number, number> = {}
  for (const { status } of responses) statuses[status] = (statuses[status] ?? 0) + 1
  return {
    name: attack.name,
    ...{ sentBytes, statuses, healthMs, noiseMs, p99Ms: p99, bareP99Ms },
    largestResponse: Math.max(...responses.map(({ length }) => length)),
    memoryMb: { before: Math.round(before), peak: Math.round(peak), after: Math.round(residentMb(target.service.pid)) },
    diskBytes: folderBytes(target.data) - diskBefore,
  }
}

type Attacked = { p99: number; sentBytes: number; responses: AttackResponse[] }

/** Repeats an attack while the ordinary callers run. */
async function underAttack(
  target: Target,
  { requests, times = 1, atOnce = requests.length }: Attack,
  { callers, attackMs }: Measuring,
): Promise<Attacked> {
  const startMs = callers > 0 ? 300 : 0
  const ordinary = loadOf(target, callers, startMs + attackMs + 200)
  // The attack begins when the callers have begun.
  await Bun.sleep(startMs)
  const endAt = performance.now() + attackMs
  const responses: AttackResponse[] = []
  const attack = async (own: readonly AttackRequest[]) => {
    for (let time = 0; time < times || performance.now() < endAt; time += 1) {
      for (const request of own) responses.push(await send(request))
    }
  }
  const attackers = Map.groupBy(requests.keys(), (at) => at % atOnce)
  await Promise.all([...attackers.values()].map((places) => attack(places.map((at) => requests[at]!))))
  const sizeOf = new Map(requests.map((request) => [request.url, request.bytes?.length ?? 0]))
  const sentBytes = responses.reduce((sum, { url }) => sum + (sizeOf.get(url) ?? 0), 0)
  return { p99: (await ordinary)?.p99 ?? 0, sentBytes, responses }
}

async function loadOf({ ordinary, apiKey }: Target, connections: number, ms: number) {
  if (connections === 0) return undefined
  return await load({ url: ordinary, connections, ms, body: '{"n":5}', headers: [`X-API-Key: ${apiKey}`] })
}

type AttackResponse = { url: string; status: number; length: number }

async function send({ url, method = 'POST', headers, bytes, then }: AttackRequest): Promise<AttackResponse> {
  try {
    const signal = AbortSignal.timeout(60_000)
    const response = await fetch(url, { method, headers, signal, ...(bytes ? { body: bytes } : {}) })
    if (then && response.ok) return { ...(await send({ headers, ...then(await response.text()) })), url }
    let length = 0
    for await (const chunk of response.body ?? []) length += (chunk as Uint8Array).byteLength
    return { url, status: response.status, length }
  } catch {
    return { url, status: 0, length: 0 }
  }
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

/** Starts one of the servers of this folder. */
async function startServer(file: string): Promise<{ url: string; stop(): void }> {
  const server = Bun.spawn([process.execPath, join(import.meta.dir, file)], { stdout: 'pipe' })
  const { value: port } = await linesOf(server.stdout).next()
  return { url: `http://127.0.0.1:${port}/`, stop: () => server.kill() }
}

/** The process of `observer.ts`. */
class Observer {
  readonly #process
  readonly #lines: AsyncIterator<string>

  constructor(url: string) {
    this.#process = Bun.spawn([process.execPath, join(import.meta.dir, 'observer.ts'), url], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    this.#lines = linesOf(this.#process.stdout)
  }

  /** Ends a period. Returns the longest wait in it. */
  async period(): Promise<number> {
    this.#process.stdin.write('\n')
    await this.#process.stdin.flush()
    const { value } = await this.#lines.next()
    return Number(value)
  }

  stop(): void {
    this.#process.kill()
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let pending = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    pending += decoder.decode(chunk, { stream: true })
    const lines = pending.split('\n')
    pending = lines.pop() ?? ''
    yield* lines
  }
}
