import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { ExecutionWorld } from '../http/execution-world.ts'
import { FeedServer } from './feed-server.ts'

let world: ExecutionWorld
let server: FeedServer

beforeEach(async () => {
  server = new FeedServer()
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
})
afterEach(async () => {
  await world.close()
  server.stop()
})

const everyMs = 1_000
const workflow = (trigger: string, params: Record<string, unknown>, name = 'Poll') =>
  document({
    name,
    blocks: [
      block('it', trigger, params),
      block('note', 'function', {
        code: trigger === 'rss_trigger' ? 'return <rss.item>' : 'return <poll.item>',
      }),
    ],
    edges: ['it > note'],
  })
const poll = (more: Record<string, unknown> = {}, request: Record<string, unknown> = {}) =>
  workflow('poll_trigger', {
    request: { url: server.url('/list'), ...request },
    items: 'data',
    id: 'id',
    everyMs,
    ...more,
  })

async function until<Found>(look: () => Promise<Found | undefined> | Found | undefined): Promise<Found> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await Bun.sleep(5)
  }
}

const entries = async () => {
  const query = `workspaceId=${world.workspaceId}&triggers=schedule&includeFinalOutput=true&limit=100`
  return (await world.call(`/api/v1/logs?${query}`)).json.data as Record<string, unknown>[]
}
/** The items of all runs, once there are this many. */
const items = (count: number) =>
  until(async () => {
    const found = await entries()
    expect(found.length).toBeLessThanOrEqual(count)
    return found.length === count
      ? found.map((entry) => (entry['finalOutput'] as { result: unknown }).result)
      : undefined
  })
const status = async (id: string) =>
  (await world.call(`/api/workflows/${id}/polls`)).json.data[0] as Record<string, unknown>

