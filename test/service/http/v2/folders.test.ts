import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
  for (const folder of ['sales/eu west', 'sales/us', 'ops']) await world.workflow({ name: `In ${folder}`, folder })
})
afterAll(() => world.close())

const list = async (query = '') =>
  (await world.get(`/api/v2/workflows/folders?workspaceId=${world.workspaceId}${query}`)).json
const pathsOf = ({ data }: Parsed) => data.map(({ path }: Parsed) => path)
const move = (path: string, destinationPath: string) =>
  world.call('PATCH', '/api/v2/workflows/folders', { body: { workspaceId: world.workspaceId, path, destinationPath } })

describe('the folders of /api/v2', () => {
  test('are listed with their parents', async () => {
    const all = await list()
    expect(all.nextCursor).toBeNull()
    expect(pathsOf(all)).toEqual(['/sales/eu%20west', '/ops', '/sales', '/sales/us'])
    expect(all.data[0]).toMatchObject({ name: 'eu west', parentPath: '/sales', locked: false })
    expect(pathsOf(await list('&parentPath=%2F&sortOrder=desc'))).toEqual(['/sales', '/ops'])
    expect(pathsOf(await list('&parentPath=%2Fsales&search=US'))).toEqual(['/sales/us'])
    expect(pathsOf(await list('&parentPath=%2Fnowhere'))).toEqual([])
  })

  test('are renamed, or moved into an existing folder, with their workflows', async () => {
    const renamed = await move('/sales/us', '/sales/america')
    expect(renamed.json.data).toMatchObject({ name: 'america', path: '/sales/america' })
    const inside = await move('/ops', '/sales')
    expect(inside.json.data).toMatchObject({ path: '/sales/ops' })
    expect((await move('/sales/ops', '/')).json.data).toMatchObject({ path: '/ops' })
    const folders = (await world.store.listWorkflows(world.workspaceId)).map(({ document }) => document.folder)
    expect(folders.toSorted()).toEqual(['ops', 'sales/america', 'sales/eu west'])
  })

  test('are not moved where they cannot be', async () => {
    const attempts: [from: string, to: string, status: number][] = [
      ['/nowhere', '/there', 404],
      ['/', '/there', 404],
      ['/sales', '/sales/deeper', 400],
      ['/sales', `/${'a/'.repeat(19)}b`, 400],
      ['sales/', '/x', 400],
    ]
    for (const [from, to, status] of attempts) expect([from, (await move(from, to)).status]).toEqual([from, status])
    await world.workflow({ name: 'Same', folder: 'ops/sales' })
    expect((await move('/sales', '/ops')).status).toBe(409)
  })
})

test('workflows are moved to a folder together, but not those of other workspaces', async () => {
  const ids = [await world.workflow({ name: 'One' }), await world.workflow({ name: 'Two', folder: 'x' })]
  const foreign = (await world.get('/api/v2/workspaces', { key: world.outsider })).json.data[0].id
  const other = await world.post('/api/v2/workflows', { workspaceId: foreign, name: 'Other' }, { key: world.outsider })
  const workflowIds = [...ids, ids[0], other.json.data.id, 'nothing']
  const body = { workspaceId: world.workspaceId, workflowIds, folderPath: 'new%20home' }
  const { status, json } = await world.post('/api/v2/workflows/move', body)
  expect([status, json.data]).toEqual([
    200,
    { moved: ids, failed: [other.json.data.id, 'nothing'], folderPath: '/new%20home' },
  ])
  for (const id of ids) expect((await world.store.getWorkflow(id))?.document.folder).toBe('new home')
  expect((await world.store.getWorkflow(other.json.data.id))?.document.folder).toBeUndefined()
  expect((await world.post('/api/v2/workflows/move', { ...body, folderPath: '/a//b' })).status).toBe(400)
  expect((await world.post('/api/v2/workflows/move', { ...body, workflowIds: Array(101).fill('x') })).status).toBe(400)
})
