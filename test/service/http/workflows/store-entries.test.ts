import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

type Called = Awaited<ReturnType<ExecutionWorld['call']>>

let world: ExecutionWorld
let entries: string
let workflowId: string

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'store-bytes': '700000', 'body-bytes-max': '1000000' })
  entries = `/api/workspaces/${world.workspaceId}/store`
  const workflow = document({
    name: 'Counting',
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'page', type: 'string' }] }),
      block('count', 'store', { operation: 'increment', key: 'visits/<start.page>' }),
      block('keep', 'store', { operation: 'set', key: 'secret', value: 'a {{TOKEN}} b', scope: 'workspace' }),
    ],
    edges: ['start > count', 'count > keep'],
  })
  const variable = { method: 'PUT', body: { value: 'hunter22-hunter22' } }
  await world.call(`/api/workspaces/${world.workspaceId}/environment/TOKEN`, variable)
  workflowId = await world.deploy(workflow)
})
afterAll(() => world.close())

const put = (key: string, body: unknown, query = '') =>
  world.call(`${entries}/${encodeURIComponent(key)}${query}`, { method: 'PUT', body })
const list = async (query = '') => {
  const response = await world.call(`${entries}${query}`)
  expect(response.status).toBe(200)
  return response.json as {
    data: { key: string; value: unknown; expiresAt: string | null }[]
    nextCursor: string | null
    usage: { bytes: number; bytesMax: number }
  }
}
const refusal = (response: Called) => {
  const { code, error } = response.json as { code: string; error: string }
  return `${response.status} ${code} ${error}`
}

describe('entries of the store', () => {
  test('that a workflow keeps are listed, without secrets', async () => {
    for (let run = 0; run < 2; run += 1) {
      const { status } = await world.call(`/api/workflows/${workflowId}/execute`, { body: { page: 'home/ü' } })
      expect(status).toBe(200)
    }
    const own = await list(`?scope=workflow&workflowId=${workflowId}&prefix=visits/`)
    expect(own.data).toMatchObject([{ key: 'visits/home/ü', value: 2, expiresAt: null }])
    expect(own.usage.bytesMax).toBe(700_000)
    expect(own.usage.bytes).toBeGreaterThan(200)
    expect((await list('?prefix=secret')).data).toMatchObject([{ key: 'secret', value: 'a {{TOKEN}} b' }])
  })

  test('are set and deleted by their key, whatever characters it has', async () => {
    for (const key of ['plain', 'a/b', 'ü %2F?&#', 'export', '\u{1f600}']) {
      const response = await put(key, { value: { key }, ttlMs: 60_000 })
      expect(response.status).toBe(200)
      const entry = response.json as { key: string; expiresAt: string }
      expect(entry).toMatchObject({ key, value: { key } })
      expect(Date.parse(entry.expiresAt)).toBeGreaterThan(Date.now())
      expect((await put(key, { value: null })).status).toBe(200)
      const { data } = await list(`?prefix=${encodeURIComponent(key)}`)
      expect(data).toMatchObject([{ key, value: null, expiresAt: null }])
      const one = `${entries}/${encodeURIComponent(key)}`
      expect((await world.call(one, { method: 'DELETE' })).status).toBe(204)
      expect((await world.call(one, { method: 'DELETE' })).status).toBe(404)
    }
  })

  test('are read in pages, with cursors of their own list', async () => {
    for (let at = 0; at < 7; at += 1) await put(`page/${at}`, { value: at })
    const keys: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await list(`?prefix=page/&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
      keys.push(...page.data.map(({ key }) => key))
      cursor = page.nextCursor
    }
    expect(keys).toEqual(Array.from({ length: 7 }, (_, at) => `page/${at}`))
    const { nextCursor } = await list('?prefix=page/&limit=3')
    for (const query of [
      `?prefix=pag&cursor=${nextCursor}`,
      '?cursor=W10',
      '?cursor=x',
      `?cursor=${'A'.repeat(5_000)}`,
    ]) {
      expect(refusal(await world.call(entries + query))).toStartWith('400 INVALID_CURSOR')
    }
  })

  test('are exported whole, as JSON', async () => {
    for (let at = 0; at < 5; at += 1) await put(`big/${at}`, { value: 'x'.repeat(120_000) })
    const response = await world.call(`${entries}/export?prefix=big/`)
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="store.json"')
    const { data } = response.json as { data: { key: string; value: string }[] }
    expect(data.map(({ key, value }) => `${key} ${value.length}`)).toEqual(
      Array.from({ length: 5 }, (_, at) => `big/${at} 120000`),
    )
    const none = await world.call(`${entries}/export?prefix=none/`)
    expect(none.json).toEqual({ data: [] })
    for (let at = 0; at < 5; at += 1) {
      expect((await world.call(`${entries}/big%2F${at}`, { method: 'DELETE' })).status).toBe(204)
    }
  })

  test('are refused with a reason', async () => {
    const cases: [Promise<Called>, string][] = [
      [put('a', {}), '400 INVALID_INPUT value must be given'],
      [put('a', { value: 1, ttlMs: 0 }), '400 INVALID_INPUT ttlMs must be'],
      [put('a\nb', { value: 1 }), '400 INVALID_INPUT The key must not contain control'],
      [put('k'.repeat(513), { value: 1 }), '400 INVALID_INPUT The key must have at most 512'],
      [put('a', { value: 'x'.repeat(300_000) }), '400 INVALID_INPUT The value has more than 256 KB'],
      [put('a', { value: 'see {{TOKEN}}' }), '400 INVALID_INPUT The value shows the secret {{TOKEN}}'],
      [put('a', { value: 1 }, '?scope=workflow'), '400 INVALID_PARAMETERS scope "workflow" needs'],
      [put('a', { value: 1 }, `?scope=workspace&workflowId=${workflowId}`), '400 INVALID_PARAMETERS'],
      [put('a', { value: 1 }, '?workflowId=nothing'), '404 NOT_FOUND'],
      [world.call(`${entries}?prefix=%00`), '400 INVALID_PARAMETERS prefix must not'],
      [world.call(`${entries}?limit=5000`), '400 INVALID_PARAMETERS'],
    ]
    for (const [response, start] of cases) expect(refusal(await response)).toStartWith(start)
  })

  test('of a full workspace are refused until some are deleted', async () => {
    const large = { value: 'x'.repeat(230_000) }
    for (let at = 0; at < 3; at += 1) expect((await put(`full/${at}`, large)).status).toBe(200)
    expect(refusal(await put('full/3', large))).toMatch(/^409 CONFLICT .*MILLRACE_STORE_BYTES/s)
    expect((await put('full/2', large)).status).toBe(200)
    await world.call(`${entries}/full%2F0`, { method: 'DELETE' })
    expect((await put('full/3', large)).status).toBe(200)
  })
})
