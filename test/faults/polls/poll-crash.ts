import { TestCluster } from '../../support/cluster.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, init, type Serving, serve } from '../../support/running-service.ts'

export type PollCrashReport = {
  rounds: number
  /** Items that the service was shown. */
  items: number
  /** Items that started no run. Must be empty. */
  lost: string[]
  /** Items that started more than one run. Must be empty. */
  twice: string[]
  /** Runs that did not succeed. */
  failed: number
}

export type PollCrashOptions = {
  rounds: number
  random(): number
  /** Three processes on PostgreSQL, of which a random one is killed, instead of a single one. */
  isCluster?: boolean
  progress?(round: number, items: number): void
}

/** Polls three lists and a feed that grow with every request, and repeatedly kills the service with -9 meanwhile. */
export async function crashPolls(options: PollCrashOptions): Promise<PollCrashReport> {
  const { rounds, random, progress } = options
  using folder = temporaryFolder()
  using lists = new GrowingLists(random)
  await using service = options.isCluster ? await threeProcesses(folder.path) : await oneProcess(folder.path)
  const { apiKey, workspaceId } = service
  for (const name of lists.names) await deploy(service.any().url, apiKey, workflowFor(lists.url, name))
  for (let round = 1; round <= rounds; round += 1) {
    // Most kills come while a poll is read, compared or committed.
    await lists.nextRequest(service.isCluster ? 20_000 : 5_000)
    await Bun.sleep(random() * 60)
    await service.kill(random)
    progress?.(round, lists.count)
  }
  lists.isGrowing = false
  const wanted = lists.all()
  const giveUpAt = performance.now() + 60_000
  let runs = await runsOf(service.any(), apiKey, workspaceId)
  while (wanted.some((id) => !runs.counts.has(id)) && performance.now() < giveUpAt) {
    await Bun.sleep(200)
    runs = await runsOf(service.any(), apiKey, workspaceId)
  }
  // Another poll of each list must start nothing.
  for (let polls = 0; polls < 2 * lists.names.length; polls += 1) await lists.nextRequest(20_000)
  await Bun.sleep(500)
  const { counts, failed } = await runsOf(service.any(), apiKey, workspaceId)
  return {
    ...{ rounds, items: wanted.length, failed },
    lost: wanted.filter((id) => !counts.has(id)),
    twice: [...counts].filter(([, count]) => count > 1).map(([id]) => id),
  }
}

type Killable = AsyncDisposable & {
  apiKey: string
  workspaceId: string
  isCluster: boolean
  any(): Serving
  /** Kills a process and starts another one. */
  kill(random: () => number): Promise<void>
}

const settings = { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_LOG_LEVEL: 'error' }

async function oneProcess(folder: string): Promise<Killable> {
  const { apiKey, workspaceId } = await init(folder)
  let serving = await serve(folder, settings)
  return {
    ...{ apiKey, workspaceId, isCluster: false, any: () => serving },
    async kill() {
      await serving.kill('SIGKILL')
      serving = await serve(folder, settings)
    },
    async [Symbol.asyncDispose]() {
      await serving.kill('SIGTERM')
    },
  }
}

async function threeProcesses(folder: string): Promise<Killable> {
  const cluster = await TestCluster.create(folder, settings)
  await Promise.all([cluster.start(), cluster.start(), cluster.start()])
  const { apiKey, workspaceId } = cluster.installation
  return {
    ...{ apiKey, workspaceId, isCluster: true, any: () => cluster.processes[0]! },
    async kill(random) {
      const { processes } = cluster
      await cluster.kill(processes[Math.floor(random() * processes.length)]!)
      await cluster.start()
    },
    async [Symbol.asyncDispose]() {
      for (const process of cluster.processes) await cluster.kill(process, 'SIGTERM')
      await cluster[Symbol.asyncDispose]()
    },
  }
}

function workflowFor(url: string, name: string) {
  const isFeed = name.startsWith('feed')
  const trigger = isFeed
    ? block('it', 'rss_trigger', { url: `${url}/${name}`, everyMs: 1_000, first: 'all' })
    : block('it', 'poll_trigger', { request: { url: `${url}/${name}` }, id: 'id', everyMs: 1_000, first: 'all' })
  return document({ name, blocks: [trigger] })
}

type Entry = { level: string; finalOutput: { item?: { id?: unknown } } | null }

/** How many runs each item has started. */
async function runsOf({ url }: Serving, apiKey: string, workspaceId: string) {
  const counts = new Map<string, number>()
  let failed = 0
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ workspaceId, limit: '1000', includeFinalOutput: 'true' })
    if (cursor !== '') query.set('cursor', cursor)
    const { body } = await call(`${url}/api/v1/logs?${query}`, apiKey)
    const page = body as { data: Entry[]; nextCursor: string | null }
    for (const { level, finalOutput } of page.data) {
      if (level === 'error') failed += 1
      const id = String(finalOutput?.item?.id)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    cursor = page.nextCursor
  }
  return { counts, failed }
}

/** Lists and a feed, each of which grows by some items with every request and shows the last 500. */
class GrowingLists {
  readonly names = ['list-a', 'list-b', 'list-c', 'feed-d']
  isGrowing = true
  readonly #counts = new Map<string, number>()
  readonly #random: () => number
  readonly #server: ReturnType<typeof Bun.serve>
  #asked = Promise.withResolvers<void>()

  constructor(random: () => number) {
    this.#random = random
    this.#server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#answer(request) })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  get count(): number {
    return this.#counts.values().reduce((sum, count) => sum + count, 0)
  }

  all(): string[] {
    return [...this.#counts].flatMap(([name, count]) => Array.from({ length: count }, (_, n) => `${name} ${n}`))
  }

  async nextRequest(timeoutMs: number): Promise<void> {
    await Promise.race([this.#asked.promise, Bun.sleep(timeoutMs)])
  }

  [Symbol.dispose](): void {
    this.#server.stop(true)
  }

  #answer(request: Request): Response {
    const name = new URL(request.url).pathname.slice(1)
    const growth = this.isGrowing ? Math.floor(this.#random() * 4) : 0
    const count = (this.#counts.get(name) ?? 0) + growth
    this.#counts.set(name, count)
    this.#asked.resolve()
    this.#asked = Promise.withResolvers()
    const headers = { etag: `"${count}"` }
    if (request.headers.get('if-none-match') === headers.etag) return new Response(null, { status: 304, headers })
    const ids = Array.from({ length: Math.min(count, shownMax) }, (_, index) => `${name} ${count - 1 - index}`)
    if (!name.startsWith('feed'))
      return Response.json(
        ids.map((id) => ({ id })),
        { headers },
      )
    const items = ids.map((id) => `<item><guid>${id}</guid></item>`).join('')
    return new Response(`<rss version="2.0"><channel>${items}</channel></rss>`, { headers })
  }
}

const shownMax = 500
