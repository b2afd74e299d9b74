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
})
