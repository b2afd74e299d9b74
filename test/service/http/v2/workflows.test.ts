import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { folderAt, folderPathOf } from '../../../../src/http/requests/folder-path.ts'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

const list = (query: string, key?: string) =>
  world.get(`/api/v2/workflows?workspaceId=${world.workspaceId}${query}`, key === undefined ? {} : { key })

describe('a workflow of /api/v2', () => {
  test('is created with a start, and can be renamed, described, moved and deleted', async () => {
    const facts = { name: 'Fresh', description: 'New', folderPath: 'sales/eu%20west' }
    const created = await world.post('/api/v2/workflows', { workspaceId: world.workspaceId, ...facts })
    expect(created.status).toBe(201)
    const { id, webUrl, blocks } = created.json.data
    expect(created.json.data).toMatchObject({
      ...facts,
      folderPath: '/sales/eu%20west',
      isDeployed: false,
      runCount: 0,
    })
    expect(new URL(webUrl).pathname).toBe(`/workflows/${id}`)
    expect(blocks).toEqual([{ id: 'start', type: 'api_trigger', name: 'Start' }])
    const { document } = (await world.store.getWorkflow(id))!
    expect(document).toMatchObject({ name: 'Fresh', description: 'New', folder: 'sales/eu west' })

    const renamed = await world.call('PATCH', `/api/v2/workflows/${id}`, { body: { name: 'Older', description: null } })
    expect(renamed.json.data).toMatchObject({ name: 'Older', description: null, folderPath: '/sales/eu%20west' })
    const moved = await world.call('PATCH', `/api/v2/workflows/${id}`, { body: { folderPath: '/' } })
    expect(moved.json.data).toMatchObject({ name: 'Older', folderPath: '/' })
    const stored = (await world.store.getWorkflow(id))!
    expect(stored).toMatchObject({ revision: 3, updatedBy: world.userId })
    expect('folder' in stored.document || 'description' in stored.document).toBe(false)
    expect(stored.document.blocks).toEqual(document.blocks)

    const deleted = await world.call('DELETE', `/api/v2/workflows/${id}`)
    expect(deleted.json).toEqual({ data: { id, deleted: true, archived: true } })
    expect((await world.get(`/api/v2/workflows/${id}`)).status).toBe(404)
  })

  test('shows its input, its variables, its deployment and its last run', async () => {
    const inputFormat = [{ name: 'city', type: 'string', description: 'Where?', value: 'Porto' }]
    const id = await world.deployed({
      name: 'Shown',
      blocks: { start: { id: 'start', type: 'api_trigger', name: 'Start', params: { inputFormat } } },
      edges: [],
      variables: { limit: { type: 'number', value: 3 } },
    })
    const startedAt = Date.now()
    await world.log(id, { startedAt, endedAt: startedAt + 12 })
    const { status, json } = await world.get(`/api/v2/workflows/${id}`)
    expect(status).toBe(200)
    expect(json.data).toMatchObject({
      ...{ id, name: 'Shown', isDeployed: true, deployedAt: expect.any(String), workspaceId: world.workspaceId },
      ...{ runCount: 1, lastRunAt: new Date(startedAt).toISOString() },
      inputs: [{ name: 'city', type: 'string', description: 'Where?' }],
      variables: { limit: { type: 'number', value: 3 } },
    })
  })

  test('is refused with what is wrong with it', async () => {
    const bodies: [body: unknown, path: string[]][] = [
      [{ workspaceId: world.workspaceId, name: '  ' }, ['name']],
      [{ workspaceId: world.workspaceId, name: 'x', folderPath: '/a/' }, ['folderPath']],
      [{ workspaceId: world.workspaceId, name: 'x', folderPath: `/${'a/'.repeat(20)}b` }, ['folderPath']],
      [{ workspaceId: world.workspaceId, name: 'x', colour: 'red' }, ['colour']],
      [{ name: 'x' }, ['workspaceId']],
    ]
    for (const [body, path] of bodies) {
      const { status, json } = await world.post('/api/v2/workflows', body)
      expect([status, json.error.code, json.error.details?.[0]?.path]).toEqual([400, 'BAD_REQUEST', path])
    }
    await world.workflow({ name: 'Taken' })
    const taken = await world.post('/api/v2/workflows', { workspaceId: world.workspaceId, name: 'Taken' })
    expect([taken.status, taken.json.error.code]).toEqual([409, 'CONFLICT'])
  })
})

describe('the list of workflows of /api/v2', () => {
  test('has each workflow once, page by page, in its order and with its filters', async () => {
    const own = await HttpWorld.open()
    try {
      const at = `/api/v2/workflows?workspaceId=${own.workspaceId}`
      const names = ['Delta', 'alpha', 'Bravo', 'Charlie', 'Echo']
      for (const name of names) await own.workflow({ name, ...(name < 'C' && { folder: 'a/b c' }) })
      const all = async (query: string) => {
        const found: string[] = []
        let cursor: string | null = null
        do {
          const { status, json }: Parsed = await own.get(`${at}${query}${cursor ? `&cursor=${cursor}` : ''}`)
          expect(status).toBe(200)
          found.push(...json.data.map(({ name }: Parsed) => name))
          cursor = json.nextCursor
        } while (cursor !== null)
        return found
      }
      expect(await all('&limit=2')).toEqual(names)
      expect(await all('&limit=2&sortBy=name')).toEqual(['Bravo', 'Charlie', 'Delta', 'Echo', 'alpha'])
      expect(await all('&limit=1&sortBy=createdAt&sortOrder=desc')).toEqual([...names].reverse())
      expect(await all('&limit=5&folderPath=%2Fa%2Fb%2520c')).toEqual(['Bravo'])
      expect(await all('&folderPath=%2F&search=A')).toEqual(['Delta', 'alpha', 'Charlie'])
      expect(await all('&deployedOnly=true')).toEqual([])

      const { json } = await own.get(`${at}&limit=2`)
      const misused = await own.get(`${at}&limit=2&sortBy=name&cursor=${json.nextCursor}`)
      expect([misused.status, misused.json.error.details]).toEqual([400, { code: 'INVALID_CURSOR' }])
    } finally {
      await own.close()
    }
  })

  test('refuses what it cannot give', async () => {
    const paths = async (query: string) => (await list(query)).json.error.details.map(({ path }: Parsed) => path[0])
    expect(await paths('&sortBy=runCount&scope=archived&limit=101&folderPath=a//b')).toEqual([
      ...['scope', 'folderPath', 'sortBy', 'limit'],
    ])
    expect((await world.get('/api/v2/workflows')).json.error.details).toMatchObject([{ path: ['workspaceId'] }])
    expect((await list('', world.outsider)).status).toBe(404)
  })
})

test('a folder has exactly one path, and no other text leads to it', () => {
  const step = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => folderAt(folderPathOf(text)) === text)
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
      const folder = steps.join('/')
      expect(folderAt(folderPathOf(folder))).toBe(folder)
      expect(folderAt(folderPathOf(folder).slice(1))).toBe(folder)
    }),
  )
  expect(folderPathOf('New folder/a!')).toBe('/New%20folder/a%21')
  for (const wrong of ['/a/', '//a', '/a b', '/%2e', '/..', '/a%2Fb', '/%E0%A4', '/a%0Ab', '/!']) {
    expect([wrong, folderAt(wrong)]).toEqual([wrong, undefined])
  }
})
