import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { registry } from '../../../src/blocks/registry.ts'
import { type GalleryItem, galleryOf } from '../../../src/http/gallery.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { SdkServer } from '../../support/mcp-server.ts'
import { ModelServer } from '../../support/models/model-server.ts'
import { Page } from '../http/page.ts'
import { HttpWorld, type Parsed } from '../http/world.ts'

const items = galleryOf('http://127.0.0.1:3000')
const itemOf = (id: string) => items.find((item) => item.id === id) as GalleryItem

describe('the gallery of ready workflows', () => {
  test('has at least 20 workflows with names, descriptions and blocks that exist', () => {
    expect(items.length).toBeGreaterThanOrEqual(20)
    expect(new Set(items.map(({ document }) => document.name)).size).toBe(items.length)
    for (const { id, document } of items) {
      expect([id, document.description]).toEqual([id, expect.stringMatching(/^[A-Z].{20,}\.$/)])
      for (const { type } of Object.values(document.blocks)) expect([id, registry.has(type)]).toEqual([id, true])
    }
  })

  test('explains each environment variable that a workflow needs', () => {
    for (const { id, needs } of items)
      for (const { name, meaning } of needs)
        expect([id, name, meaning]).toEqual([id, name, expect.stringMatching(/\.$/)])
    expect(itemOf('greeting').needs).toEqual([])
    expect(itemOf('nightly-sync').needs.map(({ name }) => name)).toEqual(['SOURCE_URL', 'TARGET_URL'])
  })

  test('is listed for the dashboard, and the service finds no fault in any workflow', async () => {
    const world = await HttpWorld.open()
    try {
      const page = await Page.of(world)
      const { json } = await page.get('/api/editor/gallery')
      expect(json.data.map(({ id }: Parsed) => id)).toEqual(items.map(({ id }) => id))
      for (const { id, document } of json.data as Parsed[]) {
        const { findings } = await world.services.checkWorkflow(document, world.workspaceId)
        expect([id, findings.filter(({ level }) => level === 'error')]).toEqual([id, []])
      }
    } finally {
      await world.close()
    }
  })
})

describe('each workflow of the gallery runs', () => {
  let others: OtherServices
  beforeAll(async () => {
    others = await startOtherServices()
  })
  afterAll(() => others.stop())

  const cases: readonly (readonly [string, unknown, unknown])[] = [
    ['greeting', undefined, { greeting: 'Hello, Ada.' }],
    ['check-input', undefined, { net: 20, tax: 4, total: 24 }],
    ['check-input', { items: [{ quantity: 0 }] }, { problems: [expect.any(String), expect.any(String)] }],
    ['merge-services', undefined, { quotes: ['A: work', 'A: time', 'A: learning'] }],
    ['fallback', undefined, { rate: 1.1, source: 'service' }],
    ['fallback', { currency: 'none' }, { rate: 1, source: 'default', reason: expect.stringContaining('404') }],
    ['receive-files', undefined, { files: [] }],
    ['poll-job', undefined, { id: 'j1', status: 'done' }],
    ['read-page', undefined, { title: 'A page', links: ['/next'], markdown: '# Hello\n\n[Next](/next)\n' }],
    ['loop-list', undefined, [{ result: { tag: 'work', text: 'work' } }, {}, {}]],
    [
      'parallel-list',
      undefined,
      { done: expect.any(Array), failed: [expect.stringContaining('No quote has the tag nothing.')] },
    ],
    ['all-pages', undefined, { items: [1, 2, 3, 4] }],
    ['csv-to-json', undefined, [expect.anything(), { name: 'Lovelace, A.', city: 'Paris' }]],
    [
      'holiday-request',
      { name: 'Ada', from: '2027-03-01', days: 1 },
      { granted: true, text: 'Ada is away on 2027-03-01.' },
    ],
    ['contact-form', { name: '<b>Ada', message: 'Hi' }, expect.stringContaining('&#60;b&#62;Ada')],
    ['github-push', { commits: [{ added: ['b', 'a'] }], pusher: { name: 'ada' } }, { who: 'ada', commits: 1 }],
    ['stripe-events', stripeEvent, { text: 'Payment p1 of 12 eur was received.' }],
    ['slack-command', { text: '1' }, { text: 'A die with 1 sides shows 1.' }],
    ['forward-webhook', { title: 'Down', severity: 'high' }, { received: true }],
    ['report-failures', undefined, { received: true }],
    ['daily-report', undefined, { received: true }],
    ['uptime', undefined, { received: true }],
    ['only-new-items', undefined, [{ text: 'work' }, { text: 'time' }, { text: 'learning' }]],
    ['nightly-sync', undefined, { written: 2, failed: 0 }],
    ['news-to-slack', { item: { title: 'News', link: 'https://news.example/1' } }, { received: true }],
    ['chat-assistant', 'Hello', 'Bonjour'],
    ['summarise', undefined, 'Bonjour'],
    ['extract-data', undefined, { number: '2041' }],
    ['sort-messages', undefined, { team: 'billing' }],
    ['check-answer', undefined, { answer: 'Bonjour' }],
    ['translate-list', undefined, ['Bonjour', 'Bonjour']],
    ['agent-tools', 'Time, please', 'Bonjour'],
    ['mcp-tools', 'Add 40 and 2', 'The sum is 42.'],
  ]

  test('with the services that it needs', async () => {
    expect(new Set(cases.map(([id]) => id))).toEqual(new Set(items.map(({ id }) => id)))
    for (const [id, input, expected] of cases) {
      const output = await runItem(itemOf(id), input, others)
      expect({ id, output }).toMatchObject({ id, output: expected as object })
    }
    expect(others.received('/alert')).toMatchObject([{ sites: [{ site: `${others.url}/down` }] }])
    expect(others.received('/forward')).toMatchObject([{ title: 'Down', severity: 'high' }])
    expect(others.received('/slack')).toMatchObject([
      { text: '*Sample* failed: This is a sample: nothing has failed.' },
      { text: expect.stringContaining('There are 3 quotes today') },
      { text: 'News\nhttps://news.example/1' },
    ])
  }, 120_000)
})

