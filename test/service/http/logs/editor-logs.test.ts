import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hashToken, newToken } from '../../../../src/accounts/sessions.ts'
import { type CallOptions, HttpWorld, type Parsed } from '../world.ts'

describe('counts of runs over time', () => {
  let world: HttpWorld
  let workflowId: string
  let folderId: string
  let person: CallOptions
  beforeAll(async () => {
    world = await HttpWorld.open()
    const token = newToken()
    await world.store.createSession({ hash: hashToken(token), userId: world.userId, createdAt: 0, expiresAt: 1e14 })
    person = { key: null, headers: { cookie: `millrace_session=${token}`, 'sec-fetch-site': 'same-origin' } }
    workflowId = await world.deployed()
    const other = await world.deployed({ folder: 'sales' })
    folderId = (await world.get('/api/folders')).json.data[0].id
    const add = (id: string, hour: number, more: Parsed = {}) =>
      world.log(id, { startedAt: Date.UTC(2025, 0, 1, hour), endedAt: Date.UTC(2025, 0, 1, hour) + 5, ...more })
    await add(workflowId, 1)
    await add(workflowId, 1, { level: 'error', costTotal: 0.5 })
    await add(other, 2, { costTotal: 0.25 })
    await add(other, 5, { level: 'error', cancelled: true })
  })
  afterAll(() => world.close())
  const counts = async (query: string) => {
    const at = `/api/editor/logs/histogram?workspaceId=${world.workspaceId}&bucketMs=3600000&${query}`
    const { status, json } = await world.get(at, person)
    expect([status, json.isComplete]).toEqual([200, true])
    return json.data
      .map(({ success, error, cancelled, cost }: Parsed) => `${success}/${error}/${cancelled}/${cost}`)
      .join(' ')
  }

  test('are assigned to the bucket in which the run started; runs outside all buckets are not counted', async () => {
    expect(await counts('from=2025-01-01&buckets=4')).toBe('0/0/0/0 1/1/0/0.5 1/0/0/0.25 0/0/0/0')
    expect(await counts('from=2025-01-01T05:00:00Z&buckets=1')).toBe('0/0/1/0')
    expect(await counts('from=2024-01-01&buckets=2')).toBe('0/0/0/0 0/0/0/0')
  })

  test('respect the filters of a query', async () => {
    const all = 'from=2025-01-01&buckets=3'
    expect(await counts(`${all}&level=error`)).toBe('0/0/0/0 0/1/0/0.5 0/0/0/0')
    expect(await counts(`${all}&folderIds=${folderId}`)).toBe('0/0/0/0 0/0/0/0 1/0/0/0.25')
    expect(await counts(`${all}&workflowIds=${workflowId}&startDate=2025-01-01T02:00:00Z`)).toBe(
      '0/0/0/0 0/0/0/0 0/0/0/0',
    )
    expect(await counts(`${all}&workflowIds=unknown`)).toBe('0/0/0/0 0/0/0/0 0/0/0/0')
  })

  test('require a start time, and accept a bucket size within limits', async () => {
    const at = `/api/editor/logs/histogram?workspaceId=${world.workspaceId}&bucketMs=1&buckets=1000000`
    const { status, json } = await world.get(at, person)
    expect(status).toBe(400)
    expect(json.details.map(({ path }: Parsed) => path).toSorted()).toEqual(['bucketMs', 'buckets', 'from'])
  })
})
