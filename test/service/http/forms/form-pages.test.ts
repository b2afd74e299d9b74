import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block } from '../../../support/make.ts'
import { FormWorld } from './form-world.ts'

let world: FormWorld
beforeAll(async () => {
  world = await FormWorld.open({ 'form-visitor-per-minute': '10000' })
})
afterAll(() => world.close())

type Step = [name: string, params: Record<string, unknown>]

/** A form whose further pages are these approvals. `more`: further blocks and edges. */
async function pages(steps: readonly Step[], form: object = {}, more: { blocks?: object[]; edges?: string[] } = {}) {
  const path = world.newPath()
  const made = block('start', 'form_trigger', { path, title: 'T', fields: [], respond: 'next', ...form })
  const asked = steps.map(([name, params]) => block(name, 'approval', { title: name, ...params }))
  const end = block('end', 'function', { code: 'return "done"' })
  const names = ['start', ...steps.map(([name]) => name), 'end']
  const edges = names.slice(1).map((name, index) => `${names[index]} > ${name}`)
  const blocks = [made, ...asked, end, ...(more.blocks ?? [])] as Parameters<FormWorld['deploy']>[0]
  await world.deploy(blocks, [...edges, ...(more.edges ?? [])])
  return path
}

const apiOf = (page: string) => new URL(page).pathname.replace('/pause/', '/api/pauses/')
const call = (path: string, body?: unknown, key: string | null = null) =>
  world.executions.call(path, { key, ...(body === undefined ? {} : { body }) })

/** The next page after an answer, once no block of the run works any more. */
async function after(pause: string) {
  for (;;) {
    const { json } = await call(`${pause}/next`)
    if (json.state !== 'works') return json
    await Bun.sleep(10)
  }
}

describe('a form with several pages', () => {
  test('responds with the first approval page of its run, and each answer leads to the next one', async () => {
    const { status, json } = await world.send(
      await pages([
        ['one', {}],
        ['two', {}],
      ]),
      {},
    )
    expect([status, json.status]).toEqual([202, 'paused'])
    const one = apiOf(json.next)
    expect((await call(one)).json).toMatchObject({ kind: 'approval', title: 'one' })
    await call(one, { approved: true })
    const next = await after(one)
    expect(next.state).toBe('asks')
    const two = apiOf(next.url)
    expect((await call(two)).json.title).toBe('two')
    await call(two, { approved: true })
    expect(await world.resultOf(json.executionId)).toBe('done')
    expect(await after(two)).toEqual({ state: 'ended', url: null })
  })

  test('has no next page when its run ends without an approval', async () => {
    const { status, json } = await world.send(await pages([]), {})
    expect([status, json]).toEqual([200, { success: true, executionId: json.executionId, next: null }])
  })

  test('does not lead to approvals for members, for named accounts, or with a notification', async () => {
    const members = await world.send(await pages([['one', { access: 'members' }]]), {})
    expect([members.status, members.json.next]).toEqual([202, null])
    const named = await world.send(await pages([['one', { access: 'accounts', accounts: ['a@example.com'] }]]), {})
    expect([named.status, named.json.next]).toEqual([202, null])
    const tell = block('tell', 'function', { code: 'return <two.url>' })
    const path = await pages(
      [
        ['one', {}],
        ['two', {}],
      ],
      {},
      { blocks: [tell], edges: ['two:notify > tell'] },
    )
    const { json } = await world.send(path, {})
    const one = apiOf(json.next)
    await call(one, { approved: true })
    expect(await after(one)).toEqual({ state: 'waits', url: null })
    // The first approval is a page of the form, even if it notifies somebody.
    const told = block('told', 'function', { code: 'return <one.url>' })
    const first = await pages([['one', {}]], {}, { blocks: [told], edges: ['one:notify > told'] })
    expect(apiOf((await world.send(first, {})).json.next)).toStartWith('/api/pauses/')
  })

  test('leads members to an approval for members', async () => {
    const path = await pages([['one', { access: 'members' }]], { access: 'members' })
    const { json } = await world.send(path, {}, { key: world.executions.apiKey })
    const one = apiOf(json.next)
    expect((await call(one)).status).toBe(401)
    expect((await call(`${one}/next`)).status).toBe(401)
    expect((await call(one, {}, world.executions.apiKey)).status).toBe(200)
  })

  test('does not reveal the pages of other runs', async () => {
    const { json } = await world.send(
      await pages(
        [
          ['one', {}],
          ['two', {}],
        ],
        { respond: 'workflow' },
      ),
      {},
    )
    const { workspaceId, apiKey } = world.executions
    const { contextId } = json.paused[0]
    const detail = await call(`/api/workspaces/${workspaceId}/pauses/${contextId}`, undefined, apiKey)
    const one = new URL(detail.json.callbackUrl).pathname
    await call(one, { approved: true })
    expect(await after(one)).toEqual({ state: 'unknown', url: null })
    expect((await call('/api/pauses/a.b/next')).status).toBe(404)
  })
})
