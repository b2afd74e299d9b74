import { expect, test } from 'bun:test'
import { sendMail } from '../../../src/webhooks/mail.ts'

const body = JSON.stringify({ text: 'It failed', data: { alert: { name: 'Orders' }, executionId: 'run-1' } })
const to = ['ada@example.com', 'bob@example.com', 'eve@example.com']
const delivery = { to, body, deliveryId: 'dlv_1', signal: new AbortController().signal }
const mailerRejecting = (rejected: string[]) => ({
  send: async () => ({ messageId: '<dlv_1@example.com>', accepted: ['ada@example.com'], rejected }),
})

test('an alert that reaches only some recipients is not delivered, and says who did not get it', async () => {
  expect(await sendMail(mailerRejecting(['bob@example.com', 'eve@example.com']), delivery)).toEqual({
    ok: false,
    code: 'MAIL_ERROR',
    message: 'The mail server refused 2 of 3 recipients: bob@example.com, eve@example.com. The others got the message.',
  })
})

test('an alert that reaches all recipients is delivered', async () => {
  expect(await sendMail(mailerRejecting([]), delivery)).toMatchObject({ ok: true, status: 250 })
})
