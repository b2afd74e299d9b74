import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { replyLimits } from '../../../../src/assistant/budget.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import type { AssistantEvent } from '../../../../src/http/openapi/assistant-operation.ts'
import { ModelServer, type ScriptedResponse } from '../../../support/models/model-server.ts'
import { HttpWorld } from '../world.ts'

// The assistant with a stand-in for the operator's language model.

let script: (index: number) => ScriptedResponse = () => ({ text: ['Hello'] })
let models: ModelServer
let world: HttpWorld
beforeAll(async () => {
  models = await ModelServer.start(() => script(models.requests.length - 1 - first))
  world = await HttpWorld.open({
    bodyBytesMax: 500_000,
    flags: {
      'assistant-model': 'openai-compatible/gpt-5-mini',
      'assistant-base-url': models.url,
      'assistant-api-key': 'key-of-the-operator',
      'assistant-tokens-per-day': '5000000',
    },
  })
})
afterAll(async () => {
  await world?.close()
  await models?.[Symbol.asyncDispose]()
})

/** The number of requests before the present test. */
let first = 0

function say(...responses: readonly ScriptedResponse[]): void {
  first = models.requests.length
  script = (index) => responses[Math.min(index, responses.length - 1)] ?? {}
}

const seen = () => models.requests.slice(first)
const callOf = (name: string, given: object, id = 'c1') => ({
  toolCalls: [{ id, name, arguments: JSON.stringify(given) }],
  usage: { prompt: 1000, completion: 100 },
})
const done: ScriptedResponse = { text: ['Done', '.'], usage: { prompt: 2000, completion: 50 } }

const empty = { name: 'Greeting', blocks: {}, edges: [] } satisfies WorkflowDocument

function eventsIn(text: string): AssistantEvent[] {
  const lines = text.split('\n\n').flatMap((part) => (part.startsWith('data: ') ? [part.slice(6)] : []))
  expect(lines.at(-1)).toBe('[DONE]')
  return lines.slice(0, -1).map((line) => JSON.parse(line) as AssistantEvent)
}

async function ask(id: string, content: string, more: { document?: object; key?: string } = {}) {
  const { key, ...body } = more
  const messages = [{ role: 'user', content }]
  const options = key === undefined ? {} : { key }
  const { status, text } = await world.post(`/api/workflows/${id}/assistant`, { messages, ...body }, options)
  return { status, text, events: status === 200 ? eventsIn(text) : [] }
}

const start = { op: 'add_block', block: { id: 'start', type: 'api_trigger', name: 'Start' } }
const end = { op: 'add_block', block: { id: 'end', type: 'response', name: 'End', params: {} }, after: 'start' }

function eventsOf<Kind extends AssistantEvent['event']>(events: readonly AssistantEvent[], kind: Kind) {
  return events.filter((one): one is Extract<AssistantEvent, { event: Kind }> => one.event === kind)
}

describe('a description', () => {
  test('becomes a draft as changes, and nothing is saved', async () => {
    const id = await world.workflow(empty)
    say(
      callOf('describe_block', { type: 'api_trigger' }),
      callOf('edit_workflow', { workflowId: id, edits: [start, end] }),
      done,
    )
    const { events } = await ask(id, 'Respond to an API call.')
    const [proposal] = eventsOf(events, 'proposal')
    expect(proposal?.changes.map(({ path }) => path.join('.'))).toEqual([
      'blocks.start',
      'blocks.end',
      'edges.["start","source","end","target"]',
    ])
    expect(eventsOf(events, 'tool').map(({ name, status, subject }) => [name, status, subject])).toEqual([
      ['describe_block', 'started', 'api_trigger'],
      ['describe_block', 'succeeded', 'api_trigger'],
      ['edit_workflow', 'started', '2 edits'],
      ['edit_workflow', 'succeeded', '2 edits'],
    ])
    expect(
      eventsOf(events, 'text')
        .map(({ text }) => text)
        .join(''),
    ).toBe('Done.')
    expect((await world.get(`/api/workflows/${id}`)).json.blocks).toEqual({})
  })

  test('shows what all requests to the model cost together', async () => {
    const id = await world.workflow({ ...empty, name: 'Cost' })
    say(callOf('list_blocks', {}), done)
    const { events } = await ask(id, 'What can I use?')
    expect(eventsOf(events, 'cost').at(-1)).toEqual({
      event: 'cost',
      model: 'gpt-5-mini',
      tokens: { prompt: 3000, completion: 150, total: 3150 },
      usd: 0.00105,
    })
  })

  test('is sent with the key of the operator, and with tools that have no effects', async () => {
    const id = await world.workflow({ ...empty, name: 'Tools' })
    say(done)
    await ask(id, 'Hello')
    const [request] = seen()
    expect(request?.headers.authorization).toBe('Bearer key-of-the-operator')
    const { tools } = request!.body as { tools: { function: { name: string } }[] }
    const names = tools.map((tool) => tool.function.name)
    expect(names).toContain('edit_workflow')
    for (const name of ['create_workflow', 'deploy_workflow', 'run_draft']) expect(names).not.toContain(name)
  })
})

