import { expect, test } from 'bun:test'
import { RateLimiter } from '../../../src/accounts/rate-limit.ts'
import { sendMail } from '../../../src/webhooks/mail.ts'
import { ManualClock } from '../../support/clock.ts'

const body = JSON.stringify({ text: 'It failed', data: { alert: { name: 'Orders' }, executionId: 'run-1' } })
const to = ['ada@example.com', 'bob@example.com', 'eve@example.com']
const delivery = { workspaceId: 'home', to, body, deliveryId: 'dlv_1', signal: new AbortController().signal }
const mailerRejecting = (rejected: string[]) => ({
  send: async () => ({ messageId: '<dlv_1@example.com>', accepted: ['ada@example.com'], rejected }),
})

test('an alert that reaches only some recipients is not delivered, and says who did not get it', async () => {
  expect(await sendMail({ mailer: mailerRejecting(['bob@example.com', 'eve@example.com']) }, delivery)).toEqual({
    ok: false,
    code: 'MAIL_ERROR',
    message: 'The mail server refused 2 of 3 recipients: bob@example.com, eve@example.com. The others got the message.',
  })
})

test('an alert that reaches all recipients is delivered', async () => {
  expect(await sendMail({ mailer: mailerRejecting([]) }, delivery)).toMatchObject({ ok: true, status: 250 })
})

test('an alert beyond the limit of its workspace is not sent now, and is repeated', async () => {
  const clock = new ManualClock()
  const limiter = new RateLimiter({ clock, windowMs: 3_600_000 })
  const takeMail = (workspaceId: string) => limiter.take(workspaceId, 1)
  const send = (workspaceId: string) =>
    sendMail({ mailer: mailerRejecting([]), takeMail }, { ...delivery, workspaceId })
  expect(await send('home')).toMatchObject({ ok: true })
  expect(await send('home')).toMatchObject({
    ok: false,
    // Deliveries repeat attempts that end with this code.
    code: 'CONNECTION_FAILED',
    message: expect.stringContaining('has sent 1 alerts by e-mail within an hour'),
  })
  expect(await send('other')).toMatchObject({ ok: true })
  clock.advance(3_600_000)
  expect(await send('home')).toMatchObject({ ok: true })
})
