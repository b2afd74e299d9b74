import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { logIdOf } from '../../../../src/domain/ids.ts'
import { HttpWorld, type Parsed } from '../world.ts'

const ids = ({ json }: { json: Parsed }) => json.data.map(({ id }: Parsed) => id)

describe('reading page by page', () => {
  let small: HttpWorld
  let all: string[]
  beforeAll(async () => {
    small = await HttpWorld.open()
    const id = await small.deployed()
    all = []
    for (let n = 0; n < 7; n++) all.push(logIdOf((await small.log(id, { durationMs: n })).sequence))
    // On PostgreSQL, a page shows an entry in this order when no transaction of the server is older.
    while (ids(await small.logs('&order=asc')).length < all.length) await Bun.sleep(10)
  })
  afterAll(() => small.close())

  for (const order of ['asc', 'desc']) {
    for (const limit of [1, 2, 3, 7, 8]) {
      test(`${order}, ${limit} at a time, returns every entry once, in order`, async () => {
        const met: string[] = []
        let cursor: string | null = ''
        for (let pages = 0; cursor !== null && pages < 20; pages++) {
          const page: Parsed = await small.logs(
            `&order=${order}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
          )
          expect(page.status).toBe(200)
          if (order === 'asc') expect(page.json.nextCursor === null).toBe(page.json.data.length === 0)
          met.push(...ids(page))
          cursor = page.json.nextCursor
        }
        expect(met).toEqual(order === 'asc' ? all : [...all].reverse())
      })
    }
  }

  test('a poller that continues with its cursor gets each new entry once', async () => {
    const poll = await HttpWorld.open()
    try {
      const id = await poll.deployed()
      await poll.log(id)
      const first = await poll.logs('&order=asc')
      expect(first.json.data).toHaveLength(1)
      const cursor = first.json.nextCursor
      expect((await poll.logs(`&order=asc&cursor=${cursor}`)).json).toMatchObject({ data: [], nextCursor: null })
      const late = await poll.log(id)
      const second = await poll.logs(`&order=asc&cursor=${cursor}`)
      expect(ids(second)).toEqual([logIdOf(late.sequence)])
    } finally {
      await poll.close()
    }
  })

  test('a cursor is valid with another page size and other details, and with no other change', async () => {
    const { nextCursor } = (await small.logs('&limit=2')).json
    expect(ids(await small.logs(`&limit=3&details=full&includeFinalOutput=1&cursor=${nextCursor}`))).toHaveLength(3)
    for (const query of ['&order=asc', '&level=info', '&minDurationMs=0', '&startDate=2020-01-01', '&workflowIds=x']) {
      const { status, json } = await small.logs(`${query}&cursor=${nextCursor}`)
      expect({ query, status, code: json.code }).toEqual({ query, status: 400, code: 'INVALID_CURSOR' })
    }
    const other = await small.accounts.addWorkspace(small.userId)
    // The service caches what a key can see for some seconds. This key has not been used before.
    const key = await small.key()
    const elsewhere = await small.get(`/api/v1/logs?workspaceId=${other}&cursor=${nextCursor}`, { key })
    expect(elsewhere.json.code).toBe('INVALID_CURSOR')
    expect((await small.logs('&cursor=bm9uc2Vuc2U')).json.code).toBe('INVALID_CURSOR')
  })
})
