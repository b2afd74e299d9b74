import { expect, test } from 'bun:test'
import { Alerts } from '../../../src/alerts/alerts.ts'
import { ManualClock } from '../../support/clock.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

test('an alert goes only to addresses that a mail server can accept', async () => {
  const unreached = () => Promise.reject(new Error('The store was asked'))
  const alerts = new Alerts({
    store: {
      ...{ listAlerts: unreached, getAlert: unreached, createAlert: unreached },
      ...{ changeAlert: unreached, deleteAlert: unreached },
    },
    ...{ sendsMail: true, clock: new ManualClock() },
    seal: () => new Uint8Array(),
    urlProblem: () => undefined,
    onChange: () => {},
  })
  for (const address of ['ada\u0000@example.com', 'ada@127.0.0.1', '"ada"@example.com', 'ada@-example.com']) {
    const channel = { type: 'email' as const, to: ['bob@example.com', address] }
    const created = alerts.create('home', { name: 'Tell me', events: ['run.failed'], workflows: 'all', channel }, 'ada')
    const details = [{ path: 'channel.to', message: expect.stringContaining('is not a valid e-mail address') }]
    expect(await rejectionOf(created)).toMatchObject({ code: 'INVALID_INPUT', details })
  }
})
