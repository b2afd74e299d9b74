import { TestCluster } from '../support/cluster.ts'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, deploy, type Serving } from '../support/running-service.ts'
import { queryPostgres } from '../support/store/postgres-store.ts'
import { Receiver } from '../support/webhook-receiver.ts'

/**
 * `kill`: SIGKILL to a random process, which is started again. `suspend`: SIGSTOP to a random process for so long that
 * others take over its work, then SIGCONT. `postgres`: SIGKILL to the server, which is started again. `connections`:
 * every second, all connections of the processes are cut.
 */
export type ClusterFault = 'kill' | 'suspend' | 'postgres' | 'connections'

export type ClusterCrashReport = {
  rounds: number
  /** Synchronous runs whose callers received the response, and asynchronous ones that were accepted. */
  acknowledged: number
  accepted: number
  /** Acknowledged or accepted runs without a log entry. */
  missing: string[]
  /** Runs with more than one log entry. */
  twice: string[]
  /** Asynchronous runs that ended with an error. */
  failed: string[]
  /** The longest time from accepting an asynchronous run to the arrival of its last effect. */
  slowestMs: number
  /** Runs whose webhook was never received. */
  undelivered: string[]
  /** Due times of a schedule that started more than one run. */
  dueTwice: string[]
  dueTimes: number
  /** The error lines that the processes logged, without those about the fault itself. */
  errors: string[]
}

const plain = document({ name: 'Plain', blocks: [block('start', 'api_trigger')] })
const scheduled = document({
  name: 'Scheduled',
  blocks: [block('it', 'schedule', { intervalMs: 1_000, overlap: 'allow' })],
})
const steps = (port: number) => {
  const effect = (id: string) =>
    block(id, 'api', { url: `http://127.0.0.1:${port}/${id}/<start.input.id>`, retries: 3 })
  return document({
    name: 'Steps',
    blocks: [block('start', 'api_trigger'), effect('first'), block('pause', 'wait', { ms: 300 }), effect('last')],
    edges: ['start > first', 'first > pause', 'pause > last'],
  })
}
const hooked = (port: number) => ({
  ...document({ name: 'Hooked', blocks: [block('start', 'api_trigger')] }),
  webhooks: [{ id: 'w', url: `http://127.0.0.1:${port}/hook`, includeFinalOutput: false, retryOnNetworkError: true }],
})

/** Three processes under a mixed load. `random` returns 0 ≤ n < 1. */
export async function crashCluster(options: {
  rounds: number
  faults: readonly ClusterFault[]
  random(): number
  /** How long a process is suspended; longer than its lease. */
  suspendMs?: number
  progress?(round: number, fault: ClusterFault, acknowledged: number): void
}): Promise<ClusterCrashReport> {
  const { rounds, faults, random, suspendMs = 60_000, progress } = options
  using folder = temporaryFolder()
  const world = new World()
  using receiver = new Receiver((request) => world.receive(request.path, request.body))
  const settings = { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_LOG_LEVEL: 'error' }
  await using cluster = await TestCluster.create(folder.path, settings)
  world.cluster = cluster
  const [first] = await Promise.all([cluster.start(), cluster.start(), cluster.start()])
  const { apiKey, workspaceId } = cluster.installation
  const pathOf = async (draft: unknown) => new URL(await deploy(first.url, apiKey, draft)).pathname
  const paths = {
    plain: await pathOf(plain),
    hooked: await pathOf(hooked(receiver.port)),
    steps: await pathOf(steps(receiver.port)),
  }
  const scheduledPath = await pathOf(scheduled)
  const load = world.load(paths, random)
  for (let round = 1; round <= rounds; round += 1) {
    const fault = faults[round % faults.length]!
    await Bun.sleep(500 + random() * 2_000)
    await world.inject(fault, random, suspendMs)
    progress?.(round, fault, world.acknowledged.size + world.accepted.size)
  }
  await Bun.sleep(1_000)
  world.isLoading = false
  await load
  const last = cluster.processes[0]!
  await call(`${last.url}${scheduledPath.replace('execute', 'deploy')}`, apiKey, 'DELETE')
  const isSettled = async () => {
    const [row] = await queryPostgres<{ left: number }>(
      cluster.environment['MILLRACE_STORE']!,
      'SELECT ((SELECT count(*) FROM millrace.jobs) + (SELECT count(*) FROM millrace.deliveries WHERE state = 0))::int AS left',
    )
    return row?.left === 0
  }
  const giveUpAt = performance.now() + 120_000
  while (!(await isSettled()) && performance.now() < giveUpAt) await Bun.sleep(200)
  const log = await world.entries(last, workspaceId)
  for (const process of cluster.processes) await cluster.kill(process, 'SIGTERM')
  return { rounds, ...world.report(log) }
}

type Entry = { executionId: string; level: string; trigger: string; finalOutput: { dueAt?: string } }

class World {
  readonly acknowledged = new Set<string>()
  /** Asynchronous runs by their own ID, with the time at which they were accepted. */
  readonly accepted = new Map<string, { executionId: string; at: number }>()
  readonly #hookedRuns = new Set<string>()
  readonly #effects = new Map<string, number>()
  readonly #delivered = new Set<string>()
  readonly #errors: string[] = []
  isLoading = true
  cluster!: TestCluster

