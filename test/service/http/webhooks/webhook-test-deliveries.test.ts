import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hashToken, newToken } from '../../../../src/accounts/sessions.ts'
import type { App } from '../../../../src/app.ts'
import { createInstallation } from '../../../../src/cli/installation/installation.ts'
import { signatureOf } from '../../../../src/webhooks/sign.ts'
import { startTestApp } from '../../../support/app.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { type Received, Receiver } from '../../../support/webhook-receiver.ts'

const folder = temporaryFolder()
let app: App
let workspaceId: string
let cookie: string
beforeAll(async () => {
  app = await startTestApp(folder.path, { 'outbound-allow': 'loopback' })
  const made = (await createInstallation(app.store, Date.now()))!
  workspaceId = made.workspaceId
  const token = newToken()
  const session = { userId: made.userId, createdAt: Date.now(), expiresAt: Date.now() + 3_600_000 }
  await app.store.createSession({ hash: hashToken(token), ...session })
  cookie = `millrace_session=${token}`
})
afterAll(async () => {
  await app.stop(0)
  folder[Symbol.dispose]()
})

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(app.address.url + path, {
    method,
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  // JSON of any shape: each test checks its content.
  return { status: response.status, json: (text === '' ? null : JSON.parse(text)) as ReturnType<typeof JSON.parse> }
}

let count = 0
/** Deploys a workflow with the webhook subscription `hook`. Returns the path of its subscriptions. */
async function withWebhook(webhook: Record<string, unknown>): Promise<{ id: string; path: string }> {
  count += 1
  const blocks = [block('start', 'manual_trigger'), block('api', 'api_trigger')]
  const body = { ...document({ name: `Tells ${count}`, blocks }), webhooks: [{ id: 'hook', ...webhook }] }
  const { json } = await call('POST', `/api/workflows?workspaceId=${workspaceId}`, body)
  return { id: json.id, path: `/api/editor/workflows/${json.id}/webhooks/hook` }
}

const signedWith = ({ headers, body }: Received, ...secrets: string[]) =>
  headers.get('svc-signature') === signatureOf({ at: Number(headers.get('svc-timestamp')), body, secrets })

describe('a test delivery', () => {
  test('sends an example run, signed, and reports the attempt', async () => {
    using receiver = new Receiver(() => new Response('Thanks', { status: 202 }))
    const { id, path } = await withWebhook({
      url: receiver.url,
      secret: 's',
      active: false,
      levelFilter: ['error'],
      triggerFilter: ['chat'],
      includeFinalOutput: true,
      includeTraceSpans: true,
      includeRateLimits: true,
      includeUsageData: true,
    })
    const { status, json } = await call('POST', `${path}/test`)
    expect([status, json]).toMatchObject([200, { delivered: true, status: 202, error: null, answer: 'Thanks' }])
    const [got] = await receiver.arrivals(1)
    expect(got!.body).toBe(json.body)
    expect(got!.headers.get('svc-delivery-id')).toBe(json.deliveryId)
    expect(signedWith(got!, 's')).toBe(true)
    expect(JSON.parse(json.body)).toMatchObject({
      type: 'workflow.execution.completed',
      data: {
        workflowId: id,
        executionId: expect.stringMatching(/^test_/),
        status: 'error',
        trigger: 'chat',
        finalOutput: { error: 'This is a test' },
        traceSpans: [{ type: 'workflow', status: 'error' }],
        rateLimits: { sync: { limit: expect.any(Number) } },
        usage: { plan: 'enterprise' },
      },
    })
    expect((await call('GET', `/api/workflows/${id}/deliveries`)).json.data).toEqual([])
  })

  test('reports a failure and is not retried', async () => {
    using receiver = new Receiver(() => new Response('Not now', { status: 503 }))
    const busy = await withWebhook({ url: receiver.url })
    expect((await call('POST', `${busy.path}/test`)).json).toMatchObject({
      delivered: false,
      status: 503,
      error: { code: 'HTTP_ERROR' },
      answer: 'Not now',
    })
    const nameless = await withWebhook({ url: 'http://{{MISSING}}/' })
    const { json } = await call('POST', `${nameless.path}/test`)
    expect(json).toMatchObject({ delivered: false, status: null, error: { code: 'NOT_SENDABLE' } })
    expect(json.error.message).toContain('MISSING')
    expect(receiver.received).toHaveLength(1)
  })

  test('is signed with both secrets while the previous one is valid', async () => {
    using receiver = new Receiver()
    const { path } = await withWebhook({ url: receiver.url, secret: 'first' })
    await call('POST', `${path}/rotate-secret`, { secret: 'second', keepPreviousForS: 60 })
    await call('POST', `${path}/test`)
    await call('POST', `${path}/rotate-secret`, { secret: 'third' })
    await call('POST', `${path}/test`)
    await call('PATCH', path, { secret: null })
    await call('POST', `${path}/test`)
    const [both, third, none] = await receiver.arrivals(3)
    expect(signedWith(both!, 'first', 'second')).toBe(true)
    expect(signedWith(third!, 'third')).toBe(true)
    expect(none!.headers.has('svc-signature')).toBe(false)
  })
})

describe('a change of a webhook subscription', () => {
  test('applies to the next run', async () => {
    using before = new Receiver()
    using after = new Receiver()
    const { id, path } = await withWebhook({ url: before.url, secret: 'first' })
    await call('POST', `/api/workflows/${id}/deploy`)
    const run = () => call('POST', `/api/editor/workflows/${id}/runs`, {})
    expect((await run()).status).toBe(202)
    expect(signedWith((await before.arrivals(1))[0]!, 'first')).toBe(true)
    await call('PATCH', path, { url: after.url, secret: 'second' })
    await run()
    expect(signedWith((await after.arrivals(1))[0]!, 'second')).toBe(true)
    expect(before.received).toHaveLength(1)
  })
})
