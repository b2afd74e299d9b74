import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyElysia } from 'elysia'
import type { Assembled } from '../../../src/app.ts'
import type { Role } from '../../../src/domain/account/role.ts'
import type { TierName } from '../../../src/domain/account/tiers.ts'
import { LogSequence, newExecutionId, newId } from '../../../src/domain/ids.ts'
import type { LogRow } from '../../../src/domain/run/log.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import type { Door } from '../../../src/http/access/door.ts'
import type { Listener, RequestHandler } from '../../../src/http/listener.ts'
import { withBytesMax } from '../../../src/http/requests/body-limits.ts'
import { describeApi } from '../../../src/http/routes/swagger.ts'
import { createServer, type HttpServer } from '../../../src/http/server.ts'
import type { Services } from '../../../src/http/services.ts'
import type { Store } from '../../../src/store/store.ts'
import { type AccessLogging, Logger } from '../../../src/telemetry/logger.ts'
import { assembleTestApp } from '../../support/app.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { Accounts, newKey } from './accounts.ts'
import { DeclaredResponses } from './declared-responses.ts'

export type WorldOptions = {
  access?: AccessLogging
  bodyBytesMax?: number
  /** The tier of the installation. */
  plan?: TierName
  /** Further settings, as on the command line. */
  flags?: Record<string, string>
  /** Routes in addition to those of the service. */
  routes?: (door: Door) => AnyElysia
  /** Replaces services, for example to make them fail. */
  override?: (services: Services) => Partial<Services>
}

export type CallOptions = { key?: string | null; body?: unknown; text?: string; headers?: Record<string, string> }
export type HttpResult = { status: number; headers: Headers; text: string; json: Parsed }

/** JSON of any shape: each test checks its content. */
export type Parsed = ReturnType<typeof JSON.parse>

/**
 * The HTTP interface with the service's own assemblies, a real store and a real socket. There is an owner with one
 * workspace and an outsider with another. No background work runs. `owner` and `outsider` are personal keys.
 */
export class HttpWorld {
  readonly directory: string
  readonly store: Store
  readonly accounts: Accounts
  readonly services: Services
  readonly app: AnyElysia
  readonly url: string
  readonly port: number
  readonly #server: HttpServer
  readonly #stop: Assembled['stop']
  readonly metrics: Assembled['metrics']
  readonly lines: Parsed[]
  readonly workspaceId = newId()
  readonly userId = newId()
  readonly #sequence = new LogSequence(Date.now)
  #declared: Promise<DeclaredResponses[]> | undefined
  owner = ''
  outsider = ''

  static async open(options: WorldOptions = {}): Promise<HttpWorld> {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-http-'))
    // Log entries are never deleted, because tests write entries with old times.
    const flags = { plan: options.plan ?? 'enterprise', 'log-retention-days': '36500', ...options.flags }
    const lines: Parsed[] = []
    const logger = new Logger({
      level: 'info',
      access: options.access ?? 'off',
      now: Date.now,
      write: (line) => lines.push(JSON.parse(line)),
    })
    const assembled = await assembleTestApp(directory, flags, { logger })
    const world = new HttpWorld(directory, assembled, lines, options)
    await world.#populate()
    assembled.listener.open(world.app as unknown as RequestHandler, (thrown) => world.#server.door.onFatal(thrown))
    return world
  }

  private constructor(
    directory: string,
    { store, services, metrics, listener, stop }: Assembled & { listener: Listener },
    lines: Parsed[],
    { bodyBytesMax = 100_000, override, routes }: WorldOptions,
  ) {
    this.directory = directory
    this.store = store
    this.accounts = new Accounts(directory)
    this.metrics = metrics
    this.lines = lines
    this.port = listener.port
    this.url = `http://127.0.0.1:${listener.port}`
    this.#stop = stop
    const body = withBytesMax(services.settings.body, bodyBytesMax)
    const largestBody = { ...services.settings.largestBody, max: 2 * bodyBytesMax }
    const documentBody = withBytesMax(services.settings.documentBody, bodyBytesMax)
    const settings = { ...services.settings, body, documentBody, largestBody }
    this.services = { ...services, settings, ...override?.(services) }
    this.#server = createServer(this.services)
    this.app = this.#server.app
    if (routes) this.app.use(routes(this.#server.door))
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<HttpResult> {
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
    const result = {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    }
    this.#declared ??= this.#describe()
    for (const declared of await this.#declared) declared.assert(method, path, result)
    return result
  }

  get(path: string, options?: CallOptions): Promise<HttpResult> {
    return this.call('GET', path, options)
  }

  post(path: string, body?: unknown, options?: CallOptions): Promise<HttpResult> {
    return this.call('POST', path, { ...options, ...(body === undefined ? {} : { body }) })
  }

  put(path: string, body: unknown): Promise<HttpResult> {
    return this.call('PUT', path, { body })
  }

  /** A page of the owner's log entries. */
  logs(query: string): Promise<HttpResult> {
    return this.get(`/api/v1/logs?workspaceId=${this.workspaceId}${query}`)
  }

  /** Creates a workflow in the owner's workspace. Returns its ID. */
  async workflow(document: Partial<WorkflowDocument> = {}): Promise<string> {
    const { json } = await this.post('/api/workflows', { ...sampleDocument(), ...document })
    return json.id
  }

  async deployed(document: Partial<WorkflowDocument> = {}): Promise<string> {
    const id = await this.workflow(document)
    await this.post(`/api/workflows/${id}/deploy`)
    return id
  }

  /** Creates a key of the owner's account, or of another one. */
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

  /** Creates an account with a role in the owner's workspace. Returns a personal key of it. */
  async member(role: Role): Promise<string> {
    const userId = await this.accounts.addUser()
    await this.accounts.addMember(userId, this.workspaceId, role)
    return await this.key({ userId })
  }

  /** Records a run that ended. */
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
    await this.#stop(0)
    rmSync(this.directory, { recursive: true, force: true })
  }

  async #describe(): Promise<DeclaredResponses[]> {
    const apps = [this.app, await this.#server.editor()]
    return Promise.all(apps.map(async (app) => new DeclaredResponses(await describeApi(app, 'test'))))
  }

  async #populate(): Promise<void> {
    const { userId, workspaceId } = this
    const { text, row } = newKey({ userId })
    this.owner = text
    const first = { userId, workspaceId, workspaceName: 'Main', email: 'owner@example.com' }
    await this.store.createInstallation({ ...first, key: row, signInTokenHash: null, at: Date.now() })
    const outsiderId = await this.accounts.addUser()
    await this.accounts.addWorkspace(outsiderId)
    this.outsider = await this.key({ userId: outsiderId })
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

/** The trace of a run without blocks. */
function spanOf(at: number) {
  const [startTime, endTime] = [at, at + 12].map((each) => new Date(each).toISOString())
  const facts = { id: 's1', name: 'Run', type: 'workflow', blockId: null, status: 'success' }
  return { ...facts, startTime, endTime, duration: 12, input: {}, output: { answer: 42 }, children: [] }
}
