// Long because it makes everything that requests can be about.
import { hashToken, newToken } from '../../../../src/accounts/sessions.ts'
import type { App } from '../../../../src/app.ts'
import { createInstallation } from '../../../../src/cli/installation/installation.ts'
import type { SharedRole } from '../../../../src/domain/account/role.ts'
import { type Clock, systemClock, type Timer } from '../../../../src/domain/clock.ts'
import { deliveryIdOf, logIdOf, newExecutionId, newId, sequenceAt } from '../../../../src/domain/ids.ts'
import { logWrite } from '../../../../src/domain/run/write.ts'
import { startTestApp } from '../../../support/app.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { newSubscription } from '../../../support/store/contract/subscription-contract.ts'
import { logRow } from '../../../support/store/installed.ts'
import { newKey } from '../accounts.ts'
import { sampleDocument } from '../world.ts'

/** The kinds of keys, by what they allow. `foreign` keys are valid, but only for other workspaces. */
export const keyKinds = {
  none: 'invalid',
  malformed: 'invalid',
  unknown: 'invalid',
  revoked: 'invalid',
  expired: 'invalid',
  'foreign, personal': 'foreign',
  'foreign, of a workspace': 'foreign',
  'of a member who was removed, personal': 'foreign',
  'of a member who was removed, of the workspace': 'foreign',
  "the owner's, of another workspace": 'foreign',
  "a viewer's, personal": 'viewer',
  "a viewer's, of the workspace": 'viewer',
  "an editor's, personal": 'editor',
  "an editor's, of the workspace": 'editor',
  "the owner's, personal": 'owner',
  "the owner's, of the workspace": 'owner',
} as const
export type KeyKind = keyof typeof keyKinds

/** The same for sessions of the dashboard. */
export const sessionKinds = {
  'session, unknown': 'invalid',
  'session, ended': 'invalid',
  'session, foreign': 'foreign',
  'session of a member who was removed': 'foreign',
  'session, used by a page of another origin': 'owner',
  "session, a viewer's": 'viewer',
  "session, an editor's": 'editor',
  "session, the owner's": 'owner',
} as const
export type SessionKind = keyof typeof sessionKinds

export type Kind = KeyKind | SessionKind
export const standings = { ...keyKinds, ...sessionKinds }
export const kinds = Object.keys(standings) as Kind[]

export function isSession(kind: Kind): kind is SessionKind {
  return kind in sessionKinds
}

/** The objects whose IDs replace `<names>` in paths and bodies. */
type Thing =
  | 'workspace'
  | 'workflow'
  | 'execution'
  | 'alert'
  | 'log'
  | 'own'
  | 'member'
  | 'key'
  | 'deleted'
  | 'webhook'
  | 'delivery'
  | 'pause'
  | 'pausedRun'
export type Things = Readonly<Record<Thing, string>>

/** The whole service, with a workspace that has several members, and a key of every kind. */
export class AccessWorld {
  readonly #folder: Disposable
  readonly #clock: FastClock
  readonly app: App
  readonly #ownerId: string
  readonly workspaceId: string
  readonly keys: Record<KeyKind, string | null>
  /** The accounts of the sessions. */
  readonly #users = new Map<SessionKind, string>()

  static async open(): Promise<AccessWorld> {
    const folder = temporaryFolder()
    const clock = new FastClock()
    const app = await startTestApp(folder.path, {}, clock)
    const made = await createInstallation(app.store, Date.now())
    const world = new AccessWorld(folder, app, clock, made?.userId ?? '', made?.workspaceId ?? '')
    await world.#populate(made?.apiKey ?? '')
    return world
  }

  private constructor(folder: Disposable, app: App, clock: FastClock, ownerId: string, workspaceId: string) {
    this.#folder = folder
    this.app = app
    this.#clock = clock
    this.#ownerId = ownerId
    this.workspaceId = workspaceId
    this.keys = Object.fromEntries(Object.keys(keyKinds).map((kind) => [kind, null])) as Record<KeyKind, string | null>
  }

  async close(): Promise<void> {
    await this.app.stop(0)
    this.#folder[Symbol.dispose]()
  }

  /** Opens new rate windows. */
  letAMinutePass(): void {
    this.#clock.aheadMs += 61_000
  }

