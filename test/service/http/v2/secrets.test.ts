import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

const inWorkspace = (more = '') => `?workspaceId=${world.workspaceId}${more}`
const put = (name: string, body: object) =>
  world.call('PUT', `/api/v2/secrets/${name}`, {
    body: { workspaceId: world.workspaceId, scope: 'workspace', ...body },
  })

describe('a secret of /api/v2', () => {
  test('is set, listed without its value, and deleted', async () => {
    const set = await put('TOKEN', { value: 'a secret value' })
    expect(set.json.data).toMatchObject({ name: 'TOKEN', scope: 'workspace', unredacted: false, role: 'admin' })
    const listed = await world.get(`/api/v2/secrets${inWorkspace()}`)
    expect(listed.json).toEqual({ data: [set.json.data], nextCursor: null })
    expect(set.text + listed.text).not.toContain('a secret value')
    expect((await world.get(`/api/workspaces/${world.workspaceId}/environment`)).json.data).toMatchObject([
      { name: 'TOKEN', plain: false },
    ])
    const deleted = await world.call('DELETE', `/api/v2/secrets/TOKEN${inWorkspace('&scope=workspace')}`)
    expect(deleted.json).toEqual({ data: { name: 'TOKEN', scope: 'workspace', deleted: true } })
    expect(await world.store.listEnvironment(world.workspaceId)).toEqual([])
    const again = await world.call('DELETE', `/api/v2/secrets/TOKEN${inWorkspace('&scope=workspace')}`)
    expect(again.status).toBe(404)
  })

  test('stays redacted or not when its value changes', async () => {
    const isUnredacted = async (name: string, body: object) => (await put(name, body)).json.data.unredacted
    expect(await isUnredacted('CITY', { value: 'Porto', unredacted: true })).toBe(true)
    expect(await isUnredacted('CITY', { value: 'Faro' })).toBe(true)
    expect(await isUnredacted('CITY', { value: 'Faro', unredacted: false })).toBe(false)
  })

  test('is refused as a personal one, with a description, or without a value', async () => {
    const bodies: [object, string][] = [
      [{ value: 'x', scope: 'personal' }, 'scope'],
      [{ value: 'x', description: 'of the weather service' }, 'description'],
      [{ unredacted: true }, 'value'],
    ]
    for (const [body, path] of bodies) {
      const { status, json } = await put('TOKEN', body)
      expect([status, json.error.details?.[0]?.path]).toEqual([400, [path]])
    }
    expect((await put('1TOKEN', { value: 'x' })).json.error.message).toContain('not a valid variable name')
    expect((await world.get(`/api/v2/secrets${inWorkspace('&scope=personal')}`)).json.data).toEqual([])
  })

  test('is listed page by page, in the order and with the part of a name that the query wants', async () => {
    const own = await HttpWorld.open()
    try {
      const at = `/api/v2/secrets?workspaceId=${own.workspaceId}`
      for (const name of ['B_KEY', 'A_KEY', 'C_KEY', 'OTHER']) {
        const body = { workspaceId: own.workspaceId, scope: 'workspace', value: name }
        await own.put(`/api/v2/secrets/${name}`, body)
      }
      const first = (await own.get(`${at}&limit=2&search=key`)).json
      const second = (await own.get(`${at}&limit=2&search=key&cursor=${first.nextCursor}`)).json
      const names = [...first.data, ...second.data].map(({ name }: Parsed) => name)
      expect([names, second.nextCursor]).toEqual([['A_KEY', 'B_KEY', 'C_KEY'], null])
      const latest = (await own.get(`${at}&sortBy=updatedAt&sortOrder=desc&limit=100`)).json.data
      expect(latest.map(({ name }: Parsed) => name).toSorted()).toEqual(['A_KEY', 'B_KEY', 'C_KEY', 'OTHER'])
    } finally {
      await own.close()
    }
  })
})

test('credentials of /api/v2 are listed without their secrets', async () => {
  const create = (name: string, kind: string, more: object) =>
    world.post(`/api/workspaces/${world.workspaceId}/credentials`, { name, kind, hosts: ['api.example.com'], ...more })
  const made = await create('weather', 'bearer', { secrets: { token: 'a secret token' } })
  expect(made.status).toBe(201)
  const { json, text } = await world.get(`/api/v2/credentials${inWorkspace()}`)
  expect(json.data).toMatchObject([
    { id: made.json.id, displayName: 'weather', type: 'service_account', providerId: 'bearer', role: 'admin' },
  ])
  expect(text).not.toContain('a secret token')
  const viewer = await world.member('viewer')
  const seen = await world.get(`/api/v2/credentials${inWorkspace('&type=service_account&search=WEA')}`, { key: viewer })
  expect(seen.json.data).toMatchObject([{ role: 'member' }])
  expect((await world.get(`/api/v2/credentials${inWorkspace('&type=oauth')}`)).json.data).toEqual([])
})
