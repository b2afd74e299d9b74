import { afterEach, describe, expect, test } from 'bun:test'
import type { App } from '../../../../src/app.ts'
import { createInstallation } from '../../../../src/cli/installation/installation.ts'
import type { SharedRole } from '../../../../src/domain/account/role.ts'
import type { TierName } from '../../../../src/domain/account/tiers.ts'
import { newExecutionId, newId } from '../../../../src/domain/ids.ts'
import { billingPeriodOf } from '../../../../src/domain/run/cost.ts'
import { startTestApp } from '../../../support/app.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { appendLogs } from '../../../support/store/append-logs.ts'
import { logRow } from '../../../support/store/installed.ts'
import { newKey } from '../accounts.ts'
import { sampleDocument } from '../world.ts'

type Home = { userId: string; workspaceId: string; apiKey: string; workflowId: string }

const folders: Disposable[] = []
const apps = new Set<App>()
afterEach(async () => {
  await Promise.all([...apps].map((app) => stop(app)))
  for (const folder of folders.splice(0)) folder[Symbol.dispose]()
})

function newFolder(): string {
  const folder = temporaryFolder()
  folders.push(folder)
  return folder.path
}

/** Limits that a test reaches soon: 4 synchronous and 2 asynchronous executions, 3 external API requests, 1 USD. */
async function start(path: string, plan: TierName = 'free'): Promise<App> {
  const app = await startTestApp(path, {
    plan,
    'plan-free-sync-per-minute': '4',
    'plan-free-async-per-minute': '2',
    'plan-free-external-per-minute': '3',
    'plan-free-usd-per-month': '1',
  })
  apps.add(app)
  return app
}

async function stop(app: App): Promise<void> {
  apps.delete(app)
  await app.stop(0)
}

/** An owner with a deployed workflow. */
async function install({ store }: App): Promise<Home> {
  const made = (await createInstallation(store, Date.now()))!
  const { workspaceId, userId, apiKey } = made
  const { id, document } = await store.createWorkflow({ id: null, workspaceId, document: sampleDocument(), at: 1 })
  await store.deploy(id, document, 1, userId)
  return { userId, workspaceId, apiKey, workflowId: id }
}

/** Another account with its own tier and a role in the owner's workspace. Returns its key. */
async function member({ store }: App, { workspaceId }: Home, role: SharedRole, plan: TierName): Promise<string> {
  const { text, row: key } = newKey({ userId: newId() })
  const { userId } = key
  const account = { userId, email: `${userId}@example.com`, plan, workspaceId: newId(), workspaceName: 'Theirs' }
  await store.createUser({ ...account, key, at: 1 })
  await store.setMember(workspaceId, userId, role)
  return text
}

async function execute({ address }: App, workflowId: string, key: string, more: RequestInit = {}) {
  const headers = { 'x-api-key': key, ...(more.headers as Record<string, string> | undefined) }
  const sent = { method: 'POST', body: '{"city":"Faro"}', ...more, headers }
  const response = await fetch(`${address.url}/api/workflows/${workflowId}/execute`, sent)
  const text = await response.text()
  const of = (name: string) => response.headers.get(`x-ratelimit-${name}`)
  const window = of('limit') === null ? null : `${of('remaining')}/${of('limit')}`
  const { code } = JSON.parse(text) as { code?: string }
  return { status: response.status, window, reset: of('reset'), retryAfter: response.headers.get('retry-after'), code }
}

const summaryOf = ({ status, window, code }: Awaited<ReturnType<typeof execute>>) => [status, window, code]

