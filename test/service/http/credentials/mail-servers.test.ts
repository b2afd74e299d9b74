import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { authority, SmtpPeer } from '../../../support/mail/smtp-peer.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let credentials: string
let peer: SmtpPeer

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  credentials = `/api/workspaces/${world.workspaceId}/credentials`
  peer = await SmtpPeer.start()
})
afterAll(async () => {
  await world.close()
  await peer[Symbol.asyncDispose]()
})

async function create(name: string, password: string, more: object = {}) {
  const fields = { host: '127.0.0.1', port: String(peer.port), tls: 'starttls', user: 'ada', authority, ...more }
  return await world.call(credentials, { body: { name, kind: 'smtp', fields, secrets: { password } } })
}

describe('a credential for a mail server', () => {
  test('needs no hosts, and its test logs in', async () => {
    expect((await create('right', 'open sesame')).status).toBe(201)
    const { json } = await world.call(`${credentials}/right/test`, { body: {} })
    expect(json).toEqual({ ok: true })
    expect(peer.received).toEqual([])
  })

  test('shows in its test what the server said, without the password', async () => {
    await create('wrong', 'close barley')
    const { json } = await world.call(`${credentials}/wrong/test`, { body: {} })
    expect(json.ok).toBe(false)
    expect(json.error).toContain('The login at 127.0.0.1 failed')
    expect(json.error).toContain('{{wrong}}')
    expect(JSON.stringify(json)).not.toContain('close barley')
  })

  test('must have a host, and a port that is one', async () => {
    const { status, json } = await create('odd', 'x', { host: '', port: '99999', tls: 'ssl' })
    expect(status).toBe(400)
    expect(json.details.map(({ path }: { path: string }) => path)).toEqual(['fields.host', 'fields.port', 'fields.tls'])
  })

  test('sends the e-mails of a workflow, and its log has no password', async () => {
    await create('mail', 'open sesame')
    await create('broken', 'close barley')
    const email = (credential: string) =>
      block(credential, 'email', {
        ...{ credential, from: 'Shop <shop@example.com>', to: '<start.to>', subject: 'Order <start.number>' },
        ...{ html: '<p>Thank you</p>', onError: 'continue' },
      })
    const id = await world.deploy(
      document({
        name: 'Mail',
        blocks: [
          block('start', 'api_trigger', {
            inputFormat: [
              { name: 'to', type: 'array' },
              { name: 'number', type: 'number' },
            ],
          }),
          email('mail'),
          email('broken'),
          block('end', 'response', { data: { sent: '<mail.accepted>', error: '<broken.error>' } }),
        ],
        edges: ['start > mail', 'mail > broken', 'broken > end'],
      }),
    )
    const input = { to: ['bob@example.com', 'Cy <cy@example.com>'], number: 7 }
    const { json } = await world.call(`/api/workflows/${id}/execute`, { body: input })
    const { sent, error } = json.output ?? json
    expect(sent).toEqual(['bob@example.com', 'cy@example.com'])
    expect(error).toMatchObject({ code: 'LOGIN_FAILED', status: 535 })
    expect(peer.received).toHaveLength(1)
    expect(peer.received[0]!.text).toContain('Subject: Order 7')
    const list = `/api/v1/logs?workspaceId=${world.workspaceId}&details=full&includeTraceSpans=true&limit=1`
    const log = JSON.stringify((await world.call(list)).json)
    expect(log).toContain('LOGIN_FAILED')
    expect(log).not.toMatch(/open sesame|close barley/)
    const { json: listed } = await world.call(credentials)
    const states = Object.fromEntries(
      listed.data.map((each: { name: string; state: string }) => [each.name, each.state]),
    )
    expect(states).toMatchObject({ mail: expect.stringMatching(/ok|untested/), broken: expect.any(String) })
  })
})