describe('a wrong edit', () => {
  test('goes back to the model, which corrects it', async () => {
    const id = await world.workflow({ ...empty, name: 'Wrong' })
    const wrong = { ...end, after: 'begin' }
    say(
      callOf('edit_workflow', { workflowId: id, edits: [start, wrong] }),
      callOf('edit_workflow', { workflowId: id, edits: [start, end] }),
      done,
    )
    const { events } = await ask(id, 'Respond.')
    const [failed] = eventsOf(events, 'tool').filter(({ status }) => status === 'failed')
    expect(failed?.message).toContain('There is no block with the ID "begin"')
    expect(JSON.stringify(seen()[1]?.body)).toContain('There is no block with the ID')
    expect(eventsOf(events, 'proposal')[0]?.changes).toHaveLength(3)
  })

  test('of another workflow is refused', async () => {
    const id = await world.workflow({ ...empty, name: 'This one' })
    const other = await world.workflow({ ...empty, name: 'Other one' })
    say(callOf('edit_workflow', { workflowId: other, edits: [start] }), done)
    const { events } = await ask(id, 'Change the other one.')
    expect(eventsOf(events, 'tool').at(-1)?.message).toContain('Only the open workflow can be edited here.')
    expect(eventsOf(events, 'proposal')).toEqual([])
    expect((await world.get(`/api/workflows/${other}`)).json.blocks).toEqual({})
  })
})

describe('the draft of the editor', () => {
  const secret = 'a-very-long-secret-password'
  const document = {
    ...empty,
    name: 'Secrets',
    blocks: {
      hook: {
        ...{ id: 'hook', type: 'webhook_trigger', name: 'Hook' },
        params: { path: 'orders', authentication: { type: 'bearer', token: secret } },
      },
    },
  }

  test('reaches the model without its secrets, and keeps them', async () => {
    const id = await world.workflow({ ...empty, name: 'Secrets' })
    const edits = [{ op: 'set', path: ['blocks', 'hook', 'name'], value: 'Orders' }]
    say(callOf('get_workflow', { workflowId: id }), callOf('edit_workflow', { workflowId: id, edits }), done)
    const { events } = await ask(id, 'Call it Orders.', { document })
    expect(JSON.stringify(seen().map(({ body }) => body))).not.toContain(secret)
    expect(JSON.stringify(seen()[1]?.body)).toContain('***')
    expect(eventsOf(events, 'proposal')[0]?.changes).toEqual([
      { path: ['blocks', 'hook', 'name'], before: 'Hook', after: 'Orders' },
    ])
  })

  test('is refused when it cannot be read', async () => {
    const id = await world.workflow({ ...empty, name: 'Unreadable' })
    say(done)
    const { status, text } = await ask(id, 'Hello', { document: { name: 'X', blocks: 5, edges: [] } })
    expect([status, JSON.parse(text).code]).toEqual([400, 'INVALID_INPUT'])
    expect(seen()).toEqual([])
  })
})

test('a failure is explained from the trace of its run', async () => {
  const id = await world.deployed({
    name: 'Fails',
    blocks: {
      start: { id: 'start', type: 'api_trigger', name: 'Start' },
      sum: { id: 'sum', type: 'function', name: 'Sum', params: { code: 'return <start.order>.total' } },
    },
    edges: [{ source: 'start', target: 'sum' }],
  })
  const run = await world.post(`/api/workflows/${id}/execute`, {})
  const executionId = run.headers.get('x-execution-id') ?? ''
  const edits = [{ op: 'set', path: ['blocks', 'sum', 'params', 'code'], value: 'return <start.order>?.total ?? 0' }]
  say(callOf('get_run', { executionId }), callOf('edit_workflow', { workflowId: id, edits }), done)
  const { events } = await ask(id, `Explain why the run ${executionId} failed.`)
  const read = JSON.stringify(seen()[1]?.body)
  expect(read).toContain('Sum')
  expect(eventsOf(events, 'tool').every(({ status }) => status !== 'failed')).toBe(true)
  expect(eventsOf(events, 'proposal')[0]?.changes).toEqual([
    {
      path: ['blocks', 'sum', 'params', 'code'],
      before: 'return <start.order>.total',
      after: 'return <start.order>?.total ?? 0',
    },
  ])
})

