import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import { credentialPlacesIn } from '../../../../src/domain/credential/names-in-document.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import { type Mail, MailError } from '../../../../src/domain/mail/mail.ts'
import { compilePlan } from '../../../../src/engine/compile/plan.ts'
import { block, document } from '../../../support/make.ts'
import { ModelServer } from '../../../support/models/model-server.ts'
import { outboundOf } from '../../../support/outbound/peers.ts'
import { World } from '../../engine/world.ts'

const outbound = outboundOf(['loopback'])
let sent: { mail: Mail; credential: string }[] = []
beforeEach(() => {
  sent = []
})
const world = new World({
  ...{ fetch: outbound.fetch, open: outbound.open },
  sendMail: async (_, mail, { credential }) => {
    if (mail.subject === 'Refuse') throw new MailError('MESSAGE_REFUSED', 'The server refused the message.')
    sent.push({ mail, credential })
    return { messageId: mail.messageId, accepted: mail.to.map(({ address }) => address), rejected: [] }
  },
})
afterAll(async () => {
  outbound.stop()
  await world.stop()
})

const settings = { credential: 'mail', from: 'Shop <shop@example.com>', recipients: 'ann@example.com, Bob@example.com' }

const agentWith = (server: { url: string }, tool: object) =>
  document({
    blocks: [
      block('in', 'api_trigger'),
      block('ask', 'agent', {
        ...{ provider: 'openai-compatible', model: 'm', baseUrl: server.url, apiKey: 'key', userPrompt: 'Go' },
        ...{ retries: 0, tools: [{ type: 'email', ...tool }] },
      }),
    ],
    edges: ['in > ask'],
  })

/** Runs an agent whose model sends these messages, one in each response. Returns the results. */
async function send(mails: readonly object[], tool: object = settings, input: object = {}, executionId = 'run') {
  const each = mails.map((args, at) => ({
    toolCalls: [{ id: `c${at}`, name: 'send_email', arguments: JSON.stringify(args) }],
  }))
  await using server = await ModelServer.start([...each, { text: ['Done'] }])
  const { record } = await world.run(agentWith(server, tool), input, { executionId })
  const { toolCalls = [] } = (record.output ?? {}) as { toolCalls?: { result: unknown }[] }
  return { record, requests: server.requests, results: toolCalls.map(({ result }) => result) }
}

const mailTo = (to: unknown, subject = 'Hello') => ({ to, subject, text: 'Hi' })

describe('a model with e-mail as a tool', () => {
  test('writes the message, and the author sets the sender and the server', async () => {
    const { results, requests } = await send([mailTo(['ann@example.com', 'bob@EXAMPLE.com'])])
    expect(results).toEqual([{ accepted: ['ann@example.com', 'bob@example.com'], rejected: [] }])
    expect(sent).toMatchObject([
      { credential: 'mail', mail: { from: { address: 'shop@example.com' }, subject: 'Hello', text: 'Hi', bcc: [] } },
    ])
    const [{ function: shown }] = requests[0]!.body['tools'] as [{ function: { parameters: { properties: object } } }]
    expect(Object.keys(shown.parameters.properties)).toEqual(['to', 'subject', 'text'])
  })

  test.each([
    [mailTo(['eve@example.com']), 'RECIPIENT_REFUSED'],
    [mailTo(['ann@example.com', 'eve@example.com']), 'RECIPIENT_REFUSED'],
    [mailTo(['ann@example.com, eve@example.com']), 'RECIPIENT_REFUSED'],
    [mailTo(['ann@example.com <eve@example.com>']), 'RECIPIENT_REFUSED'],
    [mailTo(['ann@example.com\r\nBcc: eve@example.com']), 'INVALID_PARAMETER'],
    [mailTo('ann@example.com'), 'INVALID_ARGUMENTS'],
    [{ ...mailTo(['ann@example.com']), bcc: 'eve@example.com' }, 'INVALID_ARGUMENTS'],
    [{ ...mailTo(['ann@example.com']), from: 'ceo@example.com' }, 'INVALID_ARGUMENTS'],
    [mailTo(['ann@example.com'], 'Refuse'), 'MESSAGE_REFUSED'],
  ])('sends nothing for the arguments %j, and learns why', async (args, code) => {
    const { results, record } = await send([args])
    expect(record.failure).toBeNull()
    expect(results).toMatchObject([{ error: { code } }])
    expect(sent).toEqual([])
  })

  test('sends to the address of a reference, and nothing if the reference has no value', async () => {
    const tool = { ...settings, recipients: '<in.input.customer>' }
    await send([mailTo(['cy@example.com'])], tool, { customer: 'Cy <cy@example.com>' })
    expect(sent).toHaveLength(1)
    const { record, requests } = await send([mailTo(['cy@example.com'])], tool)
    expect(record.failure?.message).toContain('"recipients" is not valid')
    expect(requests).toEqual([])
    expect(sent).toHaveLength(1)
  })

  test('gives a message the same ID when a run repeats it, and another message another one', async () => {
    await send([mailTo(['ann@example.com']), mailTo(['ann@example.com'])])
    await send([mailTo(['ann@example.com']), mailTo(['ann@example.com'], 'Other')])
    const [first, second, repeated, other] = sent.map(({ mail }) => mail.messageId)
    expect(repeated).toBe(first!)
    expect(new Set([first, second, other]).size).toBe(3)
  })

  test('is checked when the workflow is deployed', () => {
    const faults = (tool: object) => {
      const { findings } = compilePlan(agentWith({ url: 'http://127.0.0.1:1' }, tool), registry, defaultLimits)
      return findings.flatMap(({ level, path }) => (level === 'error' ? [path?.split('params.')[1]] : []))
    }
    expect(faults(settings)).toEqual([])
    expect(faults({})).toEqual(['tools.0.credential', 'tools.0.from', 'tools.0.recipients'])
    const places = credentialPlacesIn(agentWith({ url: 'http://127.0.0.1:1' }, settings))
    expect(places).toEqual([{ blockId: 'ask', path: 'tools.0.credential', name: 'mail' }])
  })
})
