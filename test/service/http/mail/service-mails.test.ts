import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SmtpPeer } from '../../../support/mail/smtp-peer.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let peer: SmtpPeer
let owner: string

beforeAll(async () => {
  peer = await SmtpPeer.start({ plain: true })
  world = await ExecutionWorld.open({
    'smtp-url': `smtp://ada:open%20sesame@127.0.0.1:${peer.port}?tls=none`,
    'smtp-from': 'Millrace <millrace@example.com>',
  })
  const [row] = (await world.rows('SELECT email FROM users')) as { email: string }[]
  owner = row!.email
})
afterAll(async () => {
  await world.close()
  await peer[Symbol.asyncDispose]()
})

async function received(count: number) {
  while (peer.received.length < count) await Bun.sleep(10)
  return peer.received.splice(0)
}

const fromPage = { 'sec-fetch-site': 'same-origin' }
const askFor = (email: string) =>
  world.call('/api/session/link', { key: null, method: 'POST', body: { email }, headers: fromPage })

test('a person who forgot the password gets a link that signs in once, and a stranger gets the same response', async () => {
  expect((await world.call('/api/session/link', { key: null })).json).toEqual({ available: true })
  const strange = await askFor('nobody@example.com')
  const known = await askFor(owner)
  expect([strange.status, strange.json]).toEqual([known.status, known.json])
  expect(known.status).toBe(202)
  const [mail, ...others] = await received(1)
  expect(others).toEqual([])
  expect(mail!.to).toEqual([owner])
  const text = mail!.text.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const [, token] = /\/sign-in\?token=([\w-]+)/.exec(text) ?? []
  const visit = () => fetch(`${world.url}/sign-in?token=${token}`, { redirect: 'manual' })
  expect((await visit()).headers.get('set-cookie')).toContain('HttpOnly')
  expect((await visit()).headers.get('location')).toContain('link=used')
})

test('an account gets at most three links an hour', async () => {
  for (let count = 0; count < 5; count += 1) expect((await askFor(owner)).status).toBe(202)
  await received(2)
  await Bun.sleep(100)
  expect(peer.received).toEqual([])
})

test('another page cannot ask for links', async () => {
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
  const { status } = await world.call('/api/session/link', {
    key: null,
    method: 'POST',
    body: { email: owner },
    headers,
  })
  expect(status).toBe(403)
})

test('the members that an approval names get a link by e-mail, and nobody else does', async () => {
  const approval = { title: 'Pay 7?', message: 'To Ada', access: 'accounts', accounts: [owner, 'stranger@example.com'] }
  const id = await world.deploy(
    document({
      name: 'Approval',
      blocks: [block('start', 'api_trigger'), block('ask', 'approval', approval)],
      edges: ['start > ask'],
    }),
  )
  const { status } = await world.call(`/api/workflows/${id}/execute`, {
    body: {},
    headers: { 'x-execution-mode': 'async' },
  })
  expect(status).toBe(202)
  const [mail] = await received(1)
  expect(mail).toMatchObject({ from: 'millrace@example.com', to: [owner] })
  expect(mail!.text).toContain('Subject: Approval needed: Pay 7?')
  expect(mail!.text).toContain('/pause')
  await Bun.sleep(100)
  expect(peer.received).toEqual([])
})
