import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { signatureOf } from '../../../../src/webhooks/sign.ts'
import { SmtpPeer } from '../../../support/mail/smtp-peer.ts'
import { block, document } from '../../../support/make.ts'
import { Receiver } from '../../../support/webhook-receiver.ts'
import { ExecutionWorld, echo, start } from '../execution-world.ts'

let world: ExecutionWorld
let receiver: Receiver
beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  receiver = new Receiver()
})
afterAll(async () => {
  await world.close()
  receiver[Symbol.dispose]()
})

const failing = document({
  blocks: [start(), block('f', 'function', { code: 'throw new Error("no route to the warehouse")' })],
  edges: ['start > f'],
})
const path = (id = '') => `/api/workspaces/${world.workspaceId}/alerts${id && `/${id}`}`
const alertTo = (url: string, more = {}) => ({
  ...{ name: 'Tell me', events: ['run.failed'], workflows: 'all', channel: { type: 'webhook', url } },
  ...more,
})
const create = (body: object) => world.call(path(), { body })

describe('an alert', () => {
  test('is created, listed, changed and deleted, and never shows its secret', async () => {
    const id = await world.deploy(echo)
    const channel = { type: 'webhook', url: receiver.url, secret: 'hush' }
    const body = alertTo('', { channel, workflows: [id] })
    const made = await create(body)
    expect(made.status).toBe(201)
    const shown = {
      ...{ ...body, channel: { ...channel, secret: 'set' }, rule: null, quietMs: 3_600_000, active: true },
      ...{ lastFiredAt: null, quietUntil: null, suppressed: 0, lastDelivery: null },
    }
    expect(made.json).toMatchObject(shown)
    expect((await world.call(path(made.json.id))).json).toEqual(made.json)
    expect((await world.call(path())).json.data).toContainEqual(made.json)
    const rule = { type: 'consecutive_failures', count: 3 }
    const change = { name: 'Later', rule, channel: { type: 'webhook', url: `${receiver.url}?x={{TOKEN}}` } }
    const changed = await world.call(path(made.json.id), { method: 'PATCH', body: change })
    expect([changed.status, changed.json.channel.secret, changed.json.rule]).toEqual([200, 'set', rule])
    const unruled = await world.call(path(made.json.id), { method: 'PATCH', body: { rule: null, active: false } })
    expect(unruled.json).toMatchObject({ rule: null, active: false, name: 'Later' })
    expect((await world.call(path(made.json.id), { method: 'DELETE' })).status).toBe(204)
    expect((await world.call(path(made.json.id))).status).toBe(404)
  })

  test('is refused with a reason when it could never fire or be sent', async () => {
    const reasons = [
      [{ events: [] }, 'events must name at least one event'],
      [
        { rule: { type: 'no_activity', windowMs: 60_000 }, events: ['backup.overdue'] },
        'cannot be combined with the event "backup.overdue"',
      ],
      [{ rule: { type: 'no_activity', windowMs: 5 } }, 'rule must be a rule: {'],
      [{ quietMs: 1 }, 'quietMs'],
      [{ workflows: [] }, 'workflows must be "all"'],
      [{ workflows: ['none'] }, 'the workspace has no such workflow'],
      [{ channel: { type: 'webhook', url: 'ftp://example.com' } }, 'http'],
      [{ channel: { type: 'email', to: ['ada@example.com'] } }, 'MILLRACE_SMTP_URL is not set'],
      [{ other: 1 }, 'other is not known here'],
    ] as const
    for (const [more, reason] of reasons) {
      const { status, json } = await create(alertTo(receiver.url, more))
      expect([status, json.error]).toEqual([400, expect.stringContaining(reason)])
    }
  })

  test('sends one signed message about a burst of failures, and counts the others', async () => {
    const id = await world.deploy(failing)
    const before = receiver.received.length
    const channel = { type: 'webhook', url: receiver.url, secret: 'hush' }
    const made = await create(alertTo('', { channel, workflows: [id], name: 'Burst' }))
    const runs = await Promise.all(Array.from({ length: 10 }, () => world.execute(id, {})))
    const { headers, body } = (await receiver.arrivals(before + 1))[before]!
    const message = JSON.parse(body)
    expect(message).toMatchObject({
      type: 'alert.fired',
      text: expect.stringContaining('failed: '),
      data: { alert: { id: made.json.id, name: 'Burst' }, event: 'run.failed', workflow: { id }, suppressed: 0 },
    })
    expect(message.data.error).toContain('no route to the warehouse')
    expect(runs.map(({ json }) => json.executionId)).toContain(message.data.executionId)
    expect(headers.get('svc-event')).toBe('alert.fired')
    const at = Number(headers.get('svc-timestamp'))
    expect(headers.get('svc-signature')).toBe(signatureOf({ at, body, secrets: ['hush'] }))
    const settled = async () => {
      const { json } = await world.call(path(made.json.id))
      return json.suppressed === 9 && json.lastDelivery?.state === 'delivered' ? json : undefined
    }
    let shown = await settled()
    while (!shown) {
      await Bun.sleep(50)
      shown = await settled()
    }
    expect(shown.quietUntil).toBe(new Date(Date.parse(shown.lastFiredAt) + 3_600_000).toISOString())
    expect(receiver.received).toHaveLength(before + 1)
    await world.call(path(made.json.id), { method: 'DELETE' })
  })

  test('can be tried, and says what went wrong', async () => {
    using refusing = new Receiver(() => new Response('unknown channel', { status: 404 }))
    const made = await create(alertTo(refusing.url, { active: false }))
    const tried = await world.call(path(`${made.json.id}/test`), { method: 'POST' })
    expect(tried.json).toMatchObject({
      ...{ delivered: false, status: 404, answer: 'unknown channel', error: { code: 'HTTP_ERROR' } },
    })
    expect(JSON.parse(tried.json.body)).toMatchObject({ type: 'alert.fired', data: { event: 'run.failed' } })
    expect(refusing.received).toHaveLength(1)
    await world.call(path(made.json.id), { method: 'DELETE' })
  })

  test('is kept from viewers, and from strangers', async () => {
    const viewer = await world.addMember('viewer')
    const other = await world.otherKey()
    for (const [key, status] of [
      [viewer.key, 403],
      [other, 404],
    ] as const) {
      expect((await world.call(path(), { key })).status).toBe(status)
      expect((await world.call(path(), { key, body: alertTo(receiver.url) })).status).toBe(status)
    }
  })
})

