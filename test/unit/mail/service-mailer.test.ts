import { describe, expect, test } from 'bun:test'
import type { MailError } from '../../../src/domain/mail/mail.ts'
import { connectBy } from '../../../src/mail/connect.ts'
import { ServiceMailer } from '../../../src/mail/service-mailer.ts'
import { readServiceMail } from '../../../src/mail/smtp-url.ts'
import { tcpTargets } from '../../../src/outbound/tcp-target.ts'
import { ManualClock } from '../../support/clock.ts'
import { SmtpPeer } from '../../support/mail/smtp-peer.ts'
import { allowList } from '../../support/outbound/peers.ts'

function mailerOf(peer: Pick<SmtpPeer, 'port'>, { password = 'open sesame' } = {}) {
  const reading = readServiceMail({
    smtpUrl: `smtp://ada:${encodeURIComponent(password)}@127.0.0.1:${peer.port}?tls=none`,
    smtpFrom: 'Millrace <millrace@example.com>',
  })
  if (!reading.ok || !reading.mail) throw new Error('The settings of this test are not valid')
  const lost: { error: MailError; attempts: number }[] = []
  const clock = new ManualClock()
  let keys = 0
  const mailer = new ServiceMailer({
    ...{ ...reading.mail, clock },
    connect: connectBy(tcpTargets({ allow: allowList(['loopback']) })),
    newKey: () => {
      keys += 1
      return `key-${keys}`
    },
    onLost: (error, attempts) => void lost.push({ error, attempts }),
  })
  return { mailer, clock, lost }
}

const mail = { to: ['bob@example.com'], subject: 'It failed\r\nBcc: eve@example.com', text: 'Look.' }

describe('the mailer of the service', () => {
  test('sends a message at once', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    const { mailer } = mailerOf(peer)
    expect(await mailer.send({ ...mail, key: 'alert-1' })).toMatchObject({
      messageId: '<alert-1@example.com>',
      accepted: ['bob@example.com'],
    })
    const [received] = peer.received
    expect(received).toMatchObject({ from: 'millrace@example.com', to: ['bob@example.com'], user: 'ada' })
    expect(received!.text).toContain('From: Millrace <millrace@example.com>')
    expect(received!.text).toContain('Subject: It failed Bcc: eve@example.com')
    mailer.stop()
  })

  test('sends one message after the other', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    const { mailer } = mailerOf(peer)
    await Promise.all(Array.from({ length: 5 }, (_, at) => mailer.send({ ...mail, subject: `Number ${at}` })))
    const subjects = peer.received.map(({ text }) => /Subject: Number (\d)/.exec(text)?.[1])
    expect(subjects.join('')).toBe('01234')
    mailer.stop()
  })

  test('lets a cancelled message leave the queue while a server is silent', async () => {
    using silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const { mailer } = mailerOf(silent)
    mailer.post(mail)
    const cancelled = new AbortController()
    const sent = mailer.send(mail, cancelled.signal).catch((error: MailError) => error.code)
    cancelled.abort()
    expect(await sent).toBe('CANCELLED')
    mailer.stop()
  })

  test('tries a posted message again, with the same ID', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    peer.deferred = 2
    const { mailer, clock, lost } = mailerOf(peer)
    mailer.post(mail)
    for (const delayMs of [60_000, 300_000]) {
      while (clock.nextInMs !== delayMs) await Bun.sleep(5)
      clock.advance(delayMs)
    }
    while (peer.received.length === 0) await Bun.sleep(5)
    expect(peer.received[0]!.text).toContain('Message-ID: <key-1@example.com>')
    expect(lost).toEqual([])
    mailer.stop()
  })

  test('gives up a message that the server refuses, and hides the password', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    const { mailer, lost } = mailerOf(peer, { password: 'close barley' })
    mailer.post(mail)
    while (lost.length === 0) await Bun.sleep(5)
    expect(lost[0]).toMatchObject({ attempts: 1, error: { code: 'LOGIN_FAILED' } })
    expect(lost[0]!.error.message).toContain('{{MILLRACE_SMTP_URL}}')
    expect(Bun.inspect(lost)).not.toContain('close barley')
    mailer.stop()
  })

  test('keeps places for other workspaces and for sign-in links while one workspace has many messages', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    const { mailer, lost } = mailerOf(peer)
    for (let count = 0; count < 1_000; count += 1) mailer.post(mail, 'busy')
    const lostOfBusy = lost.length
    expect(lostOfBusy).toBeGreaterThan(400)
    expect(lost[0]!.error).toMatchObject({
      code: 'OVERLOADED',
      message: 'Too many e-mails of the workspace busy wait to be sent.',
    })
    for (let count = 0; count < 100; count += 1) mailer.post(mail, 'quiet')
    for (let count = 0; count < 100; count += 1) mailer.post({ ...mail, to: [`person-${count}@example.com`] })
    expect(lost.length).toBe(lostOfBusy)
    mailer.stop()
  })

  test('returns the places of messages that were given up', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    const { mailer, lost } = mailerOf(peer)
    mailer.stop()
    for (const total of [300, 600]) {
      for (let count = 0; count < 300; count += 1) mailer.post(mail, 'busy')
      while (lost.length < total) await Bun.sleep(5)
    }
    expect(lost.filter(({ error }) => error.code === 'OVERLOADED')).toEqual([])
  })

  test('gives up what waits when it stops', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    peer.deferred = 1
    const { mailer, lost } = mailerOf(peer)
    mailer.post(mail)
    while (peer.deferred > 0) await Bun.sleep(5)
    mailer.stop()
    while (lost.length === 0) await Bun.sleep(5)
    expect(peer.received).toEqual([])
  })
})

describe('the settings of the mailer', () => {
  const read = (smtpUrl: string, smtpFrom?: string) => readServiceMail({ smtpUrl, smtpFrom })

  test.each([
    [
      'smtps://a%40b.example:p%3Aw@mail.example',
      { host: 'mail.example', port: 465, tls: 'implicit', user: 'a@b.example', password: 'p:w' },
    ],
    ['smtp://a%40b.example:pw@mail.example', { host: 'mail.example', port: 587, tls: 'starttls' }],
    ['smtp://a%40b.example:pw@[::1]:2525?tls=none', { host: '::1', port: 2525, tls: 'none' }],
  ])('%s is a server', (url, server) => {
    expect(read(url)).toMatchObject({ ok: true, mail: { server, from: { address: 'a@b.example' } } })
  })

  test.each([
    ['http://mail.example', undefined, 'MILLRACE_SMTP_URL must be'],
    ['smtps://a%40b.example:secret-pw@mail.example?tls=none', undefined, 'the only option'],
    ['smtps://ada:secret-pw@mail.example', undefined, 'MILLRACE_SMTP_FROM is needed'],
    ['smtps://ada:secret-pw@mail.example', 'nobody', 'MILLRACE_SMTP_FROM is not valid'],
    ['smtps://ada:secret-pw%zz@mail.example', 'a@b.example', 'special characters'],
  ])('%s from %s is refused, without the password', (url, from, message) => {
    const reading = read(url, from)
    expect(reading).toMatchObject({ ok: false, message: expect.stringContaining(message) })
    expect(JSON.stringify(reading)).not.toContain('secret-pw')
  })
})
