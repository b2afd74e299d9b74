import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Page } from '../page.ts'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
let page: Page
beforeAll(async () => {
  world = await HttpWorld.open()
  page = await Page.of(world)
})
afterAll(() => world.close())

const url = 'https://example.com/hook'
const pathOf = (workflowId: string) => `/api/editor/workflows/${workflowId}/webhooks`
const time = expect.stringMatching(/^\d{4}-.*Z$/)

describe('webhook subscriptions in the editor', () => {
  test('are added with their defaults, listed in order, and appear in the document', async () => {
    const workflowId = await world.workflow()
    const path = pathOf(workflowId)
    expect((await page.get(path)).json).toEqual({ data: [] })
    const first = await page.post(path, { url, secret: 'a secret', levelFilter: ['error'] })
    expect(first.status).toBe(201)
    expect(first.text).not.toContain('a secret')
    expect(first.json).toEqual({
      id: expect.any(String),
      url,
      events: ['completed'],
      includeFinalOutput: false,
      includeTraceSpans: false,
      includeRateLimits: false,
      includeUsageData: false,
      levelFilter: ['error'],
      active: true,
      retryOnNetworkError: false,
      secret: 'set',
      previousSecretUntil: null,
      createdAt: time,
      updatedAt: time,
    })
    const second = await page.post(path, { id: 'second', url, active: null, secret: null })
    expect(second.json).toMatchObject({ id: 'second', active: true, secret: 'none' })
    expect((await page.get(path)).json.data).toEqual([first.json, second.json])
    const { json } = await world.get(`/api/workflows/${workflowId}`)
    expect(json.webhooks.map(({ id }: Parsed) => id)).toEqual([first.json.id, 'second'])
  })

  test('keep all members that a change does not name; null removes optional members', async () => {
    const path = pathOf(await world.workflow())
    const made = { id: 'a', url, secret: 's', levelFilter: ['error'], includeUsageData: true, active: false }
    const before = (await page.post(path, made)).json
    const changed = await page.call('PATCH', `${path}/a`, { includeTraceSpans: true, triggerFilter: ['api'] })
    const times = { updatedAt: time }
    expect(changed.json).toEqual({ ...before, ...times, includeTraceSpans: true, triggerFilter: ['api'] })
    const { levelFilter: _, ...rest } = changed.json
    const reset = await page.call('PATCH', `${path}/a`, { levelFilter: null, active: null, secret: null })
    expect(reset.json).toEqual({ ...rest, ...times, active: true, secret: 'none' })
  })

  test('can be changed concurrently, and every change is kept', async () => {
    const path = pathOf(await world.workflow())
    await page.post(path, { id: 'a', url, includeUsageData: true })
    const changes = [
      { includeFinalOutput: true },
      { includeTraceSpans: true },
      { includeUsageData: false },
      { active: false },
    ]
    await Promise.all(changes.map((change) => page.call('PATCH', `${path}/a`, change)))
    expect((await page.get(path)).json.data).toMatchObject([Object.assign({}, ...changes)])
  })

  test('are refused with every error named, and then nothing is changed', async () => {
    const path = pathOf(await world.workflow())
    const { json: before } = await page.post(path, { id: 'a', url })
    const refused = async (method: string, at: string, body: unknown) => {
      const { status, json } = await page.call(method, at, body)
      return [status, json.code, ...(json.details ?? []).map(({ path }: Parsed) => path)]
    }
    const invalid = [400, 'INVALID_INPUT']
    expect(await refused('POST', path, { levelFilter: [], levels: [] })).toEqual([
      ...invalid,
      ...['url', 'levels', 'levelFilter'],
    ])
    expect(await refused('POST', path, { url: 'http://10.1.2.3/' })).toEqual([...invalid, 'url'])
    expect(await refused('POST', path, [])).toEqual([...invalid, ''])
    expect(await refused('POST', path, { id: 'a', url })).toEqual([409, 'CONFLICT'])
    expect(await refused('PATCH', `${path}/a`, { url: 'x' })).toEqual([...invalid, 'url'])
    expect(await refused('PATCH', `${path}/a`, { url: null })).toEqual([...invalid, 'url'])
    expect(await refused('PATCH', `${path}/a`, { id: 'b' })).toEqual([...invalid, 'id'])
    expect(await refused('PATCH', `${path}/a`, { id: null, other: null })).toEqual([...invalid, 'id', 'other'])
    expect(await refused('PATCH', `${path}/a`, 'text')).toEqual([...invalid, ''])
    expect(await refused('PATCH', `${path}/b`, {})).toEqual([404, 'NOT_FOUND'])
    expect((await page.get(path)).json.data).toEqual([before])
  })

  test('are limited to twenty per workflow', async () => {
    const path = pathOf(await world.workflow())
    for (let number = 1; number <= 20; number += 1) await page.post(path, { url: `${url}/${number}` })
    const { status, json } = await page.post(path, { url })
    expect([status, json.error]).toEqual([
      400,
      'A workflow can have at most 20 webhook subscriptions. Delete one first.',
    ])
    expect((await page.get(path)).json.data).toHaveLength(20)
  })

  test('disappear when they are deleted', async () => {
    const path = pathOf(await world.workflow())
    await page.post(path, { id: 'a', url })
    expect((await page.call('DELETE', `${path}/a`)).status).toBe(204)
    expect((await page.call('DELETE', `${path}/a`)).status).toBe(404)
    expect((await page.get(path)).json).toEqual({ data: [] })
  })

  test('get a new secret, and the previous one stays valid for at most a day', async () => {
    const workflowId = await world.workflow()
    const path = pathOf(workflowId)
    await page.post(path, { id: 'a', url, secret: 'the first' })
    const rotate = (body: unknown) => page.post(`${path}/a/rotate-secret`, body)
    const kept = await rotate({ secret: 'the second', keepPreviousForS: 3_600 })
    expect(kept.text).not.toContain('the ')
    expect(Math.abs(Date.parse(kept.json.previousSecretUntil) - Date.now() - 3_600_000)).toBeLessThan(60_000)
    expect((await rotate({ secret: 'the third' })).json).toMatchObject({ secret: 'set', previousSecretUntil: null })
    for (const body of [{}, { secret: '' }, { secret: 's', keepPreviousForS: 86_401 }, { secret: 's', keep: 1 }]) {
      expect([body, (await rotate(body)).status]).toEqual([body, 400])
    }
    expect((await page.post(`${path}/b/rotate-secret`, { secret: 's' })).status).toBe(404)
    const over = { secret: Uint8Array.of(1), keepSecretUntil: Date.now() - 1 }
    await world.services.subscriptions.changing(workflowId, () =>
      world.store.changeSubscription(workflowId, 'a', over, Date.now()),
    )
    expect((await page.get(path)).json.data).toMatchObject([{ secret: 'set', previousSecretUntil: null }])
  })

  test('are visible to viewers, and changed only by editors', async () => {
    const path = pathOf(await world.workflow())
    await page.post(path, { id: 'a', url })
    const viewer = await Page.ofMember(world, 'viewer')
    expect((await viewer.get(path)).json.data).toHaveLength(1)
    expect((await viewer.call('PATCH', `${path}/a`, { active: false })).status).toBe(403)
    const editor = await Page.ofMember(world, 'editor')
    expect((await editor.call('PATCH', `${path}/a`, { active: false })).json).toMatchObject({ active: false })
  })
})
