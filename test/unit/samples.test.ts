import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { registry } from '../../src/blocks/registry.ts'
import { runLocally } from '../../src/cli/support/local-run.ts'
import { resolveConfig } from '../../src/config.ts'
import { defaultLimits } from '../../src/domain/limits.ts'
import type { RunRecord } from '../../src/domain/run/log.ts'
import { readDocument } from '../../src/domain/workflow/document.ts'
import type { WorkflowDocument } from '../../src/domain/workflow/workflow.ts'
import { compilePlan } from '../../src/engine/compile/plan.ts'
import { ModelServer } from '../support/models/model-server.ts'
import { World } from './engine/world.ts'

const folder = resolve(import.meta.dir, '../..', 'samples')
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))

function sample(name: string): WorkflowDocument {
  const reading = readDocument(JSON.parse(readFileSync(join(folder, name), 'utf8')))
  if ('details' in reading) throw new Error(JSON.stringify(reading.details))
  return reading.document
}

/** Runs a sample as `millrace run` does, with this machine's own addresses allowed. */
function run(document: WorkflowDocument, input: unknown, environment: Record<string, string> = {}): Promise<RunRecord> {
  const { config } = resolveConfig({ flags: { 'outbound-allow': 'loopback' } })
  return runLocally({ document, input, config, environment, progress: undefined, warn: () => {} })
}

test.each(files)('%s passes both checks without a warning, and reading does not change it', (name) => {
  const document = sample(name)
  expect(compilePlan(document, registry, defaultLimits).findings).toEqual([])
  expect(document.description).toBeString()
})

describe('samples run against real services', () => {
  /** The requests from the samples, in order. */
  const calls: { path: string; key: string | null; body: unknown }[] = []
  let refusals = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const url = new URL(request.url)
      const text = await request.text()
      calls.push({
        path: url.pathname + url.search,
        key: request.headers.get('idempotency-key'),
        body: text === '' ? null : JSON.parse(text),
      })
      if (url.pathname === '/customers/c%2F1') return Response.json({ name: 'Ada', email: 'ada@example.com' })
      if (url.pathname === '/invoices') {
        return Response.json([
          { number: 'i1', amount: 10, paid: true },
          { number: 'i2', amount: 20, paid: false },
          { number: 'i3', amount: 30, paid: false },
        ])
      }
      if (url.pathname === '/orders' && refusals-- > 0) return new Response('busy', { status: 503 })
      if (url.pathname === '/orders') return Response.json({ id: 'o1' })
      if (url.pathname === '/sample/quotes') {
        const quotes = [{ author: 'Ada Lovelace', text: 'A quote.', tag: 'work' }]
        return Response.json({ data: quotes.filter(({ tag }) => tag === (url.searchParams.get('tag') ?? tag)) })
      }
      return new Response('not found', { status: 404 })
    },
  })
  const base = `http://127.0.0.1:${server.port}`
  beforeAll(() => {
    calls.length = 0
  })
  afterAll(() => server.stop(true))

  test('customer-overview calls two services and merges their responses', async () => {
    const environment = { CRM_URL: base, BILLING_URL: base }
    const { failure, output } = await run(sample('customer-overview.json'), { customerId: 'c/1' }, environment)
    expect(failure).toBeNull()
    expect(output).toEqual({
      data: { name: 'Ada', email: 'ada@example.com', openInvoices: ['i2', 'i3'], owed: 50 },
      status: 200,
      headers: {},
    })
    expect(calls.map(({ path }) => path).toSorted()).toEqual(['/customers/c%2F1', '/invoices?customer=c%2F1'])
  })

  test('stock-check loops over its list and takes one branch for each article', async () => {
    const { failure, output, root } = await run(sample('stock-check.json'), {})
    expect(failure).toBeNull()
    expect(output).toMatchObject({
      result: {
        orders: [
          { article: 'lamp', order: 8 },
          { article: 'desk', order: 2 },
        ],
        articles: 3,
      },
    })
    const loop = root.children.find(({ type }) => type === 'loop')
    expect(loop?.children).toHaveLength(3)
  })

  test('patient-order retries with the same idempotency key until the service accepts the order', async () => {
    calls.length = 0
    refusals = 2
    const { failure, output, root } = await run(sample('patient-order.json'), { article: 'desk' }, { ORDERS_URL: base })
    expect(failure).toBeNull()
    expect(output).toEqual({ data: { placed: true, order: { id: 'o1' } }, status: 201, headers: {} })
    expect(calls.map(({ body }) => body)).toEqual(Array.from({ length: 3 }, () => ({ article: 'desk', amount: 1 })))
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1)
    expect(calls[0]?.key).toBeString()
    expect(root.children.find(({ name }) => name === 'Order')?.attempts).toHaveLength(3)
  })

  test('patient-order responds through its error edge when the service rejects the order permanently', async () => {
    const { failure, output } = await run(sample('patient-order.json'), {}, { ORDERS_URL: `${base}/nowhere` })
    expect(failure).toBeNull()
    expect(output).toMatchObject({ data: { placed: false, attempts: 1 }, status: 502 })
  })

  test('first greets with a quote, and reports when it finds none', async () => {
    const document = sample('first.json')
    const quotes = document.blocks['quotes']!
    quotes.params = { ...quotes.params, url: `${base}/sample/quotes` }
    const found = await run(document, { name: 'Ada', tag: 'work' })
    expect(found.output).toEqual({
      data: { message: 'Hello, Ada.', quote: 'A quote.', by: 'Ada Lovelace' },
      status: 200,
      headers: {},
    })
    const none = await run(document, { name: 'Ada', tag: 'cooking' })
    expect(none.output).toMatchObject({
      status: 404,
      data: { message: expect.stringContaining('no quote about cooking') },
    })
  })
})

test('ask streams the text of a model, and records its cost', async () => {
  await using server = await ModelServer.start([{ text: ['Fine', '.'], usage: { prompt: 9, completion: 2 } }])
  const environment = { MODEL_URL: server.url, MODEL_NAME: 'gpt-4o', MODEL_KEY: 'k' }
  const { failure, output, cost } = await run(sample('ask.json'), { question: 'How?' }, environment)
  expect(failure).toBeNull()
  expect(output).toMatchObject({ content: 'Fine.', tokens: { total: 11 } })
  expect(cost.total).toBe(0.0000425)
})

test('receive-webhook reports a push', async () => {
  const world = new World()
  const commits = [
    { added: ['b'], modified: ['a'], removed: [] },
    { added: [], modified: ['a'], removed: ['c'] },
  ]
  const fields = { body: { pusher: { name: 'ada' }, commits }, headers: {}, query: {}, method: 'POST' }
  const { record } = await world.run(
    sample('receive-webhook.json'),
    {},
    { trigger: 'webhook', input: { input: {}, fields } },
  )
  expect(record.output).toMatchObject({ result: { who: 'ada', commits: 2, files: ['a', 'b', 'c'] } })
  await world.stop()
})

test('weekday-mornings reports the day of its due time', async () => {
  const world = new World()
  const fields = { dueAt: '2025-06-02T08:00:00.000Z', firedAt: '2025-06-02T08:00:00.003Z' }
  const { record } = await world.run(
    sample('weekday-mornings.json'),
    {},
    { trigger: 'schedule', input: { input: {}, fields } },
  )
  expect(record.output).toMatchObject({ result: { day: 'Monday', lateMs: 3 } })
  await world.stop()
})

test('a missing input value prevents the start of a run, with an error that names it', async () => {
  await expect(run(sample('customer-overview.json'), {})).rejects.toThrow('The field "customerId" is required.')
})
