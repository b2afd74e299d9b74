import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Environment, noEnvironment } from '../../../src/domain/account/environment.ts'
import type { OutboundPost } from '../../../src/domain/outbound-request.ts'
import type { SubscriptionRow } from '../../../src/domain/webhook/subscription.ts'
import { Receivers } from '../../../src/webhooks/receivers.ts'
import { signatureOf } from '../../../src/webhooks/sign.ts'
import { TestDeliveries } from '../../../src/webhooks/test-delivery.ts'
import { accepted, OutboxWorld, responded } from '../../support/webhooks/outbox-world.ts'

let world: OutboxWorld
let workflow: { id: string; workspaceId: string }
/** How often a secret was opened. */
let opened: number
let environment: Environment
let sent: OutboundPost[]

const receiving = {
  openSecret(sealed: Uint8Array) {
    opened += 1
    return new TextDecoder().decode(sealed)
  },
  environmentOf: () => environment,
  post(request: OutboundPost) {
    sent.push(request)
    return Promise.resolve(world.post(request, ''))
  },
}

beforeEach(async () => {
  opened = 0
  environment = withVariable('x')
  sent = []
  world = await OutboxWorld.open(receiving)
  workflow = { id: world.home.workflowId, workspaceId: world.home.workspaceId }
})
afterEach(async () => {
  expect(world.bugs).toEqual([])
  await world.close()
})

/** A new environment of the workspace, as after a change. */
function withVariable(value: string): Environment {
  return { ...noEnvironment, values: new Map([['MORE', value]]) }
}

function subscribe(): Promise<SubscriptionRow> {
  return world.subscriptions.create(workflow, { id: 'a', url: 'https://a.example/', secret: 'one {{MORE}}' })
}

/** Whether the attempt made last was signed with these secrets, and with no other. */
function isSignedWith(...secrets: string[]): boolean {
  const { headers, body } = sent.at(-1)!
  const header = (wanted: string) => headers.find(([name]) => name === wanted)?.[1]
  return header('svc-signature') === signatureOf({ at: Number(header('svc-timestamp')), body, secrets })
}

test('the secrets of a receiver are in memory only while it has pending deliveries', async () => {
  const { number } = await subscribe()
  world.post = () => (sent.length <= 3 ? responded(500) : accepted)
  await world.record([world.row([number]), world.row([number]), world.row([number])])
  await world.quiet()
  await world.pass(5_500)
  expect([sent.length, opened]).toEqual([6, 1])
  await world.record([world.row([number])])
  await world.quiet()
  expect([sent.length, opened]).toEqual([7, 2])
})

test('a new secret, the end of the old one and a changed variable apply to the next attempt', async () => {
  const { number, id } = await subscribe()
  world.post = () => responded(500)
  await world.record([world.row([number])])
  await world.quiet()
  expect(isSignedWith('one x')).toBe(true)
  await world.subscriptions.rotate(workflow, id, 'two', 10_000)
  await world.pass(5_500)
  expect(isSignedWith('one x', 'two')).toBe(true)
  await world.pass(16_500)
  expect(isSignedWith('two')).toBe(true)
  await world.subscriptions.change(workflow, id, { secret: 'three {{MORE}}' })
  await world.pass(66_000)
  expect(isSignedWith('three x')).toBe(true)
  environment = withVariable('y')
  await world.pass(198_000)
  expect(isSignedWith('three y')).toBe(true)
  expect(sent).toHaveLength(5)
})

test('a test delivery keeps no secret in memory', async () => {
  const subscription = await subscribe()
  const { store, clock, subscriptions } = world
  const window = { limit: 1, remaining: 1, resetAt: 0 }
  const testDeliveries = new TestDeliveries({
    ...{ ...receiving, store, clock, subscriptionsOf: subscriptions.of, random: Math.random, timeoutMs: 30_000 },
    limitsOf: () =>
      Promise.resolve({
        workflowExecutionRateLimit: { sync: window, async: window },
        usage: { currentPeriodCost: 0, limit: 1, plan: 'free', isExceeded: false },
      }),
  })
  for (const _ of [1, 2]) await testDeliveries.run(subscription, new AbortController().signal)
  expect([sent.length, opened]).toEqual([2, 2])
})

test('the owners of ten thousand subscriptions are remembered, and those of others are read again', async () => {
  const row = await subscribe()
  let asked = 0
  let lookUps = 0
  const receivers = new Receivers({
    ...{ ...receiving, clock: world.clock },
    subscriptionsOf: () => [{ ...row, number: asked }],
    store: {
      async getSubscriptions([number = 0]) {
        lookUps += 1
        return [{ ...row, number }]
      },
      findAlerts: async () => [],
    },
  })
  const ask = async (number: number) => {
    asked = number
    await receivers.once(number)
    return lookUps
  }
  for (let number = 0; number <= 10_000; number += 1) await ask(number)
  expect([await ask(10_000), await ask(1), await ask(0)]).toEqual([10_001, 10_001, 10_002])
})
