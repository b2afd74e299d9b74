import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { signatureOf } from '../../../../src/webhooks/sign.ts'
import { block, document } from '../../../support/make.ts'
import { Receiver } from '../../../support/webhook-receiver.ts'
import { ExecutionWorld, start } from '../execution-world.ts'
import type { Parsed } from '../world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
})
afterAll(() => world.close())

/** A workflow with an approval, and one subscription for each list of events. */
async function deploy(receiver: Receiver, subscriptions: object[], ask: object = {}, more: string[] = []) {
  const webhooks = subscriptions.map((each, at) => ({ id: `s${at}`, url: `${receiver.url}/${at}`, ...each }))
  const draft = document({
    blocks: [
      start(),
      block('ask', 'approval', { title: 'Pay {{BANK}}?', ...ask }),
      block('slow', 'function', { code: 'const end = Date.now() + 300; while (Date.now() < end); return 1' }),
      block('done', 'function', { code: 'return <ask.approved>' }),
    ],
    edges: ['start > ask', 'ask > done', ...more],
  })
  return await world.deploy({ ...draft, webhooks } as typeof draft)
}

const bodyOf = ({ body }: { body: string }): Parsed => JSON.parse(body)
const typesOf = (receiver: Receiver, path: string) =>
  receiver.received.filter((each) => each.path === `/hook/${path}`).map((each) => bodyOf(each).type.split('.').at(-1))

const resume = (workflowId: string, executionId: string, contextId: string) =>
  world.call(`/api/resume/${workflowId}/${executionId}/${contextId}`, { body: { input: { approved: true } } })

