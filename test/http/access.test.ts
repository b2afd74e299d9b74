import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newKey } from './accounts.ts'
import { HttpWorld, type Parsed } from './world.ts'

let world: HttpWorld
let mine: { workflowId: string; executionId: string; logId: string }
let keys: Record<string, string>
beforeAll(async () => {
  world = await HttpWorld.open()
  const workflowId = await world.deployed()
  const { executionId } = await world.log(workflowId)
  const { json } = await world.get(`/api/v1/logs?workspaceId=${world.workspaceId}`)
  mine = { workflowId, executionId, logId: json.data[0].id }
  keys = {
    revoked: await world.revokedKey(),
    expired: await world.key({ expiresAt: Date.now() - 1 }),
    viewer: await world.member('viewer'),
    editor: await world.member('editor'),
    bound: await world.key({ workspaceId: world.workspaceId }),
  }
})
afterAll(() => world.close())

/** Routes that say something about one thing of one workspace; `write` ones change it. */
const routes: [method: string, path: string, kind: 'read' | 'write'][] = [
  ['GET', '/api/workflows?workspaceId=<workspace>', 'read'],
  ['POST', '/api/workflows?workspaceId=<workspace>', 'write'],
  ['GET', '/api/workflows/<workflow>', 'read'],
  ['PUT', '/api/workflows/<workflow>', 'write'],
  ['DELETE', '/api/workflows/<workflow>', 'write'],
  ['GET', '/api/workflows/<workflow>/openapi.json', 'read'],
  ['POST', '/api/workflows/<workflow>/deploy', 'write'],
  ['DELETE', '/api/workflows/<workflow>/deploy', 'write'],
  ['GET', '/api/workflows/<workflow>/status', 'read'],
  ['GET', '/api/workflows/<workflow>/deployments', 'read'],
  ['GET', '/api/workflows/<workflow>/deployments/1', 'read'],
  ['PATCH', '/api/workflows/<workflow>/deployments/1', 'write'],
  ['POST', '/api/workflows/<workflow>/deployments/1/activate', 'write'],
  ['POST', '/api/workflows/<workflow>/deployments/1/revert', 'write'],
  ['GET', '/api/workflows/<workflow>/executions/<execution>', 'read'],
  ['POST', '/api/workflows/<workflow>/executions/<execution>/cancel', 'write'],
  ['GET', '/api/jobs/<execution>', 'read'],
  ['GET', '/api/folders?workspaceId=<workspace>', 'read'],
  ['GET', '/api/v1/logs?workspaceId=<workspace>', 'read'],
  ['GET', '/api/v1/logs/<log>', 'read'],
  ['GET', '/api/v1/logs/workflow/pt-BR/executions/<execution>', 'read'],
  ['GET', '/api/v1/logs/executions/<execution>', 'read'],
]
/** Routes that need a key and no more. */
const ownRoutes: [method: string, path: string][] = [
  ['GET', '/api/workspaces'],
  ['GET', '/api/users/me/usage-limits'],
]
const openPaths = ['/health', '/health/live', '/health/ready', '/sample/quotes', '/swagger', '/swagger/json']

const real = (path: string) =>
  path
    .replace('<workspace>', world.workspaceId)
    .replace('<workflow>', mine.workflowId)
    .replace('<execution>', mine.executionId)
    .replace('<log>', mine.logId)
const absent = (path: string) => path.replaceAll(/<\w+>/g, 'log_00000000000')

async function refusal(method: string, path: string, key: string | null): Promise<Parsed> {
  const { status, json } = await world.call(method, path, { key, text: '{}' })
  return { status, code: json.code, error: typeof json.error }
}

