import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'
import { hashToken, newToken } from '../../../src/accounts/sessions.ts'
import type { App } from '../../../src/app.ts'
import { createInstallation, firstKey } from '../../../src/cli/installation/installation.ts'
import type { SharedRole } from '../../../src/domain/account/role.ts'
import { newId } from '../../../src/domain/ids.ts'
import type { PollRow } from '../../../src/domain/poll/poll.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { startTestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'
import { storeSettings } from '../../support/store/test-store.ts'
import { DeclaredResponses } from './declared-responses.ts'
import type { Parsed } from './world.ts'

export type CallOptions = {
  method?: string
  key?: string | null
  body?: unknown
  text?: string | Uint8Array<ArrayBuffer>
  /** Sent as a multipart form. */
  form?: FormData | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** The whole service in its own data directory, with an owner's key and low limits. */
export class ExecutionWorld {
  readonly #folder: Disposable & { path: string }
  #app: App
  readonly #flags: Record<string, string>
  readonly apiKey: string
  readonly workspaceId: string
  #names = 0
  #declared: Promise<DeclaredResponses> | undefined

  static async open(flags: Record<string, string> = {}): Promise<ExecutionWorld> {
    const folder = temporaryFolder()
    const bounds = { 'body-bytes-max': '2000', 'body-bytes-max-files': '4000', 'runs-max': '20' }
    const all = { ...bounds, ...flags }
    const app = await startTestApp(folder.path, all)
    const made = await createInstallation(app.store, Date.now())
    return new ExecutionWorld(folder, app, all, made?.apiKey ?? '', made?.workspaceId ?? '')
  }

  private constructor(
    folder: Disposable & { path: string },
    app: App,
    flags: Record<string, string>,
    apiKey: string,
    workspaceId: string,
  ) {
    this.#folder = folder
    this.#app = app
    this.#flags = flags
    this.apiKey = apiKey
    this.workspaceId = workspaceId
  }

  /** Stops the service at once, and starts it again with the same data. */
  async restart(): Promise<void> {
    await this.#app.stop(0)
    this.#app = await startTestApp(this.#folder.path, this.#flags)
  }

  /** The data directory. */
  get folder(): string {
    return this.#folder.path
  }

  /** The memory of the triggers of a workflow that look at something elsewhere. */
  polls(workflowId: string): Promise<PollRow[]> {
    return this.#app.store.listPolls(workflowId)
  }

  /** Reads rows directly from the database. `sql` has its values as `$1`, … and names each table after FROM. */
  async rows(sql: string, ...values: string[]): Promise<unknown[]> {
    const { MILLRACE_STORE: store } = await storeSettings(this.#folder.path)
    if (store !== undefined) return await queryPostgres(store, sql.replaceAll('FROM ', 'FROM millrace.'), values)
    const database = new Database(join(this.#folder.path, 'millrace.db'), { readonly: true })
    try {
      return database.query(sql.replace(/\$/g, '?')).all(...values)
    } finally {
      database.close()
    }
  }

  /** Another workspace of the same owner. */
  async addWorkspace(): Promise<string> {
    const { store } = this.#app
    const [owner] = await store.listUsers()
    const id = newId()
    await store.createWorkspace({ id, name: 'Other', ownerId: owner!.id, at: Date.now() })
    return id
  }

  get url(): string {
    return this.#app.address.url
  }

  async close(): Promise<void> {
    await this.#app.stop(0)
    this.#folder[Symbol.dispose]()
  }

  /** Creates a workflow and deploys it. Returns its ID. */
  async deploy(draft: WorkflowDocument, isDeployed = true, key = this.apiKey): Promise<string> {
    this.#names += 1
    const body = { ...draft, name: `${draft.name} ${this.#names}` }
    const created = await this.call('/api/workflows', { key, body })
    expect(created.status).toBe(201)
    const { id } = created.json as { id: string }
    if (isDeployed) expect((await this.call(`/api/workflows/${id}/deploy`, { method: 'POST', key })).status).toBe(200)
    return id
  }

  /** Creates another account with a workspace of its own. Returns its key. */
  async otherKey(): Promise<string> {
    return (await this.#addAccount()).key
  }

  async #addAccount(): Promise<{ userId: string; key: string }> {
    const [userId, workspaceId] = [newId(), newId()]
    const { row: key, text } = firstKey(userId, Date.now())
    const account = { userId, email: `${userId}@example.com`, plan: null, workspaceId, workspaceName: 'Other' }
    await this.#app.store.createUser({ ...account, key, at: Date.now() })
    return { userId, key: text }
  }

  /** Adds another account to the workspace. Returns its ID and its key. */
  async addMember(role: SharedRole): Promise<{ userId: string; key: string }> {
    const account = await this.#addAccount()
    await this.#app.store.setMember(this.workspaceId, account.userId, role)
    return account
  }

  /** As `millrace workspaces unshare` does, and at once. */
  async removeMember(userId: string): Promise<void> {
    await this.#app.store.removeMember(this.workspaceId, userId)
  }

  /** As an account does in the dashboard. */
  async revokeKeysOf(userId: string): Promise<void> {
    const options = { headers: await this.signIn(userId), key: null }
    const { json } = await this.call('/api/editor/keys', options)
    for (const { id } of json.data) {
      expect((await this.call(`/api/editor/keys/${id}`, { ...options, method: 'DELETE' })).status).toBe(204)
    }
  }

  /** The headers of a browser in which the owner, or another account, is signed in. */
  async signIn(account?: string): Promise<Record<string, string>> {
    const [owner] = await this.#app.store.listUsers()
    const userId = account ?? owner?.id ?? ''
    const token = newToken()
    const createdAt = Date.now()
    const session = { hash: hashToken(token), userId, createdAt, expiresAt: createdAt + 3_600_000 }
    await this.#app.store.createSession(session)
    return { 'sec-fetch-site': 'same-origin', cookie: `millrace_session=${token}` }
  }

  async call(path: string, { method, key = this.apiKey, body, text, form, headers, signal }: CallOptions = {}) {
    const sent = form ?? text ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(this.url + path, {
      method: method ?? (sent === undefined ? 'GET' : 'POST'),
      headers: { ...(key === null ? {} : { 'x-api-key': key }), ...headers },
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal ? { signal } : {}),
    })
    const content = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    const json: Parsed = isJson ? JSON.parse(content) : undefined
    this.#declared ??= declaredBy(this.url)
    const declared = await this.#declared
    declared.assert(method ?? (sent === undefined ? 'GET' : 'POST'), path, {
      status: response.status,
      headers: response.headers,
      json,
    })
    return { status: response.status, headers: response.headers, text: content, json }
  }

  execute(id: string, body?: unknown, more: CallOptions = {}) {
    const sent = body === undefined ? {} : { body }
    return this.call(`/api/workflows/${id}/execute`, { method: 'POST', ...sent, ...more })
  }
}

export const start = (inputFormat: object[] = []) => block('start', 'api_trigger', { inputFormat })

/** Returns its input. */
export const echo = document({
  blocks: [start(), block('f', 'function', { code: 'return <api.input>' })],
  edges: ['start > f'],
})

async function declaredBy(url: string): Promise<DeclaredResponses> {
  return new DeclaredResponses(await (await fetch(`${url}/swagger/json`)).json())
}
