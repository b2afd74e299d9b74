import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sequenceOf } from '../../../src/domain/ids.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, init, type Serving, serve } from '../../support/running-service.ts'
import { Receiver } from '../../support/webhook-receiver.ts'

const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback' }

let folder: ReturnType<typeof temporaryFolder>
let apiKey: string
let service: Serving
beforeEach(async () => {
  folder = temporaryFolder()
  apiKey = (await init(folder.path)).apiKey
  service = await serve(folder.path, environment)
})
afterEach(async () => {
  await service.kill('SIGKILL')
  folder[Symbol.dispose]()
})

/** Deploys a workflow with webhook subscriptions. Returns the path that runs it. */
async function deployed(webhooks: Record<string, unknown>[]): Promise<string> {
  const body = {
    ...document({
      name: 'Describes itself',
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
        block('end', 'function', { code: 'if (<api.n> < 0) throw new Error("negative"); return <api.n>' }),
      ],
      edges: ['start > end'],
    }),
    webhooks,
  }
  const { status, body: made } = await call(`${service.url}/api/workflows`, apiKey, 'POST', body)
  expect(status).toBe(201)
  const { id } = made as { id: string }
  expect((await call(`${service.url}/api/workflows/${id}/deploy`, apiKey, 'POST')).status).toBe(200)
  return `/api/workflows/${id}/execute`
}

async function run(path: string, n: number): Promise<string> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify({ n }),
  })
  return response.headers.get('x-execution-id') ?? ''
}

type Payload = { id: string; type: string; data: Record<string, unknown>; links: { log: string } }
const payloadOf = (body: string) => JSON.parse(body) as Payload

describe('a webhook delivery of the executable', () => {
  test('arrives after the run has ended, with what the subscription includes', async () => {
    using receiver = new Receiver()
    const path = await deployed([
      { url: receiver.url, secret: 'whsec', includeFinalOutput: true, includeTraceSpans: true, includeUsageData: true },
    ])
    const executionId = await run(path, 7)
    const [got] = await receiver.arrivals(1)
    const payload = payloadOf(got!.body)
    expect(payload).toMatchObject({ type: 'workflow.execution.completed', data: { executionId, status: 'success' } })
    expect(payload.data['finalOutput']).toMatchObject({ result: 7 })
    expect(payload.data['traceSpans']).toBeArray()
    expect(payload.data['usage']).toMatchObject({ plan: 'enterprise', isExceeded: false })
    expect(payload.data).not.toHaveProperty('rateLimits')
    const timestamp = got!.headers.get('svc-timestamp')
    const digest = new Bun.CryptoHasher('sha256', 'whsec').update(`${timestamp}.${got!.body}`).digest('hex')
    expect(got!.headers.get('svc-signature')).toBe(`t=${timestamp},v1=${digest}`)
    expect(got!.headers.get('idempotency-key')).toBe(got!.headers.get('svc-delivery-id'))
    expect(sequenceOf(payload.links.log.replace('/v1/logs/', ''))).toBeDefined()
  })

  test('goes only to subscriptions whose filters admit the run', async () => {
    using all = new Receiver()
    using errors = new Receiver()
    using nobody = new Receiver()
    const path = await deployed([
      { url: all.url },
      { url: errors.url, levelFilter: ['error'] },
      { url: nobody.url, active: false },
      { url: nobody.url, triggerFilter: ['schedule'] },
    ])
    const good = await run(path, 1)
    const bad = await run(path, -1)
    await Promise.all([all.arrivals(2), errors.arrivals(1)])
    const idsOf = (receiver: Receiver) => receiver.received.map(({ body }) => payloadOf(body).data['executionId'])
    expect(idsOf(all).toSorted()).toEqual([good, bad].toSorted())
    expect(idsOf(errors)).toEqual([bad])
    expect(nobody.received).toEqual([])
  })

  test('is resent after kill -9 during its attempt, unchanged except for its signature', async () => {
    const held = Promise.withResolvers<Response>()
    using receiver = new Receiver((_, n) => (n === 1 ? held.promise : new Response('ok')))
    const path = await deployed([{ url: receiver.url, secret: 's', includeFinalOutput: true, includeTraceSpans: true }])
    await run(path, 3)
    await receiver.arrivals(1)
    await service.kill('SIGKILL')
    service = await serve(folder.path, environment)
    const [first, second] = await receiver.arrivals(2)
    expect(second!.body).toBe(first!.body)
    for (const name of ['idempotency-key', 'svc-delivery-id', 'svc-event']) {
      expect(second!.headers.get(name)).toBe(first!.headers.get(name))
    }
    expect(second!.headers.get('svc-signature')).not.toBe(first!.headers.get('svc-signature'))
    held.resolve(new Response())
  })

  test('is resent after 5 s when its receiver fails', async () => {
    using receiver = new Receiver((_, n) => new Response('', { status: n === 1 ? 503 : 204 }))
    const path = await deployed([{ url: receiver.url }])
    await run(path, 3)
    const [first, second] = await receiver.arrivals(2)
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(4_990)
    expect(new Set(receiver.keys).size).toBe(1)
  }, 120_000)
})
