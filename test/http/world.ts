// Long because it is one world: every service of the HTTP interface, put together in one place.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyElysia } from 'elysia'
import { Environments } from '../../src/accounts/environment.ts'
import { KeyCache } from '../../src/accounts/keys.ts'
import { AccountLimits } from '../../src/accounts/limits.ts'
import { RateWindowPersistence } from '../../src/accounts/rate-window-persistence.ts'
import { SecretBox } from '../../src/accounts/secret-box.ts'
import { Sessions } from '../../src/accounts/sessions.ts'
import { Usage } from '../../src/accounts/usage.ts'
import { registry } from '../../src/blocks/registry.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { LogSequence, newExecutionId, newId } from '../../src/domain/ids.ts'
import { defaultLimits } from '../../src/domain/limits.ts'
import type { LogRow } from '../../src/domain/log.ts'
import { pricesWith } from '../../src/domain/model-prices.ts'
import { defaultPlans, type PlanName } from '../../src/domain/plan.ts'
import type { WorkflowDocument } from '../../src/domain/workflow.ts'
import { Deployments } from '../../src/engine/deployments.ts'
import { giveParameters } from '../../src/engine/given-parameters.ts'
import { checkOf } from '../../src/engine/registrations.ts'
import { type Answerer, Listener } from '../../src/http/listener.ts'
import { describeApi } from '../../src/http/routes/swagger.ts'
import { createServer, type HttpServer, type MoreRoutes } from '../../src/http/server.ts'
import type { RunInFlight, Services } from '../../src/http/services.ts'
import { urlProblem } from '../../src/outbound/url-problem.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Role, Store } from '../../src/store/store.ts'
import { type AccessLogging, Logger } from '../../src/telemetry/logger.ts'
import { ServiceMetrics } from '../../src/telemetry/service-metrics.ts'
import { Subscriptions } from '../../src/webhooks/subscriptions.ts'
import { UserDecisions } from '../../src/webhooks/user-decisions.ts'
import { allowList } from '../outbound/peers.ts'
import { appendLogs } from '../store/append-logs.ts'
import { Accounts, newKey } from './accounts.ts'
import { DeclaredAnswers } from './declared-answers.ts'
import { madeUpInterface } from './interface-files.ts'

export type WorldOptions = {
  access?: AccessLogging
  bodyBytesMax?: number
  /** The installation's. */
  plan?: PlanName
  more?: MoreRoutes
  /** Replaces services, to see what becomes of their failures. */
  override?: (services: Services) => Partial<Services>
}

export type CallOptions = { key?: string | null; body?: unknown; text?: string; headers?: Record<string, string> }
export type Answer = { status: number; headers: Headers; text: string; json: Parsed }

/** JSON of any shape: what it holds is what a test is about. */
export type Parsed = ReturnType<typeof JSON.parse>

/**
 * The HTTP interface over a real store and a real socket, with everything but runs: an owner with one workspace, and a
 * stranger with another. `owner` and `stranger` are personal keys; runs in flight are put into `running`.
 */
export class HttpWorld {
  readonly directory: string
  readonly store: Store
  readonly accounts: Accounts
  readonly deployments: Deployments
  readonly services: Services
  readonly app: AnyElysia
  readonly #server: HttpServer
  readonly #listener = new Listener({ hostname: '127.0.0.1', port: 0, version: 'test' })
  readonly metrics = new ServiceMetrics({ clock: systemClock, build: { version: 'x', commit: 'x', bun: Bun.version } })
  readonly lines: Parsed[] = []
  readonly running = new Map<string, RunInFlight>()
  readonly cancelled: string[] = []
  readonly workspaceId = newId()
  readonly userId = newId()
  readonly #sequence = new LogSequence(Date.now)
  #declared: Promise<DeclaredAnswers[]> | undefined
  owner = ''
  stranger = ''
  url = ''
  port = 0

  static async open(options: WorldOptions = {}): Promise<HttpWorld> {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-http-'))
    const store = await openSqliteStore({ directory, sync: 'normal', mode: 'direct' })
    const world = new HttpWorld(directory, store, options)
    await world.#populate()
    world.#listener.open(world.app as unknown as Answerer, world.#server.lost, { shortcut: world.#server.shortcut })
    world.port = world.#listener.port
    world.url = `http://127.0.0.1:${world.port}`
    return world
  }

