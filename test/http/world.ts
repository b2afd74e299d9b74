import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyElysia } from 'elysia'
import { registry } from '../../src/blocks/registry.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { LogSequence, newExecutionId, newId } from '../../src/domain/ids.ts'
import { defaultLimits } from '../../src/domain/limits.ts'
import type { LogRow } from '../../src/domain/log.ts'
import type { WorkflowDocument } from '../../src/domain/workflow.ts'
import { Deployments } from '../../src/engine/deployments.ts'
import { createServer, listen, type MoreRoutes } from '../../src/http/server.ts'
import type { RateWindow, RunInFlight, Services } from '../../src/http/services.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Role, Store } from '../../src/store/store.ts'
import { type AccessLogging, Logger } from '../../src/telemetry/logger.ts'

export type WorldOptions = {
  access?: AccessLogging
  bodyBytesMax?: number
  /** Requests a minute to the external API, and without a key. */
  rateLimit?: number
  more?: MoreRoutes
  /** Replaces services, to see what becomes of their failures. */
  override?: (services: Services) => Partial<Services>
}

export type CallOptions = { key?: string | null; body?: unknown; text?: string; headers?: Record<string, string> }
export type Answer = { status: number; headers: Headers; text: string; json: Parsed }

/** JSON of any shape: what it holds is what a test is about. */
export type Parsed = ReturnType<typeof JSON.parse>

/**
 * The service over a real store and a real socket: an owner with one workspace, and a stranger with another.
 * `owner`, `stranger` are personal keys.
 */
export class HttpWorld {
  readonly directory: string
  readonly store: Store
  readonly services: Services
  readonly app: AnyElysia
  readonly lines: Parsed[] = []
  readonly running = new Map<string, RunInFlight>()
  readonly cancelled: string[] = []
  readonly workspaceId = newId()
  readonly otherWorkspaceId = newId()
  readonly userId = newId()
  readonly strangerId = newId()
  readonly owner = newKeyText()
  readonly stranger = newKeyText()
  readonly sequence = new LogSequence(Date.now)
  url = ''
  port = 0

  static async open(options: WorldOptions = {}): Promise<HttpWorld> {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-http-'))
    const store = await openSqliteStore({ directory, sync: 'normal', mode: 'direct' })
    const world = new HttpWorld(directory, store, options)
    await world.#populate()
    const server = listen(world.app, { hostname: '127.0.0.1', port: 0 })
    world.port = server?.port ?? 0
    world.url = `http://127.0.0.1:${world.port}`
    return world
  }

  private constructor(directory: string, store: Store, options: WorldOptions) {
    this.directory = directory
    this.store = store
    const deployments = new Deployments({
      registry,
      limits: defaultLimits,
      plansMax: 10,
      getActive: (workflowId) => store.getActive(workflowId),
    })
    const limit = options.rateLimit ?? 1_000_000
    const services: Services = {
      store,
      lookUpKey: (text) => this.#lookUpKey(text),
      deployments,
      checkWorkflow: (document) => deployments.check(document).findings,
      runner: {
        find: (executionId) => this.running.get(executionId),
        cancel: (executionId) => {
          this.cancelled.push(executionId)
          return this.running.delete(executionId)
        },
      },
      rateLimits: { externalApi: counter(limit), refused: counter(options.rateLimit ?? 1_000_000) },
      limitsOf: () => ({
        workflowExecutionRateLimit: {
          sync: { limit: 100, remaining: 99, resetAt: Date.UTC(2030, 0, 1) },
          async: { limit: 200, remaining: 0, resetAt: Date.UTC(2030, 0, 1) },
        },
        usage: { currentPeriodCost: 1.5, limit: 10, plan: 'free', isExceeded: false },
      }),
      writerHealth: () => ({ healthy: true, waiting: 0 }),
      clock: systemClock,
      logger: new Logger({
        level: 'info',
        access: options.access ?? 'off',
        now: Date.now,
        write: (line) => this.lines.push(JSON.parse(line)),
      }),
      settings: {
        bodyBytesMax: options.bodyBytesMax ?? 100_000,
        bodyBytesMaxAnywhere: 2 * (options.bodyBytesMax ?? 100_000),
        baseUrl: () => this.url,
        version: '0.0.0-test',
      },
    }
    this.services = { ...services, ...options.override?.(services) }
    this.app = createServer(this.services, options.more)
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
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', path, options)
  }

  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return this.call('POST', path, { ...options, ...(body === undefined ? {} : { body }) })
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
  async key(
    more: { workspaceId?: string; userId?: string; revoked?: boolean; expiresAt?: number } = {},
  ): Promise<string> {
    const text = newKeyText()
    const { workspaceId = null, userId = this.userId, expiresAt = null } = more
    const id = newId()
    await this.store.createKey({ ...keyRow(text), id, userId, workspaceId, expiresAt })
    if (more.revoked) await this.store.revokeKey(id, Date.now())
    return text
  }

