import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld, sampleDocument } from '../world.ts'

let world: HttpWorld

beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

describe('the webhook subscriptions of a document', () => {
  const defaults = {
    events: ['completed'],
    includeFinalOutput: false,
    includeTraceSpans: false,
    includeRateLimits: false,
    includeUsageData: false,
    active: true,
    retryOnNetworkError: false,
  }
  const create = async (webhooks: unknown) => {
    const { json } = await world.post('/api/workflows', { ...sampleDocument(), webhooks })
    return json
  }
  const replace = (id: string, body: unknown) => world.call('PUT', `/api/workflows/${id}`, { body })

  test('are shown with their defaults and an ID, and never with a secret', async () => {
    const full = {
      id: 'full',
      url: 'https://example.com/a?x={{TOKEN}}',
      events: ['completed', 'paused'],
      includeFinalOutput: true,
      includeTraceSpans: true,
      includeRateLimits: true,
      includeUsageData: true,
      levelFilter: ['error'],
      triggerFilter: ['api', 'chat'],
      active: false,
      retryOnNetworkError: true,
    }
    const created = await world.post('/api/workflows', {
      ...sampleDocument(),
      webhooks: [{ ...full, secret: 'first-secret' }, { url: 'https://example.com/b' }],
    })
    expect(created.status).toBe(201)
    expect(created.text).not.toContain('-secret')
    const [, second] = created.json.webhooks
    expect(created.json.webhooks).toEqual([full, { ...defaults, id: second.id, url: 'https://example.com/b' }])
    expect(second.id).toMatch(/^[0-9a-f-]{36}$/)
    expect((await world.get(`/api/workflows/${created.json.id}`)).json.webhooks).toEqual(created.json.webhooks)
  })

  test('are sealed on disk', async () => {
    const { id } = await create([{ id: 'a', url: 'https://example.com/a', secret: 'first-secret' }])
    const [row] = await world.store.listSubscriptions(id)
    expect(Buffer.from(row!.secret!).toString('latin1')).not.toContain('first-secret')
    expect(JSON.stringify((await world.store.getWorkflow(id))!.document)).not.toContain('webhooks')
  })

  test('keep the stored secret of their ID unless one is given; null removes it', async () => {
    const { id, ...document } = await create([
      { id: 'kept', url: 'https://example.com/a', secret: 'first-secret' },
      { id: 'changed', url: 'https://example.com/b', secret: 'second-secret' },
      { id: 'lost', url: 'https://example.com/c', secret: 'third-secret' },
      { id: 'gone', url: 'https://example.com/d', secret: 'fourth-secret' },
    ])
    const before = await world.store.listSubscriptions(id)
    const replaced = await replace(id, {
      ...document,
      webhooks: [
        { id: 'kept', url: 'https://example.com/other' },
        { id: 'changed', url: 'https://example.com/b', secret: 'fifth-secret' },
        { id: 'lost', url: 'https://example.com/c', secret: null },
      ],
    })
    expect(replaced.status).toBe(200)
    expect(replaced.text).not.toContain('-secret')
    const after = await world.store.listSubscriptions(id)
    expect(after.map(({ id, url }) => [id, url])).toEqual([
      ['kept', 'https://example.com/other'],
      ['changed', 'https://example.com/b'],
      ['lost', 'https://example.com/c'],
    ])
    expect(after[0]!.secret).toEqual(before[0]!.secret)
    expect(after[1]!.secret).not.toEqual(before[1]!.secret)
    expect(after[2]!.secret).toBeNull()
  })

  test('stay unchanged when a document is saved without them, or a version is reverted; [] removes them', async () => {
    const { id } = await create([{ id: 'a', url: 'https://example.com/a' }])
    await world.post(`/api/workflows/${id}/deploy`)
    expect((await world.get(`/api/workflows/${id}/deployments/1`)).json.document).not.toHaveProperty('webhooks')
    expect((await replace(id, { ...sampleDocument(), name: 'Another' })).json.webhooks).toHaveLength(1)
    expect((await world.post(`/api/workflows/${id}/deployments/1/revert`)).json.webhooks).toHaveLength(1)
    const none = await replace(id, { ...sampleDocument(), webhooks: [] })
    expect(none.json).not.toHaveProperty('webhooks')
    expect(await world.store.listSubscriptions(id)).toEqual([])
  })

  test('can be read and sent back, and copied into another workflow', async () => {
    const read = await create([{ id: 'a', url: 'https://example.com/a', secret: 's', levelFilter: ['info'] }])
    const again = await replace(read.id, read)
    expect(again.json.webhooks).toEqual(read.webhooks)
    const copy = await world.post('/api/workflows', { ...read, name: 'A copy' })
    expect(copy.status).toBe(201)
    expect(copy.json.webhooks).toEqual(read.webhooks)
    const [row] = await world.store.listSubscriptions(copy.json.id)
    expect(row!.secret).toBeNull()
  })

  test('with an address that can never receive anything are refused, and nothing is saved', async () => {
    const { id, ...document } = await create([{ id: 'a', url: 'https://example.com/a' }])
    const refused: Record<string, RegExp> = {
      'ftp://example.com/': /webhooks\[0\]\.url: "ftp:\/\/example.com\/" cannot be called: only http/,
      'example.com/x': /webhooks\[0\]\.url: "example.com\/x" is not a valid URL/,
      'http://127.0.0.1:9/x': /127\.0\.0\.1:9 cannot be called: it is a loopback address.*MILLRACE_OUTBOUND_ALLOW/,
      'http://[::1]/x': /\[::1\]:80 cannot be called/,
      'http://0x7f.1/{{PATH}}': /127\.0\.0\.1:80 cannot be called/,
      'http://169.254.169.254/latest': /link-local/,
      'gopher://{{HOST}}/x': /only http/,
    }
    for (const [url, message] of Object.entries(refused)) {
      const response = await replace(id, { ...document, name: 'Changed', webhooks: [{ url }] })
      expect([url, response.status, response.json.code]).toEqual([url, 400, 'INVALID_INPUT'])
      expect(response.json.details[0]).toMatchObject({
        path: 'webhooks[0].url',
        message: expect.stringMatching(message),
      })
      const anew = await world.post('/api/workflows', { ...sampleDocument(), webhooks: [{ url }] })
      expect([url, anew.status]).toEqual([url, 400])
    }
    const { json } = await world.get(`/api/workflows/${id}`)
    expect(json).toMatchObject({ name: document.name, webhooks: [{ url: 'https://example.com/a' }] })
  })

  test('may have variables anywhere in their URL, which is then checked at each delivery', async () => {
    const urls = ['{{URL}}', 'https://{{HOST}}/x', 'http://10.0.0.{{N}}:{{PORT}}/', 'https://example.com/{{A}}?b={{B}}']
    const created = await create(urls.map((url) => ({ url })))
    expect(created.webhooks.map(({ url }: { url: string }) => url)).toEqual(urls)
  })
})
