import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { AssistantWorld, callOf, done, empty, end, eventsOf, start } from './assistant-world.ts'

let world: AssistantWorld
beforeAll(async () => {
  world = await AssistantWorld.open()
})
afterAll(() => world?.close())

describe('a description', () => {
  test('becomes a draft as changes, and nothing is saved', async () => {
    const id = await world.http.workflow(empty)
    world.say(
      callOf('describe_block', { type: 'api_trigger' }),
      callOf('edit_workflow', { workflowId: id, edits: [start, end] }),
      done,
    )
    const { events } = await world.ask(id, 'Respond to an API call.')
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
    expect((await world.http.get(`/api/workflows/${id}`)).json.blocks).toEqual({})
  })

  test('shows what all requests to the model cost together', async () => {
    const id = await world.http.workflow({ ...empty, name: 'Cost' })
    world.say(callOf('list_blocks', {}), done)
    const { events } = await world.ask(id, 'What can I use?')
    expect(eventsOf(events, 'cost').at(-1)).toEqual({
      event: 'cost',
      model: 'gpt-5-mini',
      tokens: { prompt: 3000, completion: 150, total: 3150 },
      usd: 0.00105,
    })
  })

  test('is sent with the key of the operator, and with tools that have no effects', async () => {
    const id = await world.http.workflow({ ...empty, name: 'Tools' })
    world.say(done)
    await world.ask(id, 'Hello')
    const [request] = world.seen
    expect(request?.headers.authorization).toBe('Bearer key-of-the-operator')
    const { tools } = request!.body as { tools: { function: { name: string } }[] }
    const names = tools.map((tool) => tool.function.name)
    expect(names).toContain('edit_workflow')
    for (const name of ['create_workflow', 'deploy_workflow', 'run_draft']) expect(names).not.toContain(name)
  })
})

describe('a wrong edit', () => {
  test('goes back to the model, which corrects it', async () => {
    const id = await world.http.workflow({ ...empty, name: 'Wrong' })
    const wrong = { ...end, after: 'begin' }
    world.say(
      callOf('edit_workflow', { workflowId: id, edits: [start, wrong] }),
      callOf('edit_workflow', { workflowId: id, edits: [start, end] }),
      done,
    )
    const { events } = await world.ask(id, 'Respond.')
    const [failed] = eventsOf(events, 'tool').filter(({ status }) => status === 'failed')
    expect(failed?.message).toContain('There is no block with the ID "begin"')
    expect(JSON.stringify(world.seen[1]?.body)).toContain('There is no block with the ID')
    expect(eventsOf(events, 'proposal')[0]?.changes).toHaveLength(3)
  })

  test('of another workflow is refused', async () => {
    const id = await world.http.workflow({ ...empty, name: 'This one' })
    const other = await world.http.workflow({ ...empty, name: 'Other one' })
    world.say(callOf('edit_workflow', { workflowId: other, edits: [start] }), done)
    const { events } = await world.ask(id, 'Change the other one.')
    expect(eventsOf(events, 'tool').at(-1)?.message).toContain('Only the open workflow can be edited here.')
    expect(eventsOf(events, 'proposal')).toEqual([])
    expect((await world.http.get(`/api/workflows/${other}`)).json.blocks).toEqual({})
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
    const id = await world.http.workflow({ ...empty, name: 'Secrets' })
    const edits = [{ op: 'set', path: ['blocks', 'hook', 'name'], value: 'Orders' }]
    world.say(callOf('get_workflow', { workflowId: id }), callOf('edit_workflow', { workflowId: id, edits }), done)
    const { events } = await world.ask(id, 'Call it Orders.', { document })
    expect(JSON.stringify(world.seen.map(({ body }) => body))).not.toContain(secret)
    expect(JSON.stringify(world.seen[1]?.body)).toContain('***')
    expect(eventsOf(events, 'proposal')[0]?.changes).toEqual([
      { path: ['blocks', 'hook', 'name'], before: 'Hook', after: 'Orders' },
    ])
  })

  test('is refused when it cannot be read', async () => {
    const id = await world.http.workflow({ ...empty, name: 'Unreadable' })
    world.say(done)
    const { status, text } = await world.ask(id, 'Hello', { document: { name: 'X', blocks: 5, edges: [] } })
    expect([status, JSON.parse(text).code]).toEqual([400, 'INVALID_INPUT'])
    expect(world.seen).toEqual([])
  })
})

