import { Database } from 'bun:sqlite'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { millrace, temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, deploy, init, type Serving, serve } from '../support/running-service.ts'
import { recordedIn } from '../support/store/appending-process.ts'

export type MixedCrashReport = {
  rounds: number
  /** Answered runs, accepted ones among them. */
  acknowledged: number
  /** Acknowledged runs that the log does not contain although they are too young for retention. */
  missing: string[]
  /** Accepted runs that never ended well. */
  unfinished: string[]
  /** Log entries that a client which followed the log all the time never received. */
  unmet: string[]
  /** Entries that this client met twice, or in another order than the log's. */
  disordered: string[]
  /** Runs answered before a backup began that it does not hold. */
  missingInBackups: string[]
  backups: number
  /** Entries that retention deleted. */
  retained: number
  integrity: string[]
  /** The error lines that the service logged. */
  errors: string[]
  startedInMs: number[]
}

const noise = 'Array.from({ length: 300 }, () => Math.random().toString(36)).join("")'
const answering = document({
  name: 'Answers',
  blocks: [block('start', 'api_trigger'), block('f', 'function', { code: `return ${noise}` })],
  edges: ['start > f'],
})
const scheduled = document({
  name: 'Comes by itself',
  blocks: [block('it', 'schedule', { intervalMs: 1_000, overlap: 'allow' })],
})

/** Small, so that retention has something to do whenever a service lives for more than a second. */
const settings = { MILLRACE_LOG_RETENTION_BYTES: '10MB', MILLRACE_LOG_LEVEL: 'error' }

/**
 * Everything at once: lone callers and crowds, asynchronous runs, schedules, retention, backups and a client that
 * follows the log; and the service is killed with -9 at random moments and started again. `random` gives 0 ≤ n < 1.
 */
export async function crashMixed(options: {
  rounds: number
  random(): number
  progress?(round: number, acknowledged: number): void
}): Promise<MixedCrashReport> {
  const { rounds, random, progress } = options
  using folder = temporaryFolder()
  const { apiKey, workspaceId } = await init(folder.path)
  const world = new World(folder.path, apiKey, workspaceId, random)
  for (let round = 1; round <= rounds; round += 1) {
    const service = await world.start()
    const load = world.load(service)
    await Bun.sleep(100 + random() * 1_500)
    await service.kill('SIGKILL')
    await load
    world.look(service)
    progress?.(round, world.answered.size)
  }
  return { rounds, ...(await world.report()) }
}

class World {
  /** When each run was answered. */
  readonly answered = new Map<string, number>()
  readonly #accepted = new Set<string>()
  readonly #met: { id: string; executionId: string }[] = []
  readonly #integrity = new Set<string>()
  readonly #errors: string[] = []
  readonly #startedInMs: number[] = []
  readonly #missingInBackups: string[] = []
  #backups = 0
  #cursor = ''
  #path = ''

  constructor(
    readonly folder: string,
    readonly apiKey: string,
    readonly workspaceId: string,
    readonly random: () => number,
  ) {}

  async start(): Promise<Serving> {
    const service = await serve(this.folder, settings)
    this.#startedInMs.push(service.startedInMs)
    if (this.#path === '') {
      this.#path = new URL(await deploy(service.url, this.apiKey, answering)).pathname
      await deploy(service.url, this.apiKey, scheduled)
    }
    return service
  }