test('runs are listed with the rights of the caller', async () => {
  const id = await world.workflow({ ...empty, name: 'Runs' })
  say(callOf('list_runs', { workflowId: id }), done)
  const { events } = await ask(id, 'What ran?', { key: await world.member('editor') })
  expect(eventsOf(events, 'tool').map(({ status }) => status)).toEqual(['started', 'succeeded'])
})

describe('a limit', () => {
  test('ends a reply that goes on and on', async () => {
    const id = await world.workflow({ ...empty, name: 'Endless' })
    say(callOf('edit_workflow', { workflowId: id, edits: [start] }), callOf('list_blocks', {}))
    const { events } = await ask(id, 'Go on.')
    expect(seen()).toHaveLength(replyLimits.modelCallsMax)
    expect(eventsOf(events, 'failed').map(({ code }) => code)).toEqual(['LIMIT_REACHED'])
    // The edit before the limit is not lost.
    expect(eventsOf(events, 'proposal')).toHaveLength(1)
  })

  test('keeps an account from a third reply at once', async () => {
    const id = await world.workflow({ ...empty, name: 'At once' })
    const gate = Promise.withResolvers<void>()
    say({ ...done, gate: () => gate.promise })
    const running = [ask(id, 'One'), ask(id, 'Two')]
    while (seen().length < 2) await Bun.sleep(5)
    expect((await ask(id, 'Three')).status).toBe(429)
    gate.resolve()
    for (const { status } of await Promise.all(running)) expect(status).toBe(200)
    expect((await ask(id, 'Four')).status).toBe(200)
  })

  test('refuses a conversation that does not end with the user, or is too long', async () => {
    const id = await world.workflow({ ...empty, name: 'Conversation' })
    say(done)
    const send = async (messages: object[]) =>
      (await world.post(`/api/workflows/${id}/assistant`, { messages })).json?.code
    const own = { role: 'assistant', content: 'Hello' }
    expect(await send([{ role: 'user', content: 'Hello' }, own])).toBe('INVALID_INPUT')
    expect(await send([])).toBe('INVALID_INPUT')
    expect(await send(Array(6).fill({ role: 'user', content: 'x'.repeat(19_000) }))).toBe('INVALID_INPUT')
    expect(seen()).toEqual([])
  })
})

test('a model that refuses the key says why', async () => {
  const id = await world.workflow({ ...empty, name: 'Model fails' })
  say({ status: 401, said: 'wrong key' })
  const { events } = await ask(id, 'Hello')
  expect(eventsOf(events, 'failed')[0]?.message).toContain('wrong key')
  expect(seen()).toHaveLength(1)
})

test('a model that is overloaded is asked again', async () => {
  const id = await world.workflow({ ...empty, name: 'Overloaded' })
  say({ status: 503 }, done)
  const { events } = await ask(id, 'Hello')
  expect(eventsOf(events, 'failed')).toEqual([])
  expect(seen()).toHaveLength(2)
})

test('the request to the model ends when the client disconnects', async () => {
  const id = await world.workflow({ ...empty, name: 'Leaves' })
  say({ trouble: 'hang' })
  const leaving = new AbortController()
  const response = fetch(`${world.url}/api/workflows/${id}/assistant`, {
    method: 'POST',
    headers: { 'x-api-key': world.owner },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    signal: leaving.signal,
  }).then((one) => one.text().catch(() => ''))
  while (seen().length === 0) await Bun.sleep(5)
  leaving.abort()
  await response.catch(() => undefined)
  await seen()[0]?.left
})

test('a viewer is refused, and nothing is sent', async () => {
  const id = await world.workflow({ ...empty, name: 'Viewer' })
  say(done)
  expect((await ask(id, 'Hello', { key: await world.member('viewer') })).status).toBe(403)
  expect((await ask(id, 'Hello', { key: world.outsider })).status).toBe(404)
  expect(seen()).toEqual([])
})