test('a failure is explained from the trace of its run', async () => {
  const id = await world.http.deployed({
    name: 'Fails',
    blocks: {
      start: { id: 'start', type: 'api_trigger', name: 'Start' },
      sum: { id: 'sum', type: 'function', name: 'Sum', params: { code: 'return <start.order>.total' } },
    },
    edges: [{ source: 'start', target: 'sum' }],
  })
  const run = await world.http.post(`/api/workflows/${id}/execute`, {})
  const executionId = run.headers.get('x-execution-id') ?? ''
  const edits = [{ op: 'set', path: ['blocks', 'sum', 'params', 'code'], value: 'return <start.order>?.total ?? 0' }]
  world.say(callOf('get_run', { executionId }), callOf('edit_workflow', { workflowId: id, edits }), done)
  const { events } = await world.ask(id, `Explain why the run ${executionId} failed.`)
  const read = JSON.stringify(world.seen[1]?.body)
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
  const id = await world.http.workflow({ ...empty, name: 'Runs' })
  world.say(callOf('list_runs', { workflowId: id }), done)
  const { events } = await world.ask(id, 'What ran?', { key: await world.http.member('editor') })
  expect(eventsOf(events, 'tool').map(({ status }) => status)).toEqual(['started', 'succeeded'])
})

test('a model that refuses the key says why', async () => {
  const id = await world.http.workflow({ ...empty, name: 'Model fails' })
  world.say({ status: 401, said: 'wrong key' })
  const { events } = await world.ask(id, 'Hello')
  expect(eventsOf(events, 'failed')[0]?.message).toContain('wrong key')
  expect(world.seen).toHaveLength(1)
})

test('a model that is overloaded is asked again', async () => {
  const id = await world.http.workflow({ ...empty, name: 'Overloaded' })
  world.say({ status: 503 }, done)
  const { events } = await world.ask(id, 'Hello')
  expect(eventsOf(events, 'failed')).toEqual([])
  expect(world.seen).toHaveLength(2)
})

test('the request to the model ends when the client disconnects', async () => {
  const id = await world.http.workflow({ ...empty, name: 'Leaves' })
  world.say({ trouble: 'hang' })
  const leaving = new AbortController()
  const response = fetch(`${world.http.url}/api/workflows/${id}/assistant`, {
    method: 'POST',
    headers: { 'x-api-key': world.http.owner },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    signal: leaving.signal,
  }).then((one) => one.text().catch(() => ''))
  while (world.seen.length === 0) await Bun.sleep(5)
  leaving.abort()
  await response.catch(() => undefined)
  await world.seen[0]?.left
})

test('a viewer is refused, and nothing is sent', async () => {
  const id = await world.http.workflow({ ...empty, name: 'Viewer' })
  world.say(done)
  expect((await world.ask(id, 'Hello', { key: await world.http.member('viewer') })).status).toBe(403)
  expect((await world.ask(id, 'Hello', { key: world.http.outsider })).status).toBe(404)
  expect(world.seen).toEqual([])
})

test('an account that loses its role in the middle of a reply reads nothing more', async () => {
  const id = await world.http.workflow({ ...empty, name: 'Loses its role' })
  const userId = await world.http.accounts.addUser()
  await world.http.accounts.addMember(userId, world.http.workspaceId, 'editor')
  const gate = Promise.withResolvers<void>()
  world.say({ ...callOf('list_credentials', {}), text: ['I look.'], gate: () => gate.promise }, done)
  const asked = world.ask(id, 'Which credentials are there?', { key: await world.http.key({ userId }) })
  while (world.seen.length === 0) await Bun.sleep(5)
  await world.http.store.removeMember(world.http.workspaceId, userId)
  gate.resolve()
  const { events } = await asked
  expect(eventsOf(events, 'tool').at(-1)?.message).toContain('may no longer edit')
})
