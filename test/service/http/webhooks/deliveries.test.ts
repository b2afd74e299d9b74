import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { deliveryIdOf, eventIdOf, logIdOf, sequenceAt } from '../../../../src/domain/ids.ts'
import type { LogRow } from '../../../../src/domain/run/log.ts'
import type { AttemptOutcome, DeliveryKey } from '../../../../src/domain/webhook/delivery.ts'
import { DeliveryCommands } from '../../../../src/webhooks/delivery-commands.ts'
import { newSubscription } from '../../../support/store/contract/subscription-contract.ts'
import { endedAttempt } from '../../../support/store/ended-attempt.ts'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open({
    bodyBytesMax: 1_000,
    // Nothing is sent, so deliveries keep the state that a command gives them.
    override: ({ store }) => ({
      deliveries: new DeliveryCommands({ store, now: Date.now, findQueue: () => undefined, expect: () => {} }),
    }),
  })
})
afterAll(() => world.close())

const endedAt = Date.UTC(2025, 5, 1, 12)
const delivered = { state: 'delivered', dueAt: null } as const
const failed = { state: 'failed', dueAt: null } as const

/** A workflow with webhook subscriptions with these IDs, and `runs` runs with a pending delivery to each. */
async function workflowWith(ids: readonly string[], runs: number) {
  const workflowId = await world.workflow()
  const subscriptions: number[] = []
  for (const id of ids) {
    subscriptions.push((await world.store.createSubscription(workflowId, newSubscription(id), 1)).number)
  }
  const webhooks = {
    deliveries: subscriptions.map((subscription) => ({ subscription, include: 0 })),
    skipped: [],
    facts: null,
  }
  const rows: LogRow[] = []
  for (let index = 0; index < runs; index += 1) {
    rows.push(await world.log(workflowId, { webhooks, endedAt: endedAt + index * 1_000 }))
  }
  const path = `/api/workflows/${workflowId}/deliveries`
  const keyOf = (run: number, webhook = 0) => ({
    sequence: rows[run]!.sequence,
    subscription: subscriptions[webhook]!,
  })
  return {
    workflowId,
    path,
    keyOf,
    rows,
    idOf: (run: number, webhook = 0) => deliveryIdOf(keyOf(run, webhook), rows[run]!.executionId),
    end: (key: DeliveryKey, outcome: AttemptOutcome, number = 1) =>
      world.store.endAttempts([endedAttempt(key, outcome, { number })]),
  }
}

const idsOf = (json: Parsed) => json.data.map(({ id }: Parsed) => id)