  private constructor(directory: string, store: Store, options: WorldOptions) {
    this.directory = directory
    this.store = store
    this.accounts = new Accounts(directory)
    const clock = systemClock
    this.deployments = new Deployments({
      registry,
      limits: defaultLimits,
      plansMax: 10,
      getActive: (workflowId) => store.getActive(workflowId),
      getVersion: (workflowId, version) => store.getVersion(workflowId, version),
    })
    const keys = new KeyCache({ findKey: (hash) => store.findKey(hash), clock })
    const usage = new Usage({ getUsage: (userId, periodStart) => store.getUsage(userId, periodStart), clock })
    const journal = new RateWindowPersistence({ save: (rows, at) => store.saveRateWindows(rows, at), clock })
    const limits = new AccountLimits({
      findUser: (userId) => store.findUser(userId),
      plans: defaultPlans,
      plan: options.plan ?? 'enterprise',
      usage,
      journal,
      windows: [],
      clock,
    })
    const bodyBytesMax = options.bodyBytesMax ?? 100_000
    const box = new SecretBox([new Uint8Array(32)], { directory, secretKey: undefined })
    const services: Services = {
      store,
      lookUpKey: keys.lookUp,
      deployments: this.deployments,
      completeDocument: (document, before) => giveParameters(document, before, registry, newId),
      checkWorkflow: (document) => checkOf(this.deployments.check(document), clock.now()),
      runner: {
        find: (executionId) => this.running.get(executionId),
        cancel: (executionId) => this.#cancel(executionId),
      },
      jobs: { find: async () => undefined, cancel: async () => false },
      manual: {
        compile: (document) => this.deployments.check(document),
        start: () => undefined,
        find: () => undefined,
        secretsOf: async () => undefined,
        receiveFiles: () => Promise.reject(new Error('No files here')),
        removeFiles: () => Promise.reject(new Error('No files here')),
        inFlight: () => undefined,
        watch: () => undefined,
        isAwaited: () => false,
        settle: () => undefined,
      },
      outputOf: async () => undefined,
      priceOf: pricesWith(new Map()),
      installation: {
        build: { version: 'x', commit: 'x', bun: Bun.version },
        startedAt: 0,
        retention: { days: 30, bytesMax: 10 * 1024 ** 3 },
        files: 'disk',
      },
      sessions: new Sessions({ store, clock, idleDays: 30, open: false }),
      subscriptions: new Subscriptions({
        store,
        seal: (secret, context) => box.seal(secret, context),
        urlProblem: (url) => urlProblem(url, allowList([])),
        clock,
      }),
      tryWebhook: async () => Promise.reject(new Error('Nothing is sent from here')),
      deliveries: new UserDecisions({ store, now: clock.now, findLane: () => undefined, expect: () => {} }),
      environments: new Environments({ store, box, clock }),
      files: { freshen: (text) => text, served: undefined },
      interfaceFiles: async () => madeUpInterface(directory),
      rateLimits: {
        externalApi: async ({ userId }) => limits.take('external', await limits.account(userId)),
        refused: (address) => limits.takeRefused(address),
        refusedSoFar: (address) => limits.peekRefused(address),
      },
      limitsOf: ({ userId }) => limits.report(userId),
      writerHealth: () => ({ healthy: true, waiting: 0 }),
      metrics: this.metrics,
      clock,
      logger: new Logger({
        level: 'info',
        access: options.access ?? 'off',
        now: Date.now,
        write: (line) => this.lines.push(JSON.parse(line)),
      }),
      settings: {
        bodyBytesMax,
        bodyBytesMaxAnywhere: 2 * bodyBytesMax,
        baseUrl: () => this.url,
        version: '0.0.0-test',
      },
    }
    this.services = { ...services, ...options.override?.(services) }
    this.#server = createServer(this.services, options.more)
    this.app = this.#server.app
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const key = options.key === undefined ? this.owner : options.key
    const body = options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const response = await fetch(this.url + path, {
      method,
      headers: { ...(key === null ? {} : { 'x-api-key': key }), ...options.headers },
      ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body }),
      redirect: 'manual',
    })
    const text = await response.text()
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json') && text !== ''
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    }
    this.#declared ??= this.#describe()
    for (const declared of await this.#declared) declared.assert(method, path, answer)
    return answer
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', path, options)
  }

  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return this.call('POST', path, { ...options, ...(body === undefined ? {} : { body }) })
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.call('PUT', path, { body })
  }

  /** A page of the owner's log entries. */
  logs(query: string): Promise<Answer> {
    return this.get(`/api/v1/logs?workspaceId=${this.workspaceId}${query}`)
  }

  /** A workflow of the owner's workspace; gives its id. */
  async workflow(document: Partial<WorkflowDocument> = {}): Promise<string> {
    const { json } = await this.post('/api/workflows', { ...sampleDocument(), ...document })
    return json.id
  }

  async deployed(document: Partial<WorkflowDocument> = {}): Promise<string> {
    const id = await this.workflow(document)
    await this.post(`/api/workflows/${id}/deploy`)
    return id
  }

  /** A key of the owner's account, or of another one. */
  async key(more: { workspaceId?: string; userId?: string; expiresAt?: number } = {}): Promise<string> {
    const { text, row } = newKey({ userId: this.userId, ...more })
    await this.store.createKey(row)
    return text
  }

  async revokedKey(): Promise<string> {
    const { text, row } = newKey({ userId: this.userId })
    await this.store.createKey(row)
    await this.store.revokeKey(row.id, Date.now())
    return text
  }

  /** A new account with a role in the owner's workspace; gives a personal key of it. */
  member(role: Role): Promise<string> {
    const userId = this.accounts.addUser()
    this.accounts.addMember(userId, this.workspaceId, role)
    return this.key({ userId })
  }

  /** Writes down a run that ended. */
  async log(workflowId: string, more: Partial<LogRow> = {}): Promise<LogRow> {
    const row = this.logRow(workflowId, more)
    await appendLogs(this.store, [row])
    return row
  }

  logRow(workflowId: string, more: Partial<LogRow> = {}): LogRow {
    const at = Date.UTC(2025, 5, 1, 12)
    return {
      sequence: this.#sequence.next(),
      executionId: newExecutionId(),
      workflowId,
      workspaceId: this.workspaceId,
      version: 1,
      level: 'info',
      trigger: 'api',
      createdAt: null,
      startedAt: at,
      endedAt: at + 12,
      durationMs: 12,
      costTotal: 0,
      models: [],
      cost: null,
      rawOutput: null,
      finalOutput: '{"answer":42}',
      traceSpans: JSON.stringify([spanOf(at)]),
      ...more,
    }
  }

  async close(): Promise<void> {
    this.metrics.stop()
    await this.#listener.stop(true)
    await this.store.close()
    rmSync(this.directory, { recursive: true, force: true })
  }

  async #describe(): Promise<DeclaredAnswers[]> {
    const apps = [this.app, await this.#server.editor()]
    return Promise.all(apps.map(async (app) => new DeclaredAnswers(await describeApi(app, 'test'))))
  }

  #cancel(executionId: string): boolean {
    this.cancelled.push(executionId)
    return this.running.delete(executionId)
  }

  async #populate(): Promise<void> {
    const { userId, workspaceId } = this
    const { text, row } = newKey({ userId })
    this.owner = text
    const first = { userId, workspaceId, workspaceName: 'Main', email: 'owner@example.com' }
    await this.store.createInstallation({ ...first, key: row, signInTokenHash: null, at: Date.now() })
    const strangerId = this.accounts.addUser()
    this.accounts.addWorkspace(strangerId)
    this.stranger = await this.key({ userId: strangerId })
  }
}

/** A document that can be deployed. */
export function sampleDocument(): WorkflowDocument {
  const field = { name: 'city', type: 'string', required: true, description: 'Where', value: 'Porto' }
  return {
    name: `Sample ${newId()}`,
    blocks: {
      start: { id: 'start', type: 'api_trigger', name: 'Start', params: { inputFormat: [field] } },
      end: { id: 'end', type: 'response', name: 'End', params: { data: { city: '<start.city>' } } },
    },
    edges: [{ source: 'start', target: 'end' }],
  }
}

/** The trace of a run in which nothing happened. */
function spanOf(at: number) {
  const [startTime, endTime] = [at, at + 12].map((each) => new Date(each).toISOString())
  const facts = { id: 's1', name: 'Run', type: 'workflow', blockId: null, status: 'success' }
  return { ...facts, startTime, endTime, duration: 12, input: {}, output: { answer: 42 }, children: [] }
}
