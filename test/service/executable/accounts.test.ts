import { afterEach, describe, expect, test } from 'bun:test'
import '../../support/built.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { type Installation, init, type Serving, serve as start } from '../../support/running-service.ts'
import { openStoreOf } from '../../support/store/test-store.ts'

const started: Serving[] = []
const folders: Disposable[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((serving) => serving.kill('SIGKILL')))
  for (const folder of folders.splice(0)) folder[Symbol.dispose]()
})

function newFolder(): string {
  const folder = temporaryFolder()
  folders.push(folder)
  return folder.path
}

async function serve(data: string, environment: Record<string, string> = {}): Promise<Serving> {
  const serving = await start(data, environment)
  started.push(serving)
  return serving
}

async function command<Data>(data: string, ...words: string[]): Promise<Data> {
  const { code, out, words: said } = await millrace([...words, '--data', data])
  if (code !== 0) throw new Error(`millrace ${words.join(' ')} ended with ${code}: ${said}`)
  return (words.includes('--json') ? JSON.parse(out) : undefined) as Data
}

async function get({ url }: Serving, path: string, apiKey: string) {
  const response = await fetch(url + path, { headers: { 'x-api-key': apiKey } })
  return { status: response.status, headers: response.headers, body: (await response.json()) as never }
}

/** Repeats a check until it holds. Other tests show with a manual clock that changes take effect within 5 s. */
async function until(look: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now()
  while (!(await look())) {
    if (performance.now() - startedAt > 60_000) throw new Error('The condition did not hold within 60 s')
    await Bun.sleep(50)
  }
}

describe('a running service', () => {
  test('notices changes to accounts, sharing, tiers and keys', async () => {
    const data = newFolder()
    const owner = await init(data)
    const serving = await serve(data, { MILLRACE_PLAN: 'team' })
    const ada = await command<Installation>(data, 'users', 'create', 'ada@example.com', '--plan', 'pro', '--json')
    await command(data, 'workspaces', 'share', owner.workspaceId, 'ada@example.com', '--role', 'viewer')
    const { id, apiKey } = await command<{ id: string; apiKey: string }>(
      data,
      'keys',
      'create',
      '--name',
      'ci',
      '--json',
    )
    const logs = async () => (await get(serving, `/api/v1/logs?workspaceId=${owner.workspaceId}`, ada.apiKey)).status
    const limits = async (key: string) => {
      const { body } = await get(serving, '/api/users/me/usage-limits', key)
      const { usage, rateLimit } = body as { usage: { plan: string }; rateLimit: { sync: { limit: number } } }
      return `${usage.plan} ${rateLimit.sync.limit}`
    }
    const workspaces = async () => (await get(serving, '/api/workspaces', apiKey)).status
    // A key that the service has not seen before works immediately.
    expect(await Promise.all([logs(), limits(ada.apiKey), limits(owner.apiKey), workspaces()])).toEqual([
      200,
      'pro 25',
      'team 75',
      200,
    ])
    await command(data, 'workspaces', 'unshare', owner.workspaceId, 'ada@example.com')
    await command(data, 'users', 'plan', 'ada@example.com', 'default')
    await command(data, 'users', 'plan', owner.userId, 'enterprise', '--sync-per-minute', '7')
    await command(data, 'keys', 'revoke', id)
    await until(async () => (await logs()) === 404)
    await until(async () => (await limits(ada.apiKey)) === 'team 75')
    await until(async () => (await limits(owner.apiKey)) === 'enterprise 7')
    await until(async () => (await workspaces()) === 401)
  }, 120_000)

  test('saves the last use of a key after a moment, and at its stop', async () => {
    const data = newFolder()
    const { apiKey } = await init(data)
    const serving = await serve(data)
    const lastUse = async () =>
      (await command<{ lastUsedAt: string | null }[]>(data, 'keys', 'list', '--json'))[0]?.lastUsedAt ?? null
    expect(await lastUse()).toBeNull()
    await get(serving, '/api/workspaces', apiKey)
    await until(async () => (await lastUse()) !== null)
    const second = await command<{ apiKey: string }>(data, 'keys', 'create', '--name', 'second', '--json')
    await get(serving, '/api/workspaces', second.apiKey)
    expect(await serving.kill('SIGTERM')).toBe(0)
    expect(await lastUse()).not.toBeNull()
  }, 120_000)
})

test('continues an open rate window after kill -9', async () => {
  const data = newFolder()
  const { apiKey, workspaceId } = await init(data)
  const environment = { MILLRACE_PLAN: 'free' }
  const first = await serve(data, environment)
  const logs = (serving: Serving) => get(serving, `/api/v1/logs?workspaceId=${workspaceId}`, apiKey)
  for (let n = 0; n < 4; n += 1) await logs(first)
  const window = await logs(first)
  expect(window.headers.get('x-ratelimit-remaining')).toBe('5')
  // A crash may lose the last second, so wait until the count is stored.
  await until(async () => (await storedWindows(data)).includes(5))
  await first.kill('SIGKILL')
  const second = await serve(data, environment)
  const again = await logs(second)
  expect(again.headers.get('x-ratelimit-remaining')).toBe('4')
  expect(again.headers.get('x-ratelimit-reset')).toBe(window.headers.get('x-ratelimit-reset'))
  for (let n = 0; n < 4; n += 1) expect((await logs(second)).status).toBe(200)
  const refused = await logs(second)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
}, 120_000)

async function storedWindows(data: string): Promise<number[]> {
  const store = await openStoreOf(data)
  try {
    return (await store.listRateWindows(0)).map(({ used }) => used)
  } finally {
    await store.close()
  }
}