describe('executions', () => {
  test("count against the workspace's owner, whichever key is used", async () => {
    const app = await start(newFolder())
    const home = await install(app)
    const editor = await member(app, home, 'editor', 'pro')
    const second = newKey({ userId: home.userId, workspaceId: home.workspaceId })
    await app.store.createKey(second.row)
    const calls = [home.apiKey, editor, second.text, editor, home.apiKey, editor]
    const responses = []
    for (const key of calls) responses.push(await execute(app, home.workflowId, key))
    const limited = [429, '0/4', 'RATE_LIMIT_EXCEEDED']
    expect(responses.map(summaryOf)).toEqual([
      [200, '3/4', undefined],
      [200, '2/4', undefined],
      [200, '1/4', undefined],
      [200, '0/4', undefined],
      limited,
      limited,
    ])
    expect(new Set(responses.map(({ reset }) => reset)).size).toBe(1)
    const waitS = Number(responses.at(-1)?.retryAfter)
    expect(waitS).toBeGreaterThan(50)
    expect(waitS).toBeLessThanOrEqual(60)
  })

  test('that are refused after the key check show a window without counting in it', async () => {
    const app = await start(newFolder())
    const home = await install(app)
    const viewer = await member(app, home, 'viewer', 'pro')
    const { workflowId, apiKey } = home
    const draft = await app.store.createWorkflow({
      id: null,
      workspaceId: home.workspaceId,
      document: sampleDocument(),
      at: 1,
    })
    expect(summaryOf(await execute(app, workflowId, 'none'))).toEqual([401, null, 'INVALID_API_KEY'])
    // The owner is not revealed: the window is that of the key's own account.
    expect(summaryOf(await execute(app, newId(), viewer))).toEqual([404, '25/25', 'NOT_FOUND'])
    expect(summaryOf(await execute(app, workflowId, viewer))).toEqual([403, '4/4', 'FORBIDDEN'])
    expect(summaryOf(await execute(app, draft.id, apiKey))).toEqual([403, '4/4', 'WORKFLOW_NOT_DEPLOYED'])
    expect(summaryOf(await execute(app, workflowId, apiKey, { body: '{' }))).toEqual([400, '4/4', 'INVALID_JSON'])
    const tooLarge = { body: JSON.stringify({ city: 'x'.repeat(11_000_000) }) }
    expect(summaryOf(await execute(app, workflowId, apiKey, tooLarge))).toEqual([413, '4/4', 'PAYLOAD_TOO_LARGE'])
    const async = { headers: { 'x-execution-mode': 'async' } }
    expect(summaryOf(await execute(app, newId(), apiKey, async))).toEqual([404, '2/2', 'NOT_FOUND'])
    // The rate limit is checked before the input.
    expect(summaryOf(await execute(app, workflowId, apiKey, { body: '{}' }))).toEqual([400, '3/4', 'INVALID_INPUT'])
  })

  test('that are asynchronous count in a separate window', async () => {
    const app = await start(newFolder())
    const home = await install(app)
    const viewer = await member(app, home, 'viewer', 'pro')
    const async = { headers: { 'x-execution-mode': 'async' } }
    expect(summaryOf(await execute(app, home.workflowId, viewer, async))).toEqual([403, '2/2', 'FORBIDDEN'])
    const responses = []
    for (let n = 0; n < 3; n += 1) responses.push(await execute(app, home.workflowId, home.apiKey, async))
    expect(responses.map(summaryOf)).toEqual([
      [202, '1/2', undefined],
      [202, '0/2', undefined],
      [429, '0/2', 'RATE_LIMIT_EXCEEDED'],
    ])
    expect(summaryOf(await execute(app, home.workflowId, home.apiKey))).toEqual([200, '3/4', undefined])
    const limits = await fetch(`${app.address.url}/api/users/me/usage-limits`, {
      headers: { 'x-api-key': home.apiKey },
    })
    expect(await limits.json()).toMatchObject({
      rateLimit: { sync: { isLimited: false, remaining: 3 }, async: { isLimited: true, remaining: 0 } },
    })
  })

  test('keep their windows over a restart, as external API requests do', async () => {
    const path = newFolder()
    const app = await start(path)
    const { workflowId, apiKey, workspaceId } = await install(app)
    const first = await execute(app, workflowId, apiKey)
    expect(summaryOf(first)).toEqual([200, '3/4', undefined])
    const logs = (one: App) =>
      fetch(`${one.address.url}/api/v1/logs?workspaceId=${workspaceId}`, { headers: { 'x-api-key': apiKey } })
    await logs(app)
    await stop(app)
    const again = await start(path)
    const next = await execute(again, workflowId, apiKey)
    expect(summaryOf(next)).toEqual([200, '2/4', undefined])
    expect(next.reset).toBe(first.reset)
    const listed = await logs(again)
    expect(listed.headers.get('x-ratelimit-remaining')).toBe('1')
    expect(await listed.json()).toMatchObject({ limits: { workflowExecutionRateLimit: { sync: { remaining: 2 } } } })
  })

  test('of an installation without limits write no window to disk', async () => {
    const path = newFolder()
    const app = await start(path, 'enterprise')
    const { workflowId, apiKey } = await install(app)
    expect((await execute(app, workflowId, apiKey)).window).toBe('999999999/1000000000')
    await stop(app)
    const { store } = await start(path)
    expect(await store.listRateWindows(0)).toEqual([])
  })
})

describe('usage', () => {
  const spend = (app: App, home: Home, costTotal: number, endedAt: number, sequence: number) =>
    appendLogs(app.store, [logRow(home, sequence, { costTotal, endedAt, executionId: newExecutionId() })])

  test('of a month that was used up before the start stops the very first execution', async () => {
    const path = newFolder()
    const before = await start(path)
    const home = await install(before)
    await spend(before, home, 0.75, Date.now(), 1)
    await spend(before, home, 0.25, Date.now(), 2)
    await stop(before)
    const app = await start(path)
    const editor = await member(app, home, 'editor', 'enterprise')
    const responses = await Promise.all([home.apiKey, editor].map((key) => execute(app, home.workflowId, key)))
    for (const response of responses) expect(response).toMatchObject({ status: 402, code: 'USAGE_LIMIT_EXCEEDED' })
    const limits = await fetch(`${app.address.url}/api/users/me/usage-limits`, {
      headers: { 'x-api-key': home.apiKey },
    })
    expect(await limits.json()).toMatchObject({ usage: { currentPeriodCost: 1, limit: 1, plan: 'free' } })
  })

  test('of the previous month does not count', async () => {
    const path = newFolder()
    const before = await start(path)
    const home = await install(before)
    await spend(before, home, 5, billingPeriodOf(Date.now()) - 1, 1)
    await stop(before)
    const app = await start(path)
    expect((await execute(app, home.workflowId, home.apiKey)).status).toBe(200)
  })
})
