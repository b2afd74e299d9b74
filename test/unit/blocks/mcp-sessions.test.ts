import { expect, test } from 'bun:test'
import type { RequestAuthorization } from '../../../src/domain/outbound-request.ts'
import { finish, type InSlices } from '../../../src/domain/slices.ts'
import { McpServers, type McpTarget } from '../../../src/mcp/servers.ts'
import { ManualClock } from '../../support/clock.ts'
import { rogueServer } from '../../support/mcp-rogue.ts'
import { SdkServer } from '../../support/mcp-server.ts'
import { outboundOf } from '../../support/outbound/peers.ts'

const inSlices: InSlices = async (slices) => finish(slices)
const idleMs = 600_000

function world({ authorization }: { authorization?: () => Promise<RequestAuthorization | undefined> } = {}) {
  const clock = new ManualClock()
  const { open } = outboundOf(['loopback'])
  const accessTo = (target: McpTarget, signal: AbortSignal) => {
    return { ...target, open, inSlices, signal, authorization: authorization ?? (async () => undefined) }
  }
  const servers = new McpServers({ clock, clientVersion: '0', ownAccess: accessTo })
  const call = async (url: string, tool = 'add', more: { workspaceId?: string; signal?: AbortSignal } = {}) => {
    const { workspaceId = 'w1', signal = new AbortController().signal } = more
    const server = servers.connect(accessTo({ url, workspaceId, credential: '' }, signal))
    return await server.call({ tool, arguments: { a: 1, b: 2 }, timeoutMs: 30_000 })
  }
  return { clock, servers, call }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(2)
}

test('a session that nobody uses for a while is ended on the server', async () => {
  await using server = await SdkServer.start()
  const { clock, call } = world()
  await call(server.url)
  clock.advance(idleMs - 1)
  await call(server.url)
  clock.advance(idleMs - 1)
  expect(server.ended).toEqual([])
  const session = server.messages.at(-1)!.session!
  clock.advance(1)
  await until(() => server.ended.length > 0)
  expect(server.ended).toEqual([session])
  await call(server.url)
  expect(server.count('initialize')).toBe(2)
})

test('a session is not ended while a call uses it', async () => {
  await using server = await SdkServer.start()
  const { clock, call } = world()
  await call(server.url)
  const controller = new AbortController()
  const waiting = call(server.url, 'wait', { signal: controller.signal }).catch(() => undefined)
  await until(() => server.count('tools/call') === 2)
  clock.advance(2 * idleMs)
  controller.abort()
  await waiting
  expect(server.ended).toEqual([])
  clock.advance(idleMs)
  await until(() => server.ended.length === 1)
})

test('calls that begin at the same time leave one session', async () => {
  await using server = await SdkServer.start()
  const { call } = world()
  await Promise.all([1, 2, 3].map(() => call(server.url)))
  const started = server.count('initialize')
  await until(() => server.ended.length === started - 1)
  await call(server.url)
  expect(server.count('initialize')).toBe(started)
  expect(server.ended).not.toContain(server.messages.at(-1)!.session)
})

test('the session that was used least recently is ended when there are too many', async () => {
  await using server = await SdkServer.start()
  const { call } = world()
  await call(server.url, 'add', { workspaceId: 'first' })
  const first = server.messages.at(-1)!.session!
  for (let each = 0; each < 200; each += 1) await call(server.url, 'add', { workspaceId: `w${each}` })
  await until(() => server.ended.length > 0)
  expect(server.ended).toEqual([first])
})

test('a stop of the service ends all sessions', async () => {
  await using server = await SdkServer.start()
  const { servers, call } = world()
  await call(server.url, 'add', { workspaceId: 'w1' })
  await call(server.url, 'add', { workspaceId: 'w2' })
  await servers.stop()
  expect(server.ended).toHaveLength(2)
})

test('a server that does not respond to the end of its session delays a stop by a second at most', async () => {
  const hanging = Promise.withResolvers<Response>()
  let isAsked = false
  await using server = rogueServer(({ id, method }) => {
    if (method !== 'DELETE') return { id, result: { content: [] } }
    isAsked = true
    return hanging.promise
  })
  const { clock, servers, call } = world()
  await call(server.url)
  const stopping = servers.stop()
  await until(() => isAsked)
  clock.advance(1_000)
  await stopping
  hanging.resolve(new Response())
})

test('the end of a session fails silently when its credential cannot be used any more', async () => {
  await using server = await SdkServer.start()
  let isDeleted = false
  let refusals = 0
  const { clock, servers, call } = world({
    authorization: async () => {
      if (!isDeleted) return undefined
      refusals += 1
      throw new Error('It was deleted')
    },
  })
  await call(server.url)
  isDeleted = true
  clock.advance(idleMs)
  await servers.stop()
  expect(refusals).toBe(1)
  expect(server.ended).toEqual([])
})