describe('an alert by e-mail', () => {
  test('is sent over the mail server of the operator', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    const smtp = { 'smtp-url': `smtp://127.0.0.1:${peer.port}?tls=none`, 'smtp-from': 'millrace@example.com' }
    const mailing = await ExecutionWorld.open(smtp)
    try {
      const id = await mailing.deploy(failing)
      const alerts = `/api/workspaces/${mailing.workspaceId}/alerts`
      const channel = { type: 'email', to: ['ada@example.com', 'bob@example.com'] }
      const body = { name: 'Orders', events: ['run.failed'], workflows: [id], channel }
      const made = await mailing.call(alerts, { body })
      expect([made.status, made.json.channel]).toEqual([201, channel])
      const tried = await mailing.call(`${alerts}/${made.json.id}/test`, { method: 'POST' })
      expect(tried.json).toMatchObject({ delivered: true, status: 250 })
      await mailing.execute(id, {})
      while (peer.received.length < 2) await Bun.sleep(50)
      const [, message] = peer.received
      expect(message?.to).toEqual(channel.to)
      expect(message?.text).toContain('no route to the warehouse')
      const tests = []
      for (let count = 1; count <= 10; count += 1)
        tests.push((await mailing.call(`${alerts}/${made.json.id}/test`, { method: 'POST' })).status)
      // Its recipients may be strangers, so a workspace has ten tests an hour. One was above.
      expect(tests).toEqual([...Array(9).fill(200), 429])
    } finally {
      await mailing.close()
    }
  })
})