describe('a poll', () => {
  test('starts one run for each item that is new since it was deployed', async () => {
    server.items = [{ id: 2 }, { id: 1 }]
    await world.deploy(poll())
    await until(() => (server.requests.length >= 2 ? true : undefined))
    server.items = [{ id: 4, text: 'newest' }, { id: 3 }, ...server.items]
    expect(await items(2)).toEqual([{ id: 4, text: 'newest' }, { id: 3 }])
    const seen = server.requests.length
    await until(() => (server.requests.length >= seen + 2 ? true : undefined))
    expect(await items(2)).toHaveLength(2)
    expect((await entries())[0]).toMatchObject({ trigger: 'schedule', source: 'poll', level: 'info' })
  }, 30_000)

  test('starts a run for all items of the first poll, or for the newest, if the trigger says so', async () => {
    server.items = Array.from({ length: 250 }, (_, index) => ({ id: `${250 - index}` }))
    await world.deploy(poll({ first: 'latest' }))
    expect(await items(1)).toEqual([{ id: '250' }])
    await world.deploy({ ...poll({ first: 'all', maxItems: 3, id: '' }), name: 'All' })
    expect((await items(4)).slice(0, 3)).toEqual(expect.arrayContaining([{ id: '248' }, { id: '249' }, { id: '250' }]))
  }, 30_000)

  test('sends what the service needs to say that nothing has changed', async () => {
    server.items = [{ id: 1 }]
    server.etag = '"one"'
    await world.deploy(poll())
    await until(() => (server.requests.length >= 3 ? true : undefined))
    const sent = server.requests.map(({ headers }) => headers.get('if-none-match'))
    expect(sent.slice(0, 3)).toEqual([null, '"one"', '"one"'])
    expect(server.unchanged).toBeGreaterThanOrEqual(2)
    server.etag = '"two"'
    server.items = [{ id: 2 }, { id: 1 }]
    expect(await items(1)).toEqual([{ id: 2 }])
  }, 30_000)

  test('shows when it fails and why, without secrets, and polls at once when it is told to', async () => {
    const secret = 'hunter22hunter22'
    await world.call(`/api/workspaces/${world.workspaceId}/environment/TOKEN`, {
      method: 'PUT',
      body: { value: secret },
    })
    server.answer = () => new Response('no', { status: 503, headers: { 'retry-after': '3600' } })
    const url = `${server.url('/{{TOKEN}}')}`
    const id = await world.deploy(poll({ everyMs: 60_000 }, { url, retries: 0 }))
    const failed = await until(async () => {
      const found = await status(id)
      return found['failures'] === 1 ? found : undefined
    })
    expect(failed).toMatchObject({
      blockId: 'it',
      kind: 'poll',
      lastSuccessAt: null,
      startedRuns: 0,
      lastStartAt: null,
    })
    expect(failed['error']).toContain('returned the status 503')
    expect(failed['error']).not.toContain(secret)
    const wait = Date.parse(String(failed['nextPollAt'])) - Date.parse(String(failed['lastPollAt']))
    expect(wait).toBe(3_600_000)
    server.answer = () => Response.json({ data: { none: true } })
    expect((await world.call(`/api/workflows/${id}/polls/it/now`, { method: 'POST' })).status).toBe(204)
    const again = await until(async () => {
      const found = await status(id)
      return found['failures'] === 2 ? found : undefined
    })
    expect(again['error']).toBe(
      '"data" in the response is an object, and not a list. Set Items to the path of the list.',
    )
    server.answer = undefined
    server.items = [{ id: 1 }, { name: 'no ID' }]
    await world.call(`/api/workflows/${id}/polls/it/now`, { method: 'POST' })
    const fine = await until(async () => {
      const found = await status(id)
      return found['failures'] === 0 ? found : undefined
    })
    expect(fine['error']).toBe('1 of 2 items have no text or number at "id" and were ignored.')
    expect(fine['lastSuccessAt']).toBe(fine['lastPollAt'])
    expect((await world.call(`/api/workflows/${id}/polls/note/now`, { method: 'POST' })).status).toBe(404)
  }, 30_000)

  test('keeps what it has seen in a new version of the workflow, and begins anew after it was undeployed', async () => {
    server.items = [{ id: 1 }]
    const draft = poll({ first: 'all' })
    const id = await world.deploy(draft)
    expect(await items(1)).toEqual([{ id: 1 }])
    const deploy = () => world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })
    const polled = server.requests.length
    await deploy()
    await until(() => (server.requests.length >= polled + 2 ? true : undefined))
    expect(await items(1)).toHaveLength(1)
    await world.call(`/api/workflows/${id}/deploy`, { method: 'DELETE' })
    expect((await world.call(`/api/workflows/${id}/polls`)).json).toEqual({ data: [] })
    await deploy()
    expect(await items(2)).toHaveLength(2)
  }, 30_000)

  test('in flight starts nothing after its workflow was undeployed or deleted', async () => {
    server.items = [{ id: 1 }]
    const gate = Promise.withResolvers<void>()
    server.answer = async () => {
      await gate.promise
      return Response.json({ data: server.items })
    }
    const first = await world.deploy(poll({ first: 'all' }))
    const second = await world.deploy(poll({ first: 'all' }))
    await until(() => (server.requests.length >= 2 ? true : undefined))
    await world.call(`/api/workflows/${first}/deploy`, { method: 'DELETE' })
    await world.call(`/api/workflows/${second}`, { method: 'DELETE' })
    gate.resolve()
    server.answer = undefined
    // A poll that begins later ends later.
    await world.deploy(poll({ first: 'all' }, {}))
    expect(await items(1)).toHaveLength(1)
    expect(await world.rows('SELECT number FROM polls')).toHaveLength(1)
  }, 30_000)

  test('goes on after a restart where it was', async () => {
    server.items = [{ id: 1 }]
    await world.deploy(poll({ first: 'all' }))
    expect(await items(1)).toHaveLength(1)
    await world.restart()
    server.items = [{ id: 2 }, { id: 1 }]
    expect(await items(2)).toEqual([{ id: 2 }, { id: 1 }])
  }, 30_000)

  test('lets items wait that the limits of the workflow refuse, and loses none', async () => {
    server.items = Array.from({ length: 6 }, (_, index) => ({ id: index }))
    const limits = { rate: { count: 2, windowMs: 3_600_000 }, beyond: 'refuse' as const }
    const draft = { ...poll({ first: 'all' }), limits }
    const created = await world.call('/api/workflows', { body: draft })
    if (created.status !== 201) throw new Error(created.text)
    await world.call(`/api/workflows/${created.json.id}/deploy`, { method: 'POST' })
    expect(await items(2)).toEqual([{ id: 4 }, { id: 5 }])
    const waiting = await until(async () => {
      const found = await status(created.json.id)
      return found['error'] === null ? undefined : found
    })
    expect(waiting['error']).toContain('4 new items wait')
  }, 30_000)
})

describe('a feed', () => {
  test('starts a run for each new entry', async () => {
    const item = (id: number) => `<item><guid>${id}</guid><title>Entry ${id}</title><link>/${id}</link></item>`
    const feedOf = (...ids: number[]) => `<rss version="2.0"><channel>${ids.map(item).join('')}</channel></rss>`
    server.feed = feedOf(1)
    await world.deploy(workflow('rss_trigger', { url: server.url('/feed'), everyMs }))
    await until(() => (server.requests.length >= 2 ? true : undefined))
    server.feed = feedOf(2, 1)
    expect(await items(1)).toEqual([
      { id: '2', title: 'Entry 2', link: server.url('/2'), published: null, content: null },
    ])
    expect((await entries())[0]).toMatchObject({ trigger: 'schedule', source: 'rss' })
    expect(server.requests[0]?.headers.get('accept')).toContain('application/rss+xml')
  }, 30_000)
})