  /**
   * A deployed workflow in the owner's workspace (its ID is also the identifier of its chat, and the path of its form
   * for members), one of its runs, the variable TOKEN, the credential `crm`, the connector `shop`, a member, and a key
   * of the owner.
   */
  async things(workspaceId = this.workspaceId, key = this.keys["the owner's, personal"]): Promise<Things> {
    const { store } = this.app
    const at = Date.now()
    const { id: workflow, document } = await store.createWorkflow({
      id: null,
      workspaceId,
      document: sampleDocument(),
      webhooks: [newSubscription('hook', { url: 'http://127.0.0.1:9/', active: false })],
      at,
    })
    const talk = { id: 'talk', type: 'chat_trigger', name: 'Talk', params: { identifier: workflow, access: 'key' } }
    const asked = { path: workflow, title: 'Ask', fields: [{ name: 'a', type: 'string' }], access: 'members' }
    const form = { id: 'form', type: 'form_trigger', name: 'Form', params: asked }
    const deployed = { ...document, blocks: { ...document.blocks, talk, form } }
    const addresses = [
      { kind: 'chat' as const, name: workflow },
      { kind: 'form' as const, name: workflow },
    ]
    await store.deploy(workflow, deployed, at, this.#ownerId, { addresses, schedule: null })
    await this.call('PUT', `/api/workspaces/${workspaceId}/environment/TOKEN`, key, '{"value":"a secret"}')
    const crm = '{"name":"crm","kind":"bearer","hosts":["api.example.com"],"secrets":{"token":"another secret"}}'
    await this.call('POST', `/api/workspaces/${workspaceId}/credentials`, key, crm)
    const operations = { list: { label: 'List', method: 'GET', path: '/items' } }
    const shop = JSON.stringify({ id: 'shop', name: 'Shop', baseUrl: 'https://shop.example', operations })
    await this.call('PUT', `/api/workspaces/${workspaceId}/connectors/shop`, key, shop)
    const ran = await this.call('POST', `/api/workflows/${workflow}/execute`, key, '{"city":"Faro"}')
    const execution = ran.headers.get('x-execution-id') ?? ''
    const { sequence } = (await store.getExecution(execution))!
    const { userId: member } = await this.#account()
    await store.setMember(workspaceId, member, 'viewer')
    const { row } = newKey({ userId: this.#ownerId })
    await store.createKey(row)
    const { id: deleted } = await store.createWorkflow({ id: null, workspaceId, document: sampleDocument(), at })
    await store.deleteWorkflow(deleted, at)
    const ids = { workspace: workspaceId, workflow, execution, log: logIdOf(sequence), own: '', member, key: row.id }
    const delivery = await this.#delivery(workspaceId, workflow)
    // Its address is refused, so nothing leaves the machine.
    const channel = { type: 'webhook', url: 'http://127.0.0.1:1/', secret: null } as const
    const watch = { events: ['run.failed'], workflows: 'all', rule: null, quietMs: 60_000, active: true } as const
    for (const { id } of await store.listAlerts(workspaceId)) await store.deleteAlert(workspaceId, id, at)
    const { id: alert } = await store.createAlert({
      ...{ id: newId(), workspaceId, name: 'Failed', channel, at, by: this.#ownerId, ...watch },
    })
    return { ...ids, deleted, webhook: 'hook', delivery, alert, ...(await this.#pause(workspaceId, workflow)) }
  }

  /** The pause of a run that waits for an answer. */
  async #pause(workspaceId: string, workflowId: string): Promise<Pick<Things, 'pause' | 'pausedRun'>> {
    const [executionId, contextId] = [newExecutionId(), newId()]
    const at = Date.now()
    const job = {
      executionId,
      workflowId,
      workspaceId,
      version: 1,
      trigger: 'api',
      createdAt: at,
      startedAt: at,
    } as const
    const block = { place: 'x/b/', blockId: 'b', blockName: 'Ask', kind: 'wait', content: null } as const
    const row = { ...job, input: new Uint8Array(1) }
    const pauses = [{ ...block, contextId, since: at, until: at + 3_600_000 }]
    await this.app.store.append([{ kind: 'job-pause', executionId, at, pauses, accepts: { row, steps: [] } }])
    return { pause: contextId, pausedRun: executionId }
  }

  /** The pending delivery of another run. Its address is refused, so nothing leaves the machine. */
  async #delivery(workspaceId: string, workflowId: string): Promise<string> {
    const { store } = this.app
    const subscription = (await store.listSubscriptions(workflowId))[0]!.number
    const webhooks = { deliveries: [{ subscription, include: 0 }], skipped: [], facts: null }
    // Sequences must rise, and the service may be recording a run that it has cancelled.
    for (let attempt = 1; ; attempt += 1) {
      await Bun.sleep(2)
      const sequence = sequenceAt(this.#clock.now() - 1)
      const run = logRow({ workspaceId, workflowId }, sequence, { webhooks, endedAt: Date.now() })
      try {
        await store.append([logWrite(run)])
        return deliveryIdOf({ sequence, subscription }, run.executionId)
      } catch (error) {
        if (attempt === 10) throw error
      }
    }
  }

  /** Sends a request with a key, or with other headers. */
  async call(method: string, path: string, key: string | null | Record<string, string>, body?: string) {
    const response = await fetch(this.app.address.url + path, {
      method,
      headers: key === null ? {} : typeof key === 'string' ? { 'x-api-key': key } : key,
      redirect: 'manual',
      ...(body === undefined || method === 'GET' ? {} : { body }),
    })
    // The stream of an open editor has no end.
    const isEndless = response.ok && path.endsWith('/events') && path.includes('/workflows/')
    if (isEndless) await response.body?.cancel()
    return { status: response.status, headers: response.headers, text: isEndless ? '' : await response.text() }
  }

  /** The headers of a request of this kind. Each call creates a session, so that a request may end it. */
  async credential(kind: Kind): Promise<Record<string, string>> {
    if (!isSession(kind)) {
      const key = this.keys[kind]
      return { 'sec-fetch-site': 'same-origin', ...(key === null ? {} : { 'x-api-key': key }) }
    }
    const site = kind === 'session, used by a page of another origin' ? 'cross-site' : 'same-origin'
    const token = newToken()
    const userId = this.#users.get(kind)
    const createdAt = this.#clock.now() - 2000
    const expiresAt = kind === 'session, ended' ? createdAt + 1000 : createdAt + 3_600_000
    if (userId) await this.app.store.createSession({ hash: hashToken(token), userId, createdAt, expiresAt })
    return { 'sec-fetch-site': site, cookie: `millrace_session=${token}` }
  }

  async #populate(owner: string): Promise<void> {
    const { store } = this.app
    const { keys, workspaceId } = this
    const ownerId = this.#ownerId
    keys["the owner's, personal"] = owner
    keys["the owner's, of the workspace"] = await this.#key(ownerId, workspaceId)
    const other = newId()
    await store.createWorkspace({ id: other, name: 'Other', ownerId, at: Date.now() })
    keys["the owner's, of another workspace"] = await this.#key(ownerId, other)
    keys.malformed = owner.replace('mrk_', 'mrk-')
    keys.unknown = newKey().text
    keys.revoked = await this.#key(ownerId, null, 'revoked')
    keys.expired = await this.#key(ownerId, null, 'expired')
    for (const role of ['viewer', 'editor'] as const) {
      const { userId } = await this.#member(role)
      this.#users.set(role === 'viewer' ? "session, a viewer's" : "session, an editor's", userId)
      const whose = role === 'viewer' ? "a viewer's" : "an editor's"
      keys[`${whose}, personal`] = await this.#key(userId, null)
      keys[`${whose}, of the workspace`] = await this.#key(userId, workspaceId)
    }
    for (const kind of ['ended', "the owner's", 'used by a page of another origin'] as const) {
      this.#users.set(`session, ${kind}`, ownerId)
    }
    const removed = await this.#member('editor')
    this.#users.set('session of a member who was removed', removed.userId)
    keys['of a member who was removed, personal'] = await this.#key(removed.userId, null)
    keys['of a member who was removed, of the workspace'] = await this.#key(removed.userId, workspaceId)
    await store.removeMember(workspaceId, removed.userId)
    const outsider = await this.#account()
    this.#users.set('session, foreign', outsider.userId)
    keys['foreign, personal'] = await this.#key(outsider.userId, null)
    keys['foreign, of a workspace'] = await this.#key(outsider.userId, outsider.workspaceId)
  }

  async #account(): Promise<{ userId: string; workspaceId: string }> {
    const userId = newId()
    const workspaceId = newId()
    const { row: key } = newKey({ userId })
    const account = { userId, email: `${userId}@example.com`, plan: null, workspaceId, workspaceName: 'Theirs' }
    await this.app.store.createUser({ ...account, key, at: Date.now() })
    return { userId, workspaceId }
  }

  async #member(role: SharedRole): Promise<{ userId: string }> {
    const account = await this.#account()
    await this.app.store.setMember(this.workspaceId, account.userId, role)
    return account
  }

  async #key(userId: string, workspaceId: string | null, end?: 'revoked' | 'expired'): Promise<string> {
    const { text, row } = newKey({ userId, workspaceId, expiresAt: end === 'expired' ? Date.now() - 1 : null })
    await this.app.store.createKey(row)
    if (end === 'revoked') await this.app.store.revokeKey(row.id, Date.now())
    return text
  }
}

/** The system's clock, except that the time of day can be advanced. */
class FastClock implements Clock {
  aheadMs = 0

  // A property, because the app passes this function on without its object.
  readonly now = (): number => systemClock.now() + this.aheadMs

  monotonic(): number {
    return systemClock.monotonic()
  }

  setTimer(delayMs: number, run: () => void): Timer {
    return systemClock.setTimer(delayMs, run)
  }
}