describe('the webhook deliveries of a workflow', () => {
  test('are listed newest first, page by page, each once', async () => {
    const { path, idOf } = await workflowWith(['a', 'b'], 5)
    const expected = [4, 3, 2, 1, 0].flatMap((run) => [idOf(run, 1), idOf(run, 0)])
    expect(idsOf((await world.get(path)).json)).toEqual(expected)
    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { json } = await world.get(`${path}?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(json.data.length).toBeLessThanOrEqual(3)
      found.push(...idsOf(json))
      cursor = json.nextCursor
    }
    expect(found).toEqual(expected)
  })

  test('are filtered by state, and a cursor is valid only for its state', async () => {
    const { path, idOf, keyOf, end } = await workflowWith(['a'], 4)
    await end(keyOf(0), delivered)
    await end(keyOf(1), failed)
    await end(keyOf(2), failed)
    const list = async (state: string) => idsOf((await world.get(`${path}?state=${state}`)).json)
    expect(await list('delivered')).toEqual([idOf(0)])
    expect(await list('failed')).toEqual([idOf(2), idOf(1)])
    expect(await list('pending')).toEqual([idOf(3)])
    expect(await list('cancelled')).toEqual([])
    const { nextCursor } = (await world.get(`${path}?state=failed&limit=1`)).json
    expect(idsOf((await world.get(`${path}?state=failed&cursor=${nextCursor}`)).json)).toEqual([idOf(1)])
    for (const query of [`cursor=${nextCursor}`, `state=pending&cursor=${nextCursor}`, 'cursor=x']) {
      const { status, json } = await world.get(`${path}?${query}`)
      expect([query, status, json.code]).toEqual([query, 400, 'INVALID_CURSOR'])
    }
    const wrong = await world.get(`${path}?state=late&limit=0`)
    expect(wrong.json.details.map(({ path }: Parsed) => path)).toEqual(['state', 'limit'])
  })

  test('of a deleted workflow can still be listed, sent again and cancelled by its members', async () => {
    const { workflowId, path, idOf, keyOf, end } = await workflowWith(['a'], 4)
    await end(keyOf(0), failed)
    await end(keyOf(1), failed)
    expect((await world.call('DELETE', `/api/workflows/${workflowId}`)).status).toBe(204)
    expect(idsOf((await world.get(path)).json)).toEqual([idOf(3), idOf(2), idOf(1), idOf(0)])
    expect((await world.get(`${path}/${idOf(0)}`)).json.state).toBe('failed')
    expect((await world.post(`${path}/${idOf(0)}/resend`)).json.state).toBe('pending')
    expect((await world.post(`${path}/${idOf(2)}/cancel`)).json.state).toBe('cancelled')
    const since = new Date(endedAt - 1_000).toISOString()
    expect((await world.post(`${path}/resend-failed`, { since })).json).toEqual({ resent: 1 })
    expect((await world.get(path, { key: world.outsider })).status).toBe(404)
    expect((await world.post(`${path}/${idOf(0)}/cancel`, undefined, { key: world.outsider })).status).toBe(404)
  })

  test('are filtered by subscription, deleted or not', async () => {
    const { workflowId, path, idOf, keyOf, end } = await workflowWith(['a', 'b'], 3)
    await end(keyOf(1, 1), failed)
    await world.store.deleteSubscription(workflowId, 'b', 9)
    const list = async (query: string) => (await world.get(`${path}?${query}`)).json
    expect(idsOf(await list('webhookId=a'))).toEqual([2, 1, 0].map((run) => idOf(run, 0)))
    expect(idsOf(await list('webhookId=b&state=failed'))).toEqual([idOf(1, 1)])
    expect(await list('webhookId=c')).toEqual({ data: [], nextCursor: null })
    const first = await list('webhookId=b&limit=2')
    expect(idsOf(first)).toEqual([idOf(2, 1), idOf(1, 1)])
    expect(idsOf(await list(`webhookId=b&cursor=${first.nextCursor}`))).toEqual([idOf(0, 1)])
    expect((await list(`webhookId=a&cursor=${first.nextCursor}`)).code).toBe('INVALID_CURSOR')
  })

  test('are shown with every attempt', async () => {
    const { workflowId, path, rows, idOf, keyOf, end } = await workflowWith(['a'], 1)
    await end(keyOf(0), { state: 'pending', dueAt: endedAt + 5_000 })
    await end(keyOf(0), { state: 'pending', dueAt: endedAt + 20_000 }, 2)
    const { json } = await world.get(`${path}/${idOf(0)}`)
    const { sequence, executionId } = rows[0]!
    const { attempts, lastAttempt, ...facts } = json
    expect(facts).toEqual({
      id: idOf(0),
      event: 'completed',
      eventId: eventIdOf(sequence, executionId),
      webhookId: 'a',
      url: 'https://example.org/hook',
      workflowId,
      ...{ executionId, version: 1, versionName: null },
      logId: logIdOf(sequence),
      state: 'pending',
      createdAt: '2025-06-01T12:00:00.000Z',
      nextAttemptAt: '2025-06-01T12:00:20.000Z',
      attemptCount: 2,
    })
    expect(attempts.map(({ number }: Parsed) => number)).toEqual([1, 2])
    expect(lastAttempt).toEqual(attempts[1])
    expect((await world.get(path)).json.data).toEqual([{ ...facts, lastAttempt }])
  })

  test('are found by their complete ID, under their own workflow', async () => {
    const { path, idOf } = await workflowWith(['a'], 1)
    const other = await workflowWith(['a'], 1)
    const id = idOf(0)
    const changed = id.slice(0, 20) + (id[20] === '0' ? '1' : '0') + id.slice(21)
    for (const at of [`${path}/${changed}`, `${path}/x`, `${other.path}/${id}`]) {
      expect([at, (await world.get(at)).status]).toEqual([at, 404])
    }
  })

  test('can be sent again one by one in every state', async () => {
    const { path, idOf, keyOf, end } = await workflowWith(['a'], 2)
    await end(keyOf(0), delivered)
    for (const run of [0, 1]) {
      const { status, json } = await world.post(`${path}/${idOf(run)}/resend`)
      expect([status, json.state, json.id]).toEqual([200, 'pending', idOf(run)])
      expect(Math.abs(Date.parse(json.nextAttemptAt) - Date.now())).toBeLessThan(60_000)
    }
  })

  test('can be cancelled while they are pending', async () => {
    const { path, idOf, keyOf, end } = await workflowWith(['a'], 2)
    const cancelled = await world.post(`${path}/${idOf(0)}/cancel`)
    expect([cancelled.status, cancelled.json.state, cancelled.json.nextAttemptAt]).toEqual([200, 'cancelled', null])
    await end(keyOf(1), delivered)
    for (const [run, state] of [
      [0, 'cancelled'],
      [1, 'delivered'],
    ] as const) {
      const { status, json } = await world.post(`${path}/${idOf(run)}/cancel`)
      expect([status, json.code]).toEqual([409, 'CONFLICT'])
      expect(json.error).toContain(state)
    }
  })

  test('that failed since a given time can be sent again together', async () => {
    const { path, rows, keyOf, idOf, end } = await workflowWith(['a', 'b'], 3)
    for (const run of [0, 1, 2]) await end(keyOf(run), failed)
    await end(keyOf(2, 1), delivered)
    const list = async (state: string) => idsOf((await world.get(`${path}?state=${state}`)).json)
    const since = new Date(sequenceTime(rows[1]!.sequence)).toISOString()
    expect((await world.post(`${path}/resend-failed`, { since: '2999-01-01' })).json).toEqual({ resent: 0 })
    // Runs may have been recorded in the same millisecond.
    const earlier = [0].filter((run) => rows[run]!.sequence < sequenceAt(Date.parse(since)))
    const { json } = await world.post(`${path}/resend-failed`, { since })
    expect(json).toEqual({ resent: 3 - earlier.length })
    expect(await list('failed')).toEqual(earlier.map((run) => idOf(run)))
    expect(await list('delivered')).toEqual([idOf(2, 1)])
    for (const body of [{}, { since: 5 }, { since: 'yesterday' }, []]) {
      const refused = await world.post(`${path}/resend-failed`, body)
      expect([refused.status, refused.json.details[0].path]).toEqual([400, 'since'])
    }
  })
})

/** The millisecond in which a sequence number was recorded. */
function sequenceTime(sequence: number): number {
  return Math.floor(sequence / 8_192) + 1_735_689_600_000
}

describe('the explanation why a run was delivered or not', () => {
  test('lists a decision for every subscription that existed when the run ended', async () => {
    const workflowId = await world.workflow()
    const numbers = new Map<string, number>()
    for (const id of ['switched-off', 'errors', 'chats', 'waits', 'tries', 'took', 'gave-up', 'stopped']) {
      numbers.set(id, (await world.store.createSubscription(workflowId, newSubscription(id), 1)).number)
    }
    const numberOf = (id: string) => numbers.get(id)!
    const sent = ['waits', 'tries', 'took', 'gave-up', 'stopped']
    const { sequence } = await world.log(workflowId, {
      endedAt,
      webhooks: {
        deliveries: sent.map((id) => ({ subscription: numberOf(id), include: 0 })),
        skipped: [
          { subscription: numberOf('switched-off'), reason: 'inactive' },
          { subscription: numberOf('errors'), reason: 'level' },
          { subscription: numberOf('chats'), reason: 'trigger' },
        ],
        facts: null,
      },
    })
    const end = (id: string, outcome: AttemptOutcome) =>
      world.store.endAttempts([endedAttempt({ sequence, subscription: numberOf(id) }, outcome)])
    await end('tries', { state: 'pending', dueAt: endedAt + 5_000 })
    await end('took', delivered)
    await end('gave-up', failed)
    await world.store.cancelDelivery({ sequence, subscription: numberOf('stopped') })
    await world.store.deleteSubscription(workflowId, 'took', 99)
    await world.store.createSubscription(workflowId, newSubscription('later'), 100)

    const { json } = await world.get(`/api/v1/logs/${logIdOf(sequence)}/webhooks`)
    expect(json.data.map(({ webhookId, decision }: Parsed) => [webhookId, decision])).toEqual([
      ['switched-off', 'inactive'],
      ['errors', 'filtered_by_level'],
      ['chats', 'filtered_by_trigger'],
      ['waits', 'queued'],
      ['tries', 'queued'],
      ['took', 'delivered'],
      ['gave-up', 'failed'],
      ['stopped', 'cancelled'],
    ])
    const [off, , , , tries] = json.data
    expect(off).toMatchObject({ reason: 'The webhook was switched off when the run ended.', delivery: null })
    expect(tries.reason).toMatch(/^1 attempt failed\. .*due at 2025-06-01T12:00:05\.000Z\.$/)
    const { delivery } = tries
    expect((await world.get(`/api/workflows/${workflowId}/deliveries/${delivery.id}`)).json).toMatchObject(delivery)
    expect(json.limits.usage).toMatchObject({ plan: 'enterprise' })
  })

  test('is empty for a workflow without subscriptions, and not found without a log entry', async () => {
    const { sequence } = await world.log(await world.workflow())
    expect((await world.get(`/api/v1/logs/${logIdOf(sequence)}/webhooks`)).json.data).toEqual([])
    expect((await world.get('/api/v1/logs/log_00000000000/webhooks')).status).toBe(404)
  })
})
