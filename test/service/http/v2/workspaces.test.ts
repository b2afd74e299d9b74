import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

describe('/api/v2/meta', () => {
  test('says which kind of key calls, and when it ends', async () => {
    expect((await world.get('/api/v2/meta')).json).toEqual({
      data: { v2Enabled: true, keyType: 'personal', expiresAt: null },
    })
    const expiresAt = Date.now() + 60_000
    const key = await world.key({ workspaceId: world.workspaceId, expiresAt })
    const { json, headers } = await world.get('/api/v2/meta', { key })
    expect(json.data).toEqual({ v2Enabled: true, keyType: 'workspace', expiresAt: new Date(expiresAt).toISOString() })
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0)
  })
})

describe('/api/v2/workspaces', () => {
  test('lists the workspaces of the key, page by page', async () => {
    const userId = await world.accounts.addUser()
    const ids = [await world.accounts.addWorkspace(userId), await world.accounts.addWorkspace(userId)]
    await world.accounts.addMember(userId, world.workspaceId, 'viewer')
    const key = await world.key({ userId })
    const page = async (query: string) => (await world.get(`/api/v2/workspaces?${query}`, { key })).json
    const first = await page('limit=2&sortBy=name&sortOrder=asc')
    expect(first.data.map(({ name }: Parsed) => name)).toEqual(['Main', 'Other'])
    const second = await page(`limit=2&sortBy=name&sortOrder=asc&cursor=${first.nextCursor}`)
    expect(second).toMatchObject({ data: [{ name: 'Other' }], nextCursor: null })
    const found = [...first.data.slice(1), ...second.data].map(({ id }: Parsed) => id)
    expect(found).toEqual([...ids].sort())
    const bound = await world.key({ userId, workspaceId: ids[0]! })
    const own = await world.get('/api/v2/workspaces', { key: bound })
    expect(own.json.data).toMatchObject([{ id: ids[0], memberCount: 1 }])
    expect((await world.get(`/api/v2/workspaces/${ids[1]}`, { key: bound })).status).toBe(404)
  })

  test('shows a workspace and its members with their roles', async () => {
    const own = await HttpWorld.open()
    try {
      await own.member('editor')
      await own.member('viewer')
      const { json } = await own.get(`/api/v2/workspaces/${own.workspaceId}`)
      expect(json.data).toMatchObject({ id: own.workspaceId, name: 'Main', memberCount: 3, logoUrl: null })
      const members = await own.get(`/api/v2/workspaces/${own.workspaceId}/members`)
      const roles = members.json.data.map(({ role }: Parsed) => role)
      expect(roles.sort()).toEqual(['admin', 'read', 'write'])
      expect(members.json.nextCursor).toBeNull()
    } finally {
      await own.close()
    }
  })
})
