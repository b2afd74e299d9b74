import { expect, test } from 'bun:test'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { SmtpPeer } from '../../support/mail/smtp-peer.ts'

test('the command line invites people and sends links by e-mail, and prints neither link nor password', async () => {
  await using peer = await SmtpPeer.start({ plain: true })
  using folder = temporaryFolder()
  const environment = {
    MILLRACE_DATA: folder.path,
    MILLRACE_SMTP_URL: `smtp://ada:open%20sesame@127.0.0.1:${peer.port}?tls=none`,
    MILLRACE_SMTP_FROM: 'millrace@example.com',
    MILLRACE_BASE_URL: 'https://flows.example.com',
  }
  expect((await millrace(['init'], { environment })).code).toBe(0)
  const invited = await millrace(['users', 'create', 'bob@example.com', '--invite'], { environment })
  const linked = await millrace(['users', 'link', 'bob@example.com', '--send'], { environment })
  const tested = await millrace(['mail', 'carl@example.com'], { environment })
  expect([invited.code, linked.code, tested.code]).toEqual([0, 0, 0])
  expect(peer.received.map(({ to }) => to.join())).toEqual(['bob@example.com', 'bob@example.com', 'carl@example.com'])
  // The mail breaks long lines, in quoted-printable.
  const texts = peer.received.map(({ text }) => text.replaceAll('=\r\n', ''))
  for (const text of texts.slice(0, 2)) expect(text).toContain('https://flows.example.com/sign-in?')
  const said = JSON.stringify([invited, linked, tested])
  expect(said).not.toContain('token=')
  expect(said).not.toContain('sesame')
}, 30_000)

test('a mail server that refuses the login is named, and doctor reports it', async () => {
  await using peer = await SmtpPeer.start({ plain: true })
  using folder = temporaryFolder()
  const environment = {
    MILLRACE_DATA: folder.path,
    MILLRACE_SMTP_URL: `smtp://ada:close%20barley@127.0.0.1:${peer.port}?tls=none`,
    MILLRACE_SMTP_FROM: 'millrace@example.com',
  }
  const { code, words } = await millrace(['mail', 'carl@example.com'], { environment })
  expect(code).toBe(1)
  expect(words).toContain('The login at 127.0.0.1 failed')
  const doctor = await millrace(['doctor', '--json'], { environment })
  expect(doctor.out).toContain('"check": "mail"')
  expect(words + doctor.out).not.toContain('close barley')
  const none = await millrace(['mail', 'carl@example.com'], { environment: { MILLRACE_DATA: folder.path } })
  expect([none.code, none.words]).toEqual([2, expect.stringContaining('MILLRACE_SMTP_URL')])
}, 30_000)