const htmlPage = '<title>A page</title><h1>Hello</h1><script>x()</script><p><a href="/next">Next</a>'

const stripeEvent = {
  id: 'e1',
  type: 'payment_intent.succeeded',
  data: { object: { id: 'p1', amount: 1200, currency: 'eur' } },
}

/** Runs a workflow with the executable. Addresses on the internet are replaced by those of the stand-ins. */
async function runItem({ document }: GalleryItem, input: unknown, others: OtherServices): Promise<unknown> {
  using folder = temporaryFolder()
  const file = join(folder.path, 'workflow.json')
  const text = JSON.stringify(document)
    .replaceAll('http://127.0.0.1:3000', others.url)
    .replaceAll('https://example.com', `${others.url}/sample/quotes`)
    .replaceAll('https://example.net', `${others.url}/page`)
    .replaceAll('https://example.org', `${others.url}/down`)
    .replaceAll('"ms":2000', '"ms":1')
  await Bun.write(file, text)
  const given = input === undefined ? [] : ['--input', JSON.stringify(input)]
  const ended = await millrace(['run', file, '--json', ...given], { environment: others.environment })
  const envelope = JSON.parse(ended.out || '{}')
  if (envelope.success !== true) throw new Error(`${document.name}: ${ended.out}${ended.words}`)
  const { output } = envelope
  const only = Object.values(output ?? {})[0]
  // Without a response block, the output is the outputs of the last blocks.
  return output?.data ?? output?.result ?? output?.content ?? (only as Parsed)?.result ?? output
}

type OtherServices = {
  url: string
  environment: Record<string, string>
  received(path: string): unknown[]
  stop(): Promise<void>
}

/** The services that the workflows call, on loopback. The language model is a fake one. */
async function startOtherServices(): Promise<OtherServices> {
  const bodies: { path: string; body: unknown }[] = []
  let asked = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname: path, searchParams } = new URL(request.url)
      if (request.method !== 'GET') bodies.push({ path, body: await request.json() })
      const tag = searchParams.get('tag')
      const tags = ['work', 'time', 'learning'].filter((one) => tag === null || one === tag)
      if (path === '/sample/quotes')
        return Response.json({ data: tags.map((text) => ({ author: 'A', text, tag: text })) })
      if (path === '/rates' && searchParams.get('currency') === 'EUR') return Response.json({ rate: 1.1 })
      if (path === '/list')
        return Response.json({
          items:
            [
              [1, 2],
              [3, 4],
            ][Number(searchParams.get('page')) - 1] ?? [],
        })
      if (path === '/source') return Response.json([{ id: 1 }, { id: 2 }])
      if (path === '/jobs') return Response.json({ id: 'j1' })
      if (path === '/page/') return new Response(htmlPage, { headers: { 'content-type': 'text/html' } })
      asked += 1
      if (path === '/jobs/j1') return Response.json({ id: 'j1', status: asked > 3 ? 'done' : 'running' })
      if (['/alert', '/forward', '/slack', '/target'].includes(path)) return Response.json({ received: true })
      return new Response('not found', { status: 404 })
    },
  })
  const models = await ModelServer.start(({ body }) => {
    const text = JSON.stringify(body)
    if (text.includes('"response_format"') && text.includes('Invoice 2041')) {
      return { text: ['{"number":"2041","date":"2026-05-03","total":129.9,"currency":"EUR"}'] }
    }
    // The address of the customer is masked.
    if (text.includes('helpful') && !text.includes('ada@')) return { text: ['{"helpful":9,"polite":8}'] }
    if (text.includes('Add 40 and 2')) {
      // The result of the tool comes with the second question.
      const sum = /\{\\*"sum\\*":(\d+)/.exec(text)?.[1]
      if (sum !== undefined) return { text: [`The sum is ${sum}.`] }
      return { toolCalls: [{ id: 'c1', name: 'add', arguments: '{"a":40,"b":2}' }] }
    }
    return { text: [text.includes('wrong address') ? '{"route":"billing"}' : 'Bonjour'] }
  })
  const tools = await SdkServer.start()
  const url = `http://127.0.0.1:${server.port}`
  const secrets = ['ALERT_TOKEN', 'GITHUB_WEBHOOK_SECRET', 'SLACK_SIGNING_SECRET', 'STRIPE_WEBHOOK_SECRET', 'MODEL_KEY']
  return {
    url,
    environment: {
      ...Object.fromEntries(secrets.map((name) => [name, 'a-secret-for-tests'])),
      ...{ MODEL_URL: `${models.url}`, MODEL_NAME: 'stand-in', MILLRACE_OUTBOUND_ALLOW: '127.0.0.1' },
      ...{ RATES_URL: `${url}/rates`, LIST_URL: `${url}/list`, JOB_URL: `${url}/jobs`, ALERT_URL: `${url}/alert` },
      FEED_URL: `${url}/feed`,
      ...{ FORWARD_URL: `${url}/forward`, SLACK_WEBHOOK_URL: `${url}/slack`, SOURCE_URL: `${url}/source` },
      ...{ TARGET_URL: `${url}/target`, MCP_URL: tools.url },
    },
    received: (path) => bodies.filter((one) => one.path === path).map(({ body }) => body),
    async stop() {
      await server.stop(true)
      await models[Symbol.asyncDispose]()
      await tools[Symbol.asyncDispose]()
    },
  }
}