describe('every route that needs a key', () => {
  for (const [method, path] of [...routes, ...ownRoutes]) {
    test(`${method} ${path} answers 401 without a valid one`, async () => {
      const at = real(path)
      const required = { status: 401, code: 'API_KEY_REQUIRED', error: 'string' }
      const invalid = { status: 401, code: 'INVALID_API_KEY', error: 'string' }
      expect(await refusal(method, at, null)).toEqual(required)
      for (const key of ['nonsense', `${world.owner}x`, 'mrk_', keys['revoked'], keys['expired'], newKey().text]) {
        expect(await refusal(method, at, key ?? '')).toEqual(invalid)
      }
    })
  }

  for (const [method, path, kind] of routes) {
    test(`${method} ${path} hides what the key cannot see`, async () => {
      const foreign = await world.call(method, real(path), { key: world.stranger, text: '{}' })
      const missing = await world.call(method, absent(path), { key: world.stranger, text: '{}' })
      expect({ status: foreign.status, code: foreign.json.code }).toEqual({ status: 404, code: 'NOT_FOUND' })
      expect(foreign.text).toBe(missing.text)
    })

    if (kind === 'write') {
      test(`${method} ${path} is forbidden to a viewer`, async () => {
        expect(await refusal(method, real(path), keys['viewer'] ?? '')).toEqual({
          status: 403,
          code: 'FORBIDDEN',
          error: 'string',
        })
      })
    } else {
      test(`${method} ${path} is open to a viewer and to a key of the workspace`, async () => {
        for (const key of [keys['viewer'], keys['bound'], world.owner]) {
          expect((await world.call(method, real(path), { key: key ?? '' })).status).toBe(200)
        }
      })
    }
  }

  test('is in this table', () => {
    const listed = new Set([
      ...[...routes, ...ownRoutes].map(([method, path]) => `${method} ${path.split('?')[0]}`),
      ...openPaths.map((path) => `GET ${path}`),
    ])
    const names: Record<string, string> = { executionId: '<execution>', version: '1' }
    const registered = world.app.routes
      .filter(({ path, method }) => !path.includes('*') && method !== 'WS' && !path.startsWith('/swagger/'))
      .map(({ method, path }) => {
        const id = path.startsWith('/api/jobs') ? '<execution>' : path.startsWith('/api/v1') ? '<log>' : '<workflow>'
        const spelt = path.replaceAll(/:(\w+)/g, (_, name: string) => names[name] ?? id)
        return `${method} ${spelt.replace(/(.)\/$/, '$1')}`
      })
    expect(registered.filter((route) => !listed.has(route))).toEqual([])
  })
})

describe('a key', () => {
  test('of a workspace acts in that one only', async () => {
    const other = world.accounts.addWorkspace(world.userId)
    const answer = await world.get(`/api/workflows?workspaceId=${other}`, { key: keys['bound'] ?? '' })
    expect(answer.status).toBe(404)
    const personal = await world.key()
    expect((await world.get(`/api/workflows?workspaceId=${other}`, { key: personal })).status).toBe(200)
    const { json } = await world.get('/api/workspaces', { key: keys['bound'] ?? '' })
    expect(json.data.map(({ id }: Parsed) => id)).toEqual([world.workspaceId])
  })

  test('of an editor may change what it sees', async () => {
    const key = keys['editor'] ?? ''
    const { json } = await world.get(`/api/workflows/${mine.workflowId}`, { key })
    expect((await world.call('PUT', `/api/workflows/${mine.workflowId}`, { key, body: json })).status).toBe(200)
    expect((await world.get('/api/workspaces', { key })).json.data).toMatchObject([{ name: 'Main', role: 'editor' }])
  })

  test('is read from the header whatever its case, and from nowhere else', async () => {
    const send = (headers: Record<string, string>, query = '') =>
      world.get(`/api/workspaces${query}`, { key: null, headers }).then(({ status }) => status)
    expect(await send({ 'X-API-KEY': world.owner })).toBe(200)
    expect(await send({ 'x-api-key': world.owner })).toBe(200)
    expect(await send({}, `?x-api-key=${world.owner}`)).toBe(401)
  })

  test('opens no workspace that is named like a member of every object', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect((await world.get(`/api/workflows?workspaceId=${name}`)).status).toBe(404)
      expect((await world.get(`/api/v1/logs?workspaceId=${name}`)).status).toBe(404)
    }
  })
})

describe('what needs no key', () => {
  for (const path of openPaths) {
    test(`${path} answers everyone, with a request id`, async () => {
      const { status, headers } = await world.get(path, { key: null })
      expect(status).toBe(200)
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    })
  }

  test('the sample route gives quotes, by tag when one is named', async () => {
    const { json } = await world.get('/sample/quotes', { key: null })
    expect(json.data.length).toBeGreaterThan(3)
    const { json: some } = await world.get('/sample/quotes?tag=Time', { key: null })
    expect(some.data.length).toBeGreaterThan(0)
    expect(some.data.every(({ tag }: Parsed) => tag === 'time')).toBe(true)
    // What the sample workflow sends when its caller names no tag.
    expect((await world.get('/sample/quotes?tag=', { key: null })).json).toEqual(json)
    expect((await world.get('/sample/quotes?tag=unknown', { key: null })).json).toEqual({ data: [] })
  })
})
