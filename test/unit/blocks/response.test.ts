import { afterAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { World } from '../engine/world.ts'

const world = new World()
afterAll(() => world.stop())

const responding = (params: Record<string, unknown>) =>
  document({ blocks: [block('start', 'api_trigger'), block('answer', 'response', params)], edges: ['start > answer'] })

describe('a response', () => {
  test('is 200 with null when nothing is set', async () => {
    expect((await world.run(responding({}))).response).toEqual({ data: null, status: 200, headers: {} })
  })

  test('reads headers from a key/value list or an object, and skips empty keys', async () => {
    const list = [
      { key: 'X-A', value: '<api.input.a>' },
      { key: '', value: 'x' },
      { key: 'X-N', value: 5 },
    ]
    expect((await world.run(responding({ headers: list }), { a: 'v' })).response?.headers).toEqual({
      'X-A': 'v',
      'X-N': '5',
    })
    expect((await world.run(responding({ headers: { 'X-B': 'b' } }))).response?.headers).toEqual({ 'X-B': 'b' })
  })

  test('keeps repeated headers: cookies as a list, others joined', async () => {
    const headers = ['a=1', 'b=2'].flatMap((value) => [
      { key: 'Set-Cookie', value },
      { key: 'X-A', value },
    ])
    expect((await world.run(responding({ headers }))).response?.headers).toEqual({
      'Set-Cookie': ['a=1', 'b=2'],
      'X-A': 'a=1, b=2',
    })
  })

  test('fails for invalid headers', async () => {
    for (const headers of [[{ key: 'X A', value: 'b' }], [{ key: 'X-A', value: 'a\r\nSet-Cookie: b' }], 'text', [5]]) {
      const { record } = await world.run(responding({ headers }))
      expect(record.failure).toMatchObject({ code: 'EXECUTION_FAILED', blockId: 'answer' })
    }
    const { record } = await world.run(responding({ status: '<api.input.status>' }), { status: 99 })
    expect(record.failure?.message).toContain('Status')
  })

  test('reads the status from a reference to a number or its text', async () => {
    for (const status of [418, '418']) {
      expect((await world.run(responding({ status: '<api.input.status>' }), { status })).response?.status).toBe(418)
    }
  })
})
