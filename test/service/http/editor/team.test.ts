import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { Page } from '../page.ts'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
let owner: Page
beforeAll(async () => {
  world = await HttpWorld.open()
  owner = await Page.of(world)
})
afterAll(() => world.close())

describe('a key', () => {
  test('made in the dashboard works, is shown once, and stops working when it is revoked', async () => {
    const made = await owner.post('/api/editor/keys', { name: 'ci', expiresAt: '2999-01-31' })
    expect(made.status).toBe(201)
    const { apiKey, ...shown } = made.json
    expect(shown).toMatchObject({ name: 'ci', lastFour: apiKey.slice(-4), isActive: true, lastUsedAt: null })
    expect(shown.expiresAt).toBe('2999-01-31T00:00:00.000Z')
    expect((await world.get('/api/workspaces', { key: apiKey })).status).toBe(200)
    const list = await owner.get('/api/editor/keys')
    expect(list.text).not.toContain(apiKey)
    expect(list.json.data[0]).toEqual(shown)

    const path = `/api/editor/keys/${shown.id}`
    expect((await owner.call('DELETE', path)).status).toBe(204)
    expect((await owner.call('DELETE', path)).status).toBe(404)
    const [revoked] = (await owner.get('/api/editor/keys')).json.data
    expect(revoked).toMatchObject({ id: shown.id, isActive: false, revokedAt: expect.any(String) })
  })

  test("of a workspace can be seen and revoked by the workspace's owner; a personal key only by its account", async () => {
    const editor = await Page.ofMember(world, 'editor')
    const make = async (body: unknown) => (await editor.post('/api/editor/keys', body)).json.id as string
    const shared = await make({ name: 'for the team', workspaceId: world.workspaceId })
    const personal = await make({ name: 'mine' })
    const ids = (await owner.get('/api/editor/keys')).json.data.map(({ id }: Parsed) => id)
    expect([ids.includes(shared), ids.includes(personal)]).toEqual([true, false])
    expect((await owner.call('DELETE', `/api/editor/keys/${personal}`)).status).toBe(404)
    expect((await owner.call('DELETE', `/api/editor/keys/${shared}`)).status).toBe(204)
  })

  test('with an expired time, without a name, or for an inaccessible workspace is refused', async () => {
    const details = async (body: unknown) => {
      const { status, json } = await owner.post('/api/editor/keys', body)
      return [status, json.details?.[0].path ?? json.code]
    }
    expect(await details({ name: 'x', expiresAt: '2020-01-01' })).toEqual([400, 'expiresAt'])
    expect(await details({ name: 'x', expiresAt: 'soon' })).toEqual([400, 'expiresAt'])
    for (const name of ['', '  ']) expect(await details({ name })).toEqual([400, 'name'])
    expect(await details({ name: 'x', workspaceId: 'elsewhere' })).toEqual([404, 'NOT_FOUND'])
  })
})