describe('a webhook subscription to pauses', () => {
  beforeAll(async () => {
    await world.call(`/api/workspaces/${world.workspaceId}/environment/BANK`, {
      method: 'PUT',
      body: { value: 'first-secret-bank' },
    })
  })

  test('receives the events that it selects: paused, resumed and completed', async () => {
    using receiver = new Receiver()
    const all = { events: ['resumed', 'completed', 'paused'], secret: 'hook-secret', includeFinalOutput: true }
    const id = await deploy(receiver, [all, {}, { events: ['resumed'] }, { events: ['paused'] }])
    const { json } = await world.execute(id, {})
    const { executionId } = json
    const [contextId] = json.paused.map((pause: Parsed) => pause.contextId)
    await receiver.arrivals(2)
    const paused = receiver.received.find(({ path }) => path === '/hook/0')!
    expect(paused.headers.get('svc-event')).toBe('workflow.execution.paused')
    const at = Number(paused.headers.get('svc-timestamp'))
    const signature = signatureOf({ at, body: paused.body, secrets: ['hook-secret'] })
    expect(paused.headers.get('svc-signature')).toBe(signature)
    const { id: eventId, timestamp, data, links, type } = bodyOf(paused)
    expect([type, links]).toEqual(['workflow.execution.paused', { status: `/jobs/${executionId}` }])
    expect(data).toEqual({
      ...{ workflowId: id, executionId, trigger: 'api', startedAt: expect.any(String) },
      paused: [
        {
          ...{ contextId, blockId: 'ask', blockName: 'ask', kind: 'approval', title: 'Pay {{BANK}}?' },
          ...{ since: expect.any(String), until: null },
        },
      ],
    })
    expect(Math.abs(timestamp - Date.parse(data.paused[0].since))).toBeLessThan(5_000)
    expect((await resume(id, executionId, contextId)).status).toBe(200)
    await receiver.arrivals(6)
    const resumed = receiver.received.find(({ headers, path }) => {
      return headers.get('svc-event') === 'workflow.execution.resumed' && path === '/hook/0'
    })!
    expect(bodyOf(resumed).data.paused).toMatchObject([
      { contextId, kind: 'approval', outcome: 'answered', endedAt: expect.any(String) },
    ])
    expect(bodyOf(resumed).id).not.toBe(eventId)
    expect(typesOf(receiver, '0')).toEqual(['paused', 'resumed', 'completed'])
    expect(typesOf(receiver, '1')).toEqual(['completed'])
    expect(typesOf(receiver, '2')).toEqual(['resumed'])
    expect(typesOf(receiver, '3')).toEqual(['paused'])
    expect(receiver.received.map(({ body }) => body).join()).not.toContain('first-secret')
    await receiverIsListed(id)
    const [log] = (await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)).json.data
    const decisions = (await world.call(`/api/v1/logs/${log.id}/webhooks`)).json.data
    expect(decisions.map(({ decision }: Parsed) => decision)).toEqual([
      ...['delivered', 'delivered', 'filtered_by_event', 'filtered_by_event'],
    ])
  }, 30_000)

  async function receiverIsListed(id: string) {
    for (;;) {
      const { json } = await world.call(`/api/workflows/${id}/deliveries`)
      if (json.data.some(({ state }: Parsed) => state === 'pending')) continue
      const listed = json.data.map(({ event, logId }: Parsed) => [event, logId === null])
      expect(listed.toSorted()).toEqual([
        ...[
          ['completed', false],
          ['completed', false],
          ['paused', true],
          ['paused', true],
        ],
        ...[
          ['resumed', true],
          ['resumed', true],
        ],
      ])
      const one = json.data.find(({ event }: Parsed) => event === 'paused')
      const again = await world.call(`/api/workflows/${id}/deliveries/${one.id}/resend`, { method: 'POST' })
      expect(again.status).toBe(200)
      return
    }
  }

  test('receives the event of an answer that comes while other blocks work', async () => {
    using receiver = new Receiver()
    const id = await deploy(receiver, [{ events: ['paused', 'resumed'] }], {}, ['start > slow'])
    const executed = world.execute(id, {}, { headers: { 'x-execution-mode': 'async' } })
    const [paused] = await receiver.arrivals(1)
    const { executionId, paused: pauses } = bodyOf(paused!).data
    expect((await resume(id, executionId, pauses[0].contextId)).status).toBe(200)
    await receiver.arrivals(2)
    await executed
    expect(typesOf(receiver, '0')).toEqual(['paused', 'resumed'])
    expect(bodyOf(receiver.received[1]!).data.paused).toMatchObject([{ contextId: pauses[0].contextId }])
  }, 30_000)

  test('receives the event of a pause that expires', async () => {
    using receiver = new Receiver()
    const id = await deploy(receiver, [{ events: ['resumed'] }], { expiresAfterMs: 1_000 })
    await world.execute(id, {})
    const [resumed] = await receiver.arrivals(1)
    expect(bodyOf(resumed!).data.paused).toMatchObject([{ outcome: 'expired', until: expect.any(String) }])
  }, 30_000)

  test('receives events for its triggers only, and for any level', async () => {
    using receiver = new Receiver()
    const filters = [{ triggerFilter: ['chat'] }, { levelFilter: ['error'] }, { active: false }]
    const id = await deploy(
      receiver,
      filters.map((filter) => ({ events: ['paused', 'completed'], ...filter })),
    )
    const { json } = await world.execute(id, {})
    await receiver.arrivals(1)
    await resume(id, json.executionId, json.paused[0].contextId)
    const jobs = `/api/jobs/${json.executionId}`
    while ((await world.call(jobs)).json.status !== 'completed') await Bun.sleep(10)
    expect((await world.call(`/api/workflows/${id}/deliveries`)).json.data).toHaveLength(1)
    expect(typesOf(receiver, '1')).toEqual(['paused'])
  }, 30_000)

  test('needs a list of known events without duplicates', async () => {
    const save = (events: unknown) =>
      world.call('/api/workflows', {
        body: { name: 'Bad', blocks: {}, edges: [], webhooks: [{ url: 'https://example.com/', events }] },
      })
    for (const events of [['started'], [], ['paused', 'paused'], 'paused', [1]]) {
      const { status, json } = await save(events)
      expect([events, status, json.code]).toEqual([events, 400, 'INVALID_INPUT'])
      expect(json.details[0].path).toStartWith('webhooks[0].events')
    }
    const { json } = await save(['resumed', 'completed'])
    expect(json.webhooks[0].events).toEqual(['completed', 'resumed'])
  })
})