  receive(path: string, body: string): Response {
    const [, name, id] = path.split('/')
    if (name === 'hook') this.#delivered.add((JSON.parse(body) as { data: { executionId: string } }).data.executionId)
    else if (name === 'last' && id && !this.#effects.has(id)) this.#effects.set(id, performance.now())
    return new Response('{}')
  }

  async load(paths: Record<'plain' | 'hooked' | 'steps', string>, random: () => number): Promise<void> {
    const sync = (path: string, also?: Set<string>) =>
      this.#keepCalling(path, random, {}, (_, executionId) => {
        this.acknowledged.add(executionId)
        also?.add(executionId)
      })
    await Promise.all([
      ...Array.from({ length: 4 }, () => sync(paths.plain)),
      ...Array.from({ length: 2 }, () => sync(paths.hooked, this.#hookedRuns)),
      ...Array.from({ length: 2 }, () =>
        this.#keepCalling(paths.steps, random, { 'x-execution-mode': 'async' }, (id, executionId) =>
          this.accepted.set(id, { executionId, at: performance.now() }),
        ),
      ),
    ])
  }

  /** Sends one request after another, each to a random process, as a load balancer would. */
  async #keepCalling(
    path: string,
    random: () => number,
    headers: Record<string, string>,
    acknowledge: (id: string, executionId: string) => void,
  ): Promise<void> {
    const { apiKey } = this.cluster.installation
    while (this.isLoading) {
      const { processes } = this.cluster
      const target = processes[Math.floor(random() * processes.length)]
      const id = crypto.randomUUID()
      try {
        const response = await fetch(`${target?.url}${path}`, {
          method: 'POST',
          headers: { 'x-api-key': apiKey, ...headers },
          body: JSON.stringify({ id }),
          signal: AbortSignal.timeout(10_000),
        })
        const { executionId } = (await response.json()) as { executionId: string }
        if (response.status === 200 || response.status === 202) acknowledge(id, executionId)
      } catch {
        // The process was killed, or is suspended.
      }
      await Bun.sleep(5 + random() * 10)
    }
  }

  async inject(fault: ClusterFault, random: () => number, suspendMs: number): Promise<void> {
    const { cluster } = this
    const victim = cluster.processes[Math.floor(random() * cluster.processes.length)]!
    if (fault === 'kill') {
      await cluster.kill(victim)
      this.#note(victim)
      await cluster.start()
    } else if (fault === 'suspend') {
      process.kill(victim.pid, 'SIGSTOP')
      await Bun.sleep(suspendMs)
      process.kill(victim.pid, 'SIGCONT')
      await Bun.sleep(3_000)
    } else if (fault === 'postgres') {
      await cluster.server.kill()
      await Bun.sleep(random() * 2_000)
      await cluster.server.run()
    } else {
      for (let second = 0; second < 5; second += 1) {
        await queryPostgres(cluster.environment['MILLRACE_STORE']!, cutConnections)
        await Bun.sleep(1_000)
      }
    }
  }

  #note(process: Serving): void {
    for (const line of process.errors().split('\n')) {
      if (line.includes('"error"') && !isAboutFault(line)) this.#errors.push(line)
    }
  }

  async entries({ url }: Serving, workspaceId: string): Promise<Entry[]> {
    const found: Entry[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = new URLSearchParams({ workspaceId, order: 'asc', limit: '1000', includeFinalOutput: 'true' })
      if (cursor !== '') query.set('cursor', cursor)
      const page = await call(`${url}/api/v1/logs?${query}`, this.cluster.installation.apiKey)
      const { data, nextCursor } = page.body as { data: Entry[]; nextCursor: string | null }
      found.push(...data)
      cursor = data.length > 0 ? nextCursor : null
    }
    return found
  }

  report(log: readonly Entry[]): Omit<ClusterCrashReport, 'rounds'> {
    for (const process of this.cluster.processes) this.#note(process)
    const counts = Map.groupBy(log, ({ executionId }) => executionId)
    const accepted = [...this.accepted.values()].map(({ executionId }) => executionId)
    const due = Map.groupBy(
      log.filter(({ trigger }) => trigger === 'schedule'),
      ({ finalOutput }) => finalOutput.dueAt ?? '',
    )
    const took = [...this.accepted].map(([id, { at }]) => (this.#effects.get(id) ?? Number.POSITIVE_INFINITY) - at)
    return {
      acknowledged: this.acknowledged.size,
      accepted: accepted.length,
      missing: [...this.acknowledged, ...accepted].filter((id) => !counts.has(id)),
      twice: [...counts].flatMap(([id, entries]) => (entries.length > 1 ? [id] : [])),
      failed: accepted.filter((id) => counts.get(id)?.[0]?.level === 'error'),
      slowestMs: Math.round(Math.max(0, ...took)),
      undelivered: [...this.#hookedRuns].filter((id) => !this.#delivered.has(id)),
      dueTwice: [...due].flatMap(([dueAt, entries]) => (entries.length > 1 ? [dueAt] : [])),
      dueTimes: due.size,
      errors: this.#errors,
    }
  }
}

/** The service reports that the database is away, and says so once. */
function isAboutFault(line: string): boolean {
  return /STORAGE_UNAVAILABLE|storage is unavailable|cannot check in|cannot continue|could not be deleted|look-up/.test(
    line,
  )
}

const cutConnections = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`