describe('a workspace', () => {
  test('is visible as soon as it is created, and can be renamed', async () => {
    const { json } = await owner.post('/api/editor/workspaces', { name: ' Lab ' })
    expect(json).toMatchObject({ name: 'Lab', role: 'owner' })
    const seen = async () =>
      (await owner.get('/api/editor/me')).json.workspaces.find(({ id }: Parsed) => id === json.id)?.name
    expect(await seen()).toBe('Lab')
    expect((await owner.get(`/api/workflows?workspaceId=${json.id}`)).status).toBe(200)
    expect((await owner.call('PATCH', `/api/editor/workspaces/${json.id}`, { name: 'Attic' })).json.name).toBe('Attic')
    expect(await seen()).toBe('Attic')
    expect((await owner.call('PATCH', `/api/editor/workspaces/${json.id}`, { name: ' ' })).status).toBe(400)
  })

  test('adds an account by its e-mail, and a changed role applies at once', async () => {
    const guest = await Page.of(world, await world.accounts.addUser())
    const members = `/api/editor/workspaces/${world.workspaceId}/members`
    const list = `/api/workflows?workspaceId=${world.workspaceId}`
    const create = () => guest.post(list, { name: crypto.randomUUID(), blocks: {}, edges: [] })
    expect((await guest.get(list)).status).toBe(404)

    const email = `${guest.userId}@example.com`
    const added = await owner.post(members, { email: email.toUpperCase(), role: 'viewer' })
    expect([added.status, added.json]).toEqual([201, { userId: guest.userId, email, role: 'viewer' }])
    expect([(await guest.get(list)).status, (await create()).status]).toEqual([200, 403])
    const changed = await owner.call('PATCH', `${members}/${guest.userId}`, { role: 'editor' })
    expect([changed.status, (await create()).status]).toEqual([200, 201])
    expect((await guest.get(members)).json.data[0]).toMatchObject({ email: 'owner@example.com', role: 'owner' })
    expect((await guest.post(members, { email, role: 'viewer' })).status).toBe(403)

    expect((await guest.call('DELETE', `${members}/${world.userId}`)).status).toBe(403)
    expect((await guest.call('DELETE', `${members}/${guest.userId}`)).status).toBe(204)
    expect((await guest.get(list)).status).toBe(404)
  })

  test('ends the open live streams of a member within seconds after the role was taken away', async () => {
    const guest = await Page.ofMember(world, 'viewer')
    const draft = document({
      name: 'Slow',
      blocks: [block('start', 'manual_trigger'), block('w', 'wait', { ms: 60_000 })],
      edges: ['start > w'],
    })
    const { id } = (await owner.post(`/api/workflows?workspaceId=${world.workspaceId}`, draft)).json
    const { executionId } = (await owner.post(`/api/editor/workflows/${id}/runs`, {})).json
    // Resolves when the stream has ended.
    const stream = guest.watch(`/api/editor/runs/${executionId}/events`)
    await Bun.sleep(200)
    expect(
      (await owner.call('DELETE', `/api/editor/workspaces/${world.workspaceId}/members/${guest.userId}`)).status,
    ).toBe(204)
    const takenAt = performance.now()
    const { status, text } = await stream
    expect(status).toBe(200)
    expect(text).toContain('run.started')
    expect(text).not.toContain('[DONE]')
    expect(performance.now() - takenAt).toBeLessThan(8_000)
    await owner.post(`/api/workflows/${id}/executions/${executionId}/cancel`)
  })

  test('keeps its owner, and names an unknown e-mail in the error', async () => {
    const members = `/api/editor/workspaces/${world.workspaceId}/members`
    expect((await owner.call('DELETE', `${members}/${world.userId}`)).json.code).toBe('CONFLICT')
    const own = await owner.post(members, { email: 'owner@example.com', role: 'viewer' })
    expect(own.json.code).toBe('CONFLICT')
    const unknown = await owner.post(members, { email: 'nobody@example.com', role: 'viewer' })
    expect([unknown.status, unknown.json.error]).toEqual([404, expect.stringContaining('millrace users create')])
    // IDs are not accepted as e-mails, so they cannot be used to probe for accounts.
    const byId = await owner.post(members, { email: await world.accounts.addUser(), role: 'viewer' })
    expect(byId.status).toBe(404)
    expect((await owner.call('PATCH', `${members}/nobody`, { role: 'viewer' })).status).toBe(404)
    expect((await owner.post(members, { email: 'a@b', role: 'owner' })).status).toBe(400)
  })

  test('does not let its owner try out many e-mails', async () => {
    const guesser = await Page.of(world, await world.accounts.addUser())
    const { id } = (await guesser.post('/api/editor/workspaces', { name: 'Mine' })).json
    const members = `/api/editor/workspaces/${id}/members`
    const add = (email: string) => guesser.post(members, { email, role: 'viewer' })
    const statuses: number[] = []
    for (let n = 0; n < 12; n += 1) statuses.push((await add(`guess-${n}@example.com`)).status)
    expect(statuses).toEqual([...Array<number>(10).fill(404), 429, 429])
    // An existing one gives the same response from then on.
    const existing = await add('owner@example.com')
    expect(existing.status).toBe(429)
    expect(Number(existing.headers.get('retry-after'))).toBeGreaterThan(3_500)
    expect(existing.json.error).toContain('10 unknown addresses in an hour')
    expect((await owner.post('/api/editor/workspaces', { name: 'Unaffected' })).status).toBe(201)
  })

  test('limits concurrent guesses like others', async () => {
    const guesser = await Page.of(world, await world.accounts.addUser())
    const { id } = (await guesser.post('/api/editor/workspaces', { name: 'Mine' })).json
    const members = `/api/editor/workspaces/${id}/members`
    const emails = Array.from({ length: 40 }, (_, n) => `guess-${n}@example.com`)
    const added = await Promise.all(emails.map((email) => guesser.post(members, { email, role: 'viewer' })))
    expect(added.filter(({ status }) => status === 404)).toHaveLength(10)
    expect(added.filter(({ status }) => status === 429)).toHaveLength(30)
  })
})
