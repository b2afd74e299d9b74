import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ImapPeer } from '../../../support/mail/imap-peer.ts'
import { messageOf } from '../../../support/mail/messages.ts'
import { authority } from '../../../support/mail/smtp-peer.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let peer: ImapPeer

beforeAll(async () => {
  peer = await ImapPeer.start()
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  await credential('inbox', 'open sesame')
  await credential('wrong', 'close barley')
})
afterAll(async () => {
  await world.close()
  await peer[Symbol.asyncDispose]()
})

async function credential(name: string, password: string) {
  const fields = { host: '127.0.0.1', port: String(peer.securePort), user: 'ada', authority }
  const path = `/api/workspaces/${world.workspaceId}/credentials`
  const { status } = await world.call(path, { body: { name, kind: 'imap', fields, secrets: { password } } })
  expect(status).toBe(201)
}

const names = ['from', 'fromName', 'to', 'subject', 'text', 'date', 'attachments', 'problem']
const outputs = Object.fromEntries(names.map((name) => [name, `<mail.${name}>`]))

/** Deploys a workflow that is started by messages, and waits until it watches the mailbox. */
async function watching(params: object): Promise<string> {
  const id = await world.deploy(
    document({
      name: 'Inbox',
      blocks: [
        block('mail', 'email_trigger', { credential: 'inbox', ...params }),
        block('end', 'response', { data: { mail: outputs, file: '<mail.attachments[0].name>' } }),
      ],
      edges: ['mail > end'],
    }),
  )
  await until(async () => (await stateOf(id)).state !== null || (await stateOf(id)).error !== null)
  return id
}

async function stateOf(workflowId: string) {
  const [row] = await world.polls(workflowId)
  return row ?? { state: null, error: null, failures: 0 }
}

type Entry = { trigger: string; source: string | null; output: { mail: Record<string, unknown>; file: string } }

async function entriesOf(workflowId: string): Promise<Entry[]> {
  const list = `/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${workflowId}&details=full&includeFinalOutput=true`
  const { json } = await world.call(list)
  return json.data.map((each: Record<string, unknown>) => ({
    ...each,
    output: (each['finalOutput'] as { data: Entry['output'] }).data,
  }))
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(20)
}

async function entriesAfter(workflowId: string, count: number): Promise<Entry[]> {
  await until(async () => (await entriesOf(workflowId)).length >= count)
  return await entriesOf(workflowId)
}

describe('an e-mail trigger', () => {
  test('starts a run for each new message, with its attachments, and marks it as read', async () => {
    peer.deliver(messageOf({ subject: 'Too early' }))
    const id = await watching({})
    peer.deliver(messageOf({ subject: 'Order 7', text: 'Two, please', file: { name: 'order.csv', text: 'a,b' } }))
    const [entry] = await entriesAfter(id, 1)
    expect(entry).toMatchObject({ trigger: 'webhook', source: 'email' })
    const { mail, file } = entry!.output
    expect(mail).toMatchObject({
      ...{ from: 'ada@example.com', fromName: 'Ada', to: ['shop@example.com'], subject: 'Order 7' },
      ...{ date: '2026-11-28T10:00:00.000Z', problem: null },
      attachments: [{ name: 'order.csv', type: 'text/csv', size: 3 }],
    })
    expect(String(mail['text']).trim()).toBe('Two, please')
    expect(file).toBe('order.csv')
    await until(async () => peer.isSeen('Order 7'))
    expect(peer.isSeen('Too early')).toBe(false)
    peer.deliver(messageOf({ subject: 'Order 8' }))
    expect(await entriesAfter(id, 2)).toHaveLength(2)
    await world.call(`/api/workflows/${id}`, { method: 'DELETE' })
  }, 60_000)

  test('takes only messages that fit its filters, and shares the connection with other triggers', async () => {
    const id = await watching({ from: 'carl@', subject: 'invoice', markSeen: false, attachments: false })
    const all = await watching({})
    peer.deliver(messageOf({ from: 'carl@example.com', subject: 'Hello' }))
    peer.deliver(messageOf({ from: 'di@example.com', subject: 'Your invoice' }))
    peer.deliver(
      messageOf({ from: 'Carl <carl@example.com>', subject: 'Your Invoice', file: { name: 'a', text: 'a' } }),
    )
    expect(await entriesAfter(all, 3)).toHaveLength(3)
    const entries = await entriesAfter(id, 1)
    expect(entries.map(({ output }) => output.mail['subject'])).toEqual(['Your Invoice'])
    expect(entries[0]!.output.mail['attachments']).toEqual([])
    for (const each of [id, all]) await world.call(`/api/workflows/${each}`, { method: 'DELETE' })
  }, 60_000)

  test('misses no message while the server or the service is down, and takes none twice', async () => {
    const id = await watching({})
    peer.deliver(messageOf({ subject: 'One' }))
    await entriesAfter(id, 1)
    await peer.stop()
    peer.deliver(messageOf({ subject: 'Two' }))
    await until(async () => (await stateOf(id)).failures > 0)
    expect((await stateOf(id)).error).toContain('127.0.0.1')
    await peer.restart()
    await entriesAfter(id, 2)
    await world.restart()
    peer.deliver(messageOf({ subject: 'Three' }))
    const entries = await entriesAfter(id, 3)
    const subjects = entries.map(({ output }) => output.mail['subject'])
    expect(subjects.toSorted()).toEqual(['One', 'Three', 'Two'])
    expect((await stateOf(id)).error).toBeNull()
    await world.call(`/api/workflows/${id}`, { method: 'DELETE' })
  }, 60_000)

  test('says why it cannot read the mailbox, without the password', async () => {
    const wrong = await watching({ credential: 'wrong' })
    expect((await stateOf(wrong)).error).toContain('The login at 127.0.0.1 failed')
    const missing = await watching({ mailbox: 'Nowhere' })
    expect((await stateOf(missing)).error).toContain('The mailbox "Nowhere" could not be opened')
    expect(JSON.stringify([await stateOf(wrong), await stateOf(missing)])).not.toContain('close barley')
    for (const each of [wrong, missing]) await world.call(`/api/workflows/${each}`, { method: 'DELETE' })
  }, 60_000)

  test('its credential is tested by a login', async () => {
    const path = `/api/workspaces/${world.workspaceId}/credentials`
    expect((await world.call(`${path}/inbox/test`, { body: {} })).json).toEqual({ ok: true })
    const { json } = await world.call(`${path}/wrong/test`, { body: {} })
    expect(json).toMatchObject({ ok: false, error: expect.stringContaining('The login at 127.0.0.1 failed') })
  }, 60_000)
})
