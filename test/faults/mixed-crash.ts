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
  /** Synchronous runs whose callers received the response. */
  acknowledged: number
  /** Acknowledged runs that the log does not contain although they are too young for retention. */
  missing: string[]
  /** Accepted asynchronous runs that did not complete. */
  unfinished: string[]
  /** Log entries that a client missed although it followed the log all the time. */
  notFollowed: string[]
  /** Entries that this client received twice or out of order. */
  outOfOrder: string[]
  /** Runs that were acknowledged before a backup began but are not in it. */
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
const responding = document({
  name: 'Responds',
  blocks: [block('start', 'api_trigger'), block('f', 'function', { code: `return ${noise}` })],
  edges: ['start > f'],
})
const scheduled = document({
  name: 'Scheduled',
  blocks: [block('it', 'schedule', { intervalMs: 1_000, overlap: 'allow' })],
})

/** A small limit, so that retention has work whenever the service runs for more than a second. */
const settings = { MILLRACE_LOG_RETENTION_BYTES: '10MB', MILLRACE_LOG_LEVEL: 'error' }

/**
 * Runs a mixed load: few or many callers, asynchronous runs, schedules, retention, backups and a client that follows
 * the log. Kills the service with -9 at random moments and restarts it. `random` returns 0 ≤ n < 1.
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
    world.inspect(service)
    progress?.(round, world.acknowledgedAt.size)
  }
  return { rounds, ...(await world.report()) }
}

class World {
  /** The time at which each run was acknowledged. */
  readonly acknowledgedAt = new Map<string, number>()
  readonly #accepted = new Set<string>()
  readonly #followed: { id: string; executionId: string }[] = []
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
      this.#path = new URL(await deploy(service.url, this.apiKey, responding)).pathname
      await deploy(service.url, this.apiKey, scheduled)
    }
    return service
  }

  /** Runs the load until the service is gone. */
  async load(service: Serving): Promise<void> {
    const callers = this.random() < 0.5 ? 1 + Math.floor(this.random() * 3) : 30
    const isAsync = this.random()
    await Promise.all([
      ...Array.from({ length: callers }, () => this.#call(service, isAsync)),
      this.#follow(service),
      this.random() < 0.4 ? this.#backUp() : undefined,
    ])
  }

  inspect(service: Serving): void {
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
      const outcome = await this.#outcomeOf(service, id)
      if (outcome !== 'ended') unfinished.push(`${id} ${outcome}`)
    }
    while (await this.#poll(service.url));
    for (let cursor = ''; ; ) {
      const { data, nextCursor } = await this.#page(service.url, cursor)
      for (const { executionId, id, endedAt } of data) log.set(executionId, { id, endedAt: Date.parse(endedAt) })
      if (data.length === 0 || nextCursor === null) break
      cursor = nextCursor
    }
    // The schedule goes on, so the log may have entries that are newer than the last poll.
    while (await this.#poll(service.url));
    await service.kill('SIGTERM')
    this.inspect(service)
    const followed = new Set(this.#followed.map(({ executionId }) => executionId))
    const ids = this.#followed.map(({ id }) => id)
    const oldest = log.values().next().value?.endedAt ?? Number.POSITIVE_INFINITY
    const missing = [...this.acknowledgedAt.keys()].filter((id) => !log.has(id))
    return {
      acknowledged: this.acknowledgedAt.size,
      missing: missing.filter((id) => startedAtOf(id) > oldest + slackMs),
      retained: missing.length,
      unfinished,
      notFollowed: [...log.keys()].filter((id) => !followed.has(id)),
      outOfOrder: ids.filter((id, index) => index > 0 && id <= ids[index - 1]!),
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
        if (response.status === 200) this.acknowledgedAt.set(executionId, Date.now())
        if (response.status >= 500 && response.status !== 503) this.#errors.push(`${response.status} for a run`)
      } catch {
        return
      }
    }
  }

  /** Follows the log as the interface documents it. Continues after each restart. */
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
    this.#followed.push(...data)
    this.#cursor = nextCursor ?? this.#cursor
    return data.length > 0
  }

  async #page(url: string, cursor: string): Promise<Page> {
    const query = new URLSearchParams({ workspaceId: this.workspaceId, order: 'asc', limit: '1000' })
    if (cursor !== '') query.set('cursor', cursor)
    const { status, body } = await call(`${url}/api/v1/logs?${query}`, this.apiKey)
    if (status !== 200) throw new Error(`The logs acknowledgedAt ${status}: ${JSON.stringify(body)}`)
    return body as Page
  }

  async #outcomeOf({ url }: Serving, executionId: string): Promise<string> {
    for (;;) {
      const { status, body } = await call(`${url}/api/jobs/${executionId}`, this.apiKey)
      // Retention may have deleted the job with its log entry.
      if (status === 404) return this.#followed.some((entry) => entry.executionId === executionId) ? 'ended' : 'is gone'
      const { status: state, error } = body as { status: string; error?: { code: string } }
      // A job that was in progress at three kills ends as interrupted.
      if (state === 'completed' || error?.code === 'INTERRUPTED') return 'ended'
      if (state !== 'queued' && state !== 'processing') return `${state} ${error?.code}`
      await Bun.sleep(10)
    }
  }

  /** Makes a backup while the service runs or is killed, and checks it immediately. */
  async #backUp(): Promise<void> {
    using place = temporaryFolder()
    const [file, data] = [join(place.path, 'backup.tar'), join(place.path, 'data')]
    const startedAt = Date.now()
    const before = [...this.acknowledgedAt.keys()]
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
    const oldest = Math.min(...[...recorded].map((id) => this.acknowledgedAt.get(id) ?? startedAt))
    await store.close()
    rmSync(data, { recursive: true })
    if (existsSync(`${file}.db`)) this.#errors.push('a backup did not delete its copy of the database')
    const missing = before.filter((id) => !recorded.has(id) && startedAtOf(id) > oldest + slackMs)
    this.#missingInBackups.push(...missing)
  }
}

type Page = { data: { id: string; executionId: string; endedAt: string }[]; nextCursor: string | null }

/** Retention deletes all entries of one commit together. */
const slackMs = 1_000

/**
 * When a run started, in epoch milliseconds, from the first digits of its execution ID. The time of the response would
 * depend on the caller.
 */
function startedAtOf(executionId: string): number {
  return Number.parseInt(executionId.replace('-', '').slice(0, 12), 16)
}
