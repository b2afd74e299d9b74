import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { signatureOf, webhookHeaders } from '../../../src/webhooks/sign.ts'

const request = { event: 'completed' as const, deliveryId: 'dlv_x', at: 1_750_000_000_123, body: '{"id":"evt_ä"}' }

test('a signature is the time, and the digest of time, dot and body in lower-case hex', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.json({ maxDepth: 3 }),
      fc.nat({ max: 2 ** 42 }),
      (secret, body, at) => {
        const digest = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
        expect(signatureOf({ at, body, secrets: [secret] })).toBe(`t=${at},v1=${digest}`)
      },
    ),
  )
})

test('two secrets give two digests with one time, in their order', () => {
  const old = signatureOf({ ...request, secrets: ['old'] })
  const fresh = signatureOf({ ...request, secrets: ['new'] })
  expect(signatureOf({ ...request, secrets: ['old', 'new'] })).toBe(`${old},${fresh.split(',')[1]}`)
})

test('an attempt names its event, time and delivery, and is signed if there is a secret', () => {
  const headers = Object.fromEntries(webhookHeaders({ ...request, secrets: ['s'] }))
  expect(headers).toEqual({
    'Content-Type': 'application/json',
    'svc-event': 'workflow.execution.completed',
    'svc-timestamp': '1750000000123',
    'svc-delivery-id': 'dlv_x',
    'Idempotency-Key': 'dlv_x',
    'svc-signature': signatureOf({ ...request, secrets: ['s'] }),
  })
  const unsigned = webhookHeaders({ ...request, secrets: [] }).map(([name]) => name)
  expect(unsigned).toEqual(['Content-Type', 'svc-event', 'svc-timestamp', 'svc-delivery-id', 'Idempotency-Key'])
})