  /** A new account with a role in the owner's workspace; gives a personal key of it. */
  async member(role: Role): Promise<string> {
    const userId = newId()
    this.sql((database) => {
      addUser(database, userId)
      addMember(database, userId, this.workspaceId, role)
    })
    return this.key({ userId })
  }

  /** Another workspace of the owner's account. */
  async workspace(): Promise<string> {
    const id = newId()
    this.sql((database) => addWorkspace(database, id, this.userId))
    return id
  }

  /** Writes down a run that ended. */
  async log(workflowId: string, more: Partial<LogRow> = {}): Promise<LogRow> {
    const at = Date.UTC(2025, 5, 1, 12)
    const row: LogRow = {
      sequence: this.sequence.next(),
      executionId: newExecutionId(),
      workflowId,
      workspaceId: this.workspaceId,
      version: 1,
      level: 'info',
      trigger: 'api',
      startedAt: at,
      endedAt: at + 12,
      durationMs: 12,
      costTotal: 0,
      cost: null,
      finalOutput: '{"answer":42}',
      traceSpans: '[{"id":"s1","name":"Run","type":"workflow","children":[]}]',
      ...more,
    }
    await this.store.appendLogs([row])
    return row
  }

  /** For what the port has no call for yet. */
  sql(change: (database: Database) => void): void {
    const database = new Database(databasePath(this.directory))
    try {
      change(database)
    } finally {
      database.close()
    }
  }

  async close(): Promise<void> {
    await this.app.server?.stop(true)
    await this.store.close()
    rmSync(this.directory, { recursive: true, force: true })
  }

  async #populate(): Promise<void> {
    const { userId, workspaceId } = this
    await this.store.createInstallation({
      userId,
      email: 'owner@example.com',
      workspaceId,
      workspaceName: 'Main',
      key: { ...keyRow(this.owner), userId },
      signInTokenHash: null,
      at: Date.now(),
    })
    this.sql((database) => {
      addUser(database, this.strangerId)
      addWorkspace(database, this.otherWorkspaceId, this.strangerId)
    })
    await this.store.createKey({ ...keyRow(this.stranger), userId: this.strangerId })
  }

  async #lookUpKey(text: string) {
    if (!/^mrk_[0-9A-Za-z]{36}$/.test(text)) return 'malformed'
    const row = await this.store.findKey(hashOf(text))
    const isDead = row && (row.revokedAt !== null || (row.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now())
    return isDead ? undefined : row
  }
}

/** A document that can be deployed. */
export function sampleDocument(): WorkflowDocument {
  return {
    name: `Sample ${newId()}`,
    blocks: {
      start: {
        id: 'start',
        type: 'api_trigger',
        name: 'Start',
        params: {
          inputFormat: [{ name: 'city', type: 'string', required: true, description: 'Where', value: 'Porto' }],
        },
      },
      end: { id: 'end', type: 'response', name: 'End', params: { data: { city: '<start.city>' } } },
    },
    edges: [{ source: 'start', target: 'end' }],
  }
}

export function newKeyText(): string {
  const random = crypto.getRandomValues(new Uint8Array(36))
  return `mrk_${Array.from(random, (byte) => 'abcdefghijklmnopqrstuvwxyz0123456789'[byte % 36]).join('')}`
}

function hashOf(text: string): Uint8Array {
  return new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest())
}

function keyRow(text: string) {
  const at = { createdAt: Date.now(), expiresAt: null }
  return {
    id: newId(),
    hash: hashOf(text),
    lastFour: text.slice(-4),
    name: 'test',
    userId: '',
    workspaceId: null,
    ...at,
  }
}

function addUser(database: Database, userId: string): void {
  database.run('INSERT INTO users (id, email, created_at) VALUES (?, ?, 0)', [userId, `${userId}@example.com`])
}

function addWorkspace(database: Database, id: string, ownerId: string): void {
  database.run("INSERT INTO workspaces (id, name, owner_id, created_at) VALUES (?, 'Other', ?, 0)", [id, ownerId])
  addMember(database, ownerId, id, 'owner')
}

function addMember(database: Database, userId: string, workspaceId: string, role: Role): void {
  const insert = 'INSERT INTO members (user_id, workspace, role) SELECT ?, number, ? FROM workspaces WHERE id = ?'
  database.run(insert, [userId, role, workspaceId])
}

/** One window for everyone. */
function counter(limit: number): () => RateWindow {
  let count = 0
  const resetAt = Date.now() + 60_000
  return () => {
    count += 1
    return { allowed: count <= limit, limit, remaining: Math.max(0, limit - count), resetAt }
  }
}