  /** Until the service is gone. */
  async load(service: Serving): Promise<void> {
    const callers = this.random() < 0.5 ? 1 + Math.floor(this.random() * 3) : 30
    const isAsync = this.random()
    await Promise.all([
      ...Array.from({ length: callers }, () => this.#call(service, isAsync)),
      this.#follow(service),
      this.random() < 0.4 ? this.#backUp() : undefined,
    ])
  }

  look(service: Serving): void {
    const database = new Database(join(this.folder, 'millrace.db'))
    for (const row of database.query('PRAGMA integrity_check').all()) this.#integrity.add(JSON.stringify(row))
    database.close()
    // Ignore a line that was cut off by the kill.
    for (const line of service.errors().split('\n').slice(0, -1)) if (line.includes('"error"')) this.#errors.push(line)
  }

  async report(): Promise<Omit<MixedCrashReport, 'rounds'>> {
    const service = await this.start()
    const unfinished: string[] = []
    const log = new Map<string, { id: string; endedAt: number }>()
    for (const id of this.#accepted) {
      const fate = await this.#fateOf(service, id)
      if (fate !== 'ended') unfinished.push(`${id} ${fate}`)
    }
    while (await this.#poll(service.url));
    for (let cursor = ''; ; ) {
      const { data, nextCursor } = await this.#page(service.url, cursor)
      for (const { executionId, id, endedAt } of data) log.set(executionId, { id, endedAt: Date.parse(endedAt) })
      if (data.length === 0 || nextCursor === null) break
      cursor = nextCursor
    }
    await service.kill('SIGTERM')
    this.look(service)
    const met = new Set(this.#met.map(({ executionId }) => executionId))
    const ids = this.#met.map(({ id }) => id)
    const oldest = log.values().next().value?.endedAt ?? Number.POSITIVE_INFINITY
    const missing = [...this.answered.keys()].filter((id) => !log.has(id))
    return {
      acknowledged: this.answered.size,
      missing: missing.filter((id) => madeAt(id) > oldest + slackMs),
      retained: missing.length,
      unfinished,
      unmet: [...log.keys()].filter((id) => !met.has(id)),
      disordered: ids.filter((id, index) => index > 0 && id <= ids[index - 1]!),
      missingInBackups: this.#missingInBackups,
      backups: this.#backups,
      integrity: [...this.#integrity],
      errors: this.#errors,
      startedInMs: this.#startedInMs,
    }
  }

  async #call({ url }: Serving, asyncShare: number): Promise<void> {
    for (;;) {
      const isAsync = this.random() < asyncShare
      try {
        const headers = { 'x-api-key': this.apiKey, ...(isAsync && { 'X-Execution-Mode': 'async' }) }
        const response = await fetch(url + this.#path, { method: 'POST', headers, body: '{}' })
        const { executionId } = (await response.json()) as { executionId: string }
        if (response.status === 202) this.#accepted.add(executionId)
        if (response.status === 200) this.answered.set(executionId, Date.now())
        if (response.status >= 500 && response.status !== 503) this.#errors.push(`${response.status} for a run`)
      } catch {
        return
      }
    }
  }

  /** The log as the interface tells clients to follow it, over all lives of the service. */
  async #follow({ url }: Serving): Promise<void> {
    for (;;) {
      try {
        if (!(await this.#poll(url))) await Bun.sleep(2)
      } catch {
        return
      }
    }
  }

  async #poll(url: string): Promise<boolean> {
    const { data, nextCursor } = await this.#page(url, this.#cursor)
    this.#met.push(...data)
    this.#cursor = nextCursor ?? this.#cursor
    return data.length > 0
  }

  async #page(url: string, cursor: string): Promise<Page> {
    const query = new URLSearchParams({ workspaceId: this.workspaceId, order: 'asc', limit: '1000' })
    if (cursor !== '') query.set('cursor', cursor)
    const { status, body } = await call(`${url}/api/v1/logs?${query}`, this.apiKey)
    if (status !== 200) throw new Error(`The logs answered ${status}: ${JSON.stringify(body)}`)
    return body as Page
  }

  async #fateOf({ url }: Serving, executionId: string): Promise<string> {
    for (;;) {
      const { status, body } = await call(`${url}/api/jobs/${executionId}`, this.apiKey)
      // Retention may have taken it with its entry.
      if (status === 404) return this.#met.some((entry) => entry.executionId === executionId) ? 'ended' : 'is gone'
      const { status: state, error } = body as { status: string; error?: { code: string } }
      // One that was cut by three kills is told so.
      if (state === 'completed' || error?.code === 'INTERRUPTED') return 'ended'
      if (state !== 'queued' && state !== 'processing') return `${state} ${error?.code}`
      await Bun.sleep(10)
    }
  }

  /** Made while the service works or dies; looked into at once. */
  async #backUp(): Promise<void> {
    using place = temporaryFolder()
    const [file, data] = [join(place.path, 'backup.tar'), join(place.path, 'data')]
    const startedAt = Date.now()
    const before = [...this.answered.keys()]
    const { code, words } = await millrace(['backup', file, '--data', this.folder])
    if (code !== 0) {
      this.#errors.push(`backup: ${words}`)
      return
    }
    this.#backups += 1
    const restored = await millrace(['restore', file, '--data', data])
    if (restored.code !== 0) this.#errors.push(`restore: ${restored.words}`)
    const store = await openSqliteStore({ directory: data, sync: 'normal', mode: 'direct' })
    const recorded = await recordedIn(store)
    const oldest = Math.min(...[...recorded].map((id) => this.answered.get(id) ?? startedAt))
    await store.close()
    rmSync(data, { recursive: true })
    if (existsSync(`${file}.db`)) this.#errors.push('a backup left its copy behind')
    const missing = before.filter((id) => !recorded.has(id) && madeAt(id) > oldest + slackMs)
    this.#missingInBackups.push(...missing)
  }
}

type Page = { data: { id: string; executionId: string; endedAt: string }[]; nextCursor: string | null }

/** Entries of one commit go together. */
const slackMs = 1_000

/**
 * The first of a run's digits are the milliseconds at which it began; when its caller heard of its end depends on the
 * caller.
 */
function madeAt(executionId: string): number {
  return Number.parseInt(executionId.replace('-', '').slice(0, 12), 16)
}
