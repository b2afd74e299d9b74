import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
})
afterAll(() => world.close())

const jobUntil = async (executionId: string, status: string) => {
  for (;;) {
    const { json } = await world.call(`/api/jobs/${executionId}`)
    if (json.status === status) return json
    if (json.status === 'failed') throw new Error(JSON.stringify(json))
    await Bun.sleep(20)
  }
}

/** A link that the blocks behind `notify` have sent. */
const sent: { url: string; callbackUrl: string; id: string }[] = []
let receiver: ReturnType<typeof Bun.serve>
beforeAll(() => {
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      sent.push((await request.json()) as (typeof sent)[number])
      return Response.json({ ok: true })
    },
  })
})
afterAll(() => receiver.stop(true))

const links = { url: '<ask.url>', callbackUrl: '<ask.callbackUrl>', id: '<ask.id>' }

const outputs: Record<string, string> = {
  approval: `approved: <ask.approved>, by: <ask.by>, timedOut: <ask.timedOut>, fields: <ask.fields>, answers: <ask.answers>`,
  wait_for_call: `data: <ask.data>, headers: <ask.headers>, query: <ask.query>, timedOut: <ask.timedOut>`,
}

/** Asks, and sends the links to a service before that. */
const asking = (params: Record<string, unknown> = {}, type = 'approval', body: object = links) =>
  document({
    blocks: [
      start([{ name: 'amount', type: 'number' }]),
      block('ask', type, type === 'approval' ? { title: 'Pay?', ...params } : params),
      block('send', 'api', { url: `http://127.0.0.1:${receiver.port}/`, method: 'POST', body }),
      block('done', 'function', { code: `return { amount: <api.amount>, ask: { ${outputs[type]} } }` }),
    ],
    edges: ['start > ask', 'ask:notify > send', 'ask > done'],
  })

async function ask(draft = asking(), options: Parameters<ExecutionWorld['execute']>[2] = {}) {
  const id = await world.deploy(draft)
  const before = sent.length
  const { status, json } = await world.execute(id, { amount: 5 }, options)
  expect([status, json.status]).toEqual([202, options.headers ? 'queued' : 'paused'])
  while (sent.length === before) await Bun.sleep(5)
  const link = sent.at(-1)!
  return { id, json, executionId: json.executionId as string, link, path: new URL(link.callbackUrl).pathname }
}

describe('an approval', () => {
  test('sends its links first, pauses the run, and continues with the answer', async () => {
    const { json, executionId, link, path } = await ask()
    expect(json.paused).toMatchObject([{ kind: 'approval', blockName: 'ask', until: null, contextId: link.id }])
    expect(new URL(link.url).pathname).toStartWith('/pause/')
    const facts = await world.call(path, { key: null })
    expect(facts.json).toMatchObject({ kind: 'approval', title: 'Pay?', fields: [], required: 1, answers: 0, by: null })
    const answered = await world.call(path, { key: null, body: { approved: true } })
    expect([answered.status, answered.json]).toEqual([200, { success: true, outcome: 'resumed' }])
    const { output } = await jobUntil(executionId, 'completed')
    expect(output.result).toMatchObject({
      amount: 5,
      ask: { approved: true, by: null, timedOut: false, fields: {}, answers: [{ approved: true, by: null }] },
    })
    // The message was sent once: it did not run again with the rest.
    expect(sent.filter(({ id }) => id === link.id)).toHaveLength(1)
    const late = await world.call(path, { key: null, body: { approved: false } })
    expect([late.status, late.json.code]).toEqual([409, 'ALREADY_RESUMED'])
  }, 30_000)

  test('shows its question to members until it has ended', async () => {
    const { id, json, executionId, link, path } = await ask(
      asking({ message: 'Soon', fields: [{ name: 'why', type: 'string' }] }),
    )
    const pauses = `/api/workspaces/${world.workspaceId}/pauses`
    const contextId = json.paused[0].contextId
    const listed = await world.call(`${pauses}?workflowId=${id}&kind=approval`)
    expect(listed.json.data).toMatchObject([{ contextId, title: 'Pay?', access: 'link', executionId }])
    expect(listed.text).not.toContain(link.url)
    expect((await world.call(`${pauses}?workflowId=${id}&kind=wait`)).json.data).toEqual([])
    expect((await world.call(`${pauses}?kind=other`)).status).toBe(400)
    const shown = await world.call(`${pauses}/${contextId}`)
    expect(shown.json).toMatchObject({ contextId, message: 'Soon', answers: [], required: 1, mayAnswer: true })
    expect(shown.json).toMatchObject({ url: link.url, callbackUrl: link.callbackUrl, fields: [{ name: 'why' }] })
    await world.call(path, { key: null, body: { approved: false } })
    const late = await world.call(`${pauses}/${contextId}`)
    expect([late.status, late.json.code]).toEqual([409, 'ALREADY_RESUMED'])
    expect((await world.call(`${pauses}/unknown`)).status).toBe(404)
  }, 30_000)

  test('shows secrets in its question only to those who may answer', async () => {
    const variable = `/api/workspaces/${world.workspaceId}/environment/ACCOUNT_NUMBER`
    await world.call(variable, { method: 'PUT', body: { value: 'account-4711-secret' } })
    const { link, path } = await ask(asking({ title: 'Pay to {{ACCOUNT_NUMBER}}?' }))
    const viewer = await world.addMember('viewer')
    const pauses = `/api/workspaces/${world.workspaceId}/pauses`
    for (const address of [`${pauses}/${link.id}`, pauses]) {
      const { text } = await world.call(address, { key: viewer.key })
      expect(text).toContain('Pay to {{ACCOUNT_NUMBER}}?')
      expect(text).not.toContain('account-4711-secret')
    }
    expect((await world.call(path, { key: null })).json.title).toBe('Pay to account-4711-secret?')
    expect((await world.call(`${pauses}/${link.id}`)).json.title).toBe('Pay to account-4711-secret?')
  }, 30_000)

  test('does not show its links in the log', async () => {
    const { id, executionId, path, link } = await ask()
    await world.call(path, { key: null, method: 'POST' })
    await jobUntil(executionId, 'completed')
    const query = `workspaceId=${world.workspaceId}&workflowIds=${id}&includeTraceSpans=true&includeFinalOutput=true`
    const { text } = await world.call(`/api/v1/logs?${query}`)
    expect(text).toContain(link.id)
    const [{ traceSpans, pausedMs, totalDurationMs }] = JSON.parse(text).data
    const asked = traceSpans[0].children.find(({ blockId }: { blockId: string }) => blockId === 'ask')
    expect(asked.pauses).toMatchObject([{ contextId: link.id, kind: 'approval', outcome: 'answered', by: null }])
    expect(pausedMs).toBe(Date.parse(asked.pauses[0].endedAt) - Date.parse(asked.pauses[0].since))
    expect(pausedMs).toBeLessThanOrEqual(totalDurationMs)
    expect(asked.duration).toBeGreaterThanOrEqual(pausedMs)
    expect(text).not.toContain(path.split('/').at(-1)!)
  }, 30_000)

  test('takes one of several answers that come at once', async () => {
    const { executionId, path } = await ask(asking(), { headers: { 'x-execution-mode': 'async' } })
    const bodies = [true, false, true, false].map((approved) => ({ approved }))
    const responses = await Promise.all(bodies.map((body) => world.call(path, { key: null, body })))
    const winners = responses.filter(({ status }) => status === 200)
    expect(winners).toHaveLength(1)
    const { output } = await jobUntil(executionId, 'completed')
    expect(output.result.ask.approved).toBe(bodies[responses.indexOf(winners[0]!)]!.approved)
  }, 30_000)

  test('is not approved by a body that says something else', async () => {
    const { id, executionId, link, path } = await ask()
    for (const body of ['no', [], 7, [false], { approved: 'no' }, { approved: null }]) {
      const { status, json } = await world.call(path, { key: null, body })
      expect([body, status, json.code]).toEqual([body, 400, 'INVALID_INPUT'])
    }
    for (const body of ['no', [], { input: [] }, { input: 'no' }, { input: { approved: 'no' } }]) {
      const { status, json } = await world.call(`/api/resume/${id}/${executionId}/${link.id}`, { body })
      expect([body, status, json.code]).toEqual([body, 400, 'INVALID_INPUT'])
    }
    expect((await world.call(path, { key: null, body: { approved: false } })).status).toBe(200)
    expect((await jobUntil(executionId, 'completed')).output.result.ask.approved).toBe(false)
  }, 30_000)

  test('has a form whose values must fit', async () => {
    const fields = [
      { name: 'reason', type: 'string', label: 'Reason', required: true },
      { name: 'budget', type: 'string', options: ['small', 'large'] },
      { name: 'share', type: 'number' },
    ]
    const { executionId, path } = await ask(asking({ fields }))
    const send = (given: object, approved = true) => world.call(path, { key: null, body: { approved, fields: given } })
    const missing = await send({ share: 2 })
    expect([missing.status, missing.json.details]).toMatchObject([400, [{ path: 'reason' }]])
    expect((await send({ reason: 'x', budget: 'huge' })).json.error).toBe('budget must be one of small, large.')
    expect((await send({ reason: 'x', share: 'many' })).status).toBe(400)
    expect((await send({ reason: 'Fine', budget: 'small', share: '2' })).status).toBe(200)
    const { output } = await jobUntil(executionId, 'completed')
    expect(output.result.ask.fields).toEqual({ reason: 'Fine', budget: 'small', share: 2 })
  }, 30_000)

  test('needs as many people as it says, and one who rejects ends it', async () => {
    const [one, two, viewer] = [
      await world.addMember('editor'),
      await world.addMember('editor'),
      await world.addMember('viewer'),
    ]
    const draft = () => asking({ access: 'members', required: 2 })
    const first = await ask(draft())
    const anonymous = await world.call(first.path, { key: null, body: {} })
    expect([anonymous.status, anonymous.json.code]).toEqual([401, 'SIGN_IN_REQUIRED'])
    const wrong = await world.call(first.path, { key: viewer.key, body: {} })
    expect([wrong.status, wrong.json.code]).toEqual([403, 'FORBIDDEN'])
    const half = await world.call(first.path, { key: one.key, body: {} })
    expect(half.json).toEqual({ success: true, outcome: 'waiting for others' })
    expect((await world.call(first.path, { key: one.key, body: {} })).status).toBe(409)
    expect((await world.call(first.path, { key: two.key, body: {} })).json.outcome).toBe('resumed')
    const { output } = await jobUntil(first.executionId, 'completed')
    expect(output.result.ask).toMatchObject({ approved: true, by: `${two.userId}@example.com`, answers: [{}, {}] })
    const second = await ask(draft())
    const no = await world.call(second.path, { key: one.key, body: { approved: false } })
    expect(no.json.outcome).toBe('resumed')
    expect((await jobUntil(second.executionId, 'completed')).output.result.ask.approved).toBe(false)
  }, 30_000)

  test('expires along its own edge, or as not approved', async () => {
    const draft = asking({ expiresAfterMs: 1_000 })
    const plain = await ask(draft)
    expect(plain.json.paused[0].until).toBeString()
    const { output } = await jobUntil(plain.executionId, 'completed')
    expect(output.result.ask).toMatchObject({ approved: false, timedOut: true, answers: [] })
    const late = await world.call(plain.path, { key: null, body: {} })
    expect([late.status, late.json.code]).toEqual([409, 'EXPIRED'])
    const withEdge = await ask({
      ...draft,
      blocks: { ...draft.blocks, over: block('over', 'function', { code: 'return "too late"' }) },
      edges: [...draft.edges, { id: 'x', source: 'ask', target: 'over', sourceHandle: 'expired' }],
    } as typeof draft)
    expect((await jobUntil(withEdge.executionId, 'completed')).output.result).toBe('too late')
  }, 30_000)

  test('has a link that cannot be guessed or changed', async () => {
    const { executionId, path, link } = await ask()
    for (const wrong of [`${path}x`, path.slice(0, -1), `/api/pauses/${link.id}`, `/api/pauses/${link.id}.AAAA`]) {
      const { status, json } = await world.call(wrong, { key: null, body: {} })
      expect([wrong, status, json.code]).toEqual([wrong, 404, 'NOT_FOUND'])
    }
    await jobUntil(executionId, 'paused')
    await world.call(`/api/workspaces/${world.workspaceId}/pauses/${link.id}/cancel`, { method: 'POST' })
    const gone = await world.call(path, { key: null, body: {} })
    expect([gone.status, gone.json.code]).toEqual([409, 'CANCELLED'])
  }, 30_000)
})

describe('a block that waits for a call', () => {
  test('continues with what the other service sends', async () => {
    const draft = asking({}, 'wait_for_call', { callbackUrl: '<ask.callbackUrl>', id: '<ask.id>' })
    const { executionId, json, link, path } = await ask(draft)
    expect(json.paused).toMatchObject([{ kind: 'call', contextId: link.id }])
    const options = { key: null, body: { state: 'paid' }, headers: { 'x-kind': 'bank', authorization: 'Bearer x' } }
    expect((await world.call(`${path}?from=bank`, options)).json.outcome).toBe('resumed')
    const { output } = await jobUntil(executionId, 'completed')
    const { data, headers, query, timedOut } = output.result.ask
    expect([data, query, timedOut, headers['x-kind'], headers.authorization]).toEqual([
      { state: 'paid' },
      { from: 'bank' },
      false,
      'bank',
      undefined,
    ])
  }, 30_000)
})

describe('a block that waits for a call with authentication', () => {
  test('continues only after a call that proves its identity, and hides the secret', async () => {
    const variable = `/api/workspaces/${world.workspaceId}/environment/BANK_TOKEN`
    await world.call(variable, { method: 'PUT', body: { value: 'bank-secret' } })
    const authentication = { type: 'header', name: 'X-Bank', value: '{{BANK_TOKEN}}' }
    const body = { callbackUrl: '<ask.callbackUrl>', id: '<ask.id>' }
    const { executionId, path } = await ask(asking({ authentication }, 'wait_for_call', body))
    for (const headers of [{}, { 'x-bank': 'wrong' }]) {
      const refused = await world.call(path, { key: null, body: { state: 'paid' }, headers })
      expect([refused.status, refused.json.code]).toEqual([401, 'INVALID_API_KEY'])
    }
    await jobUntil(executionId, 'paused')
    const headers = { 'x-bank': 'bank-secret' }
    const taken = await world.call(path, { key: null, body: { state: 'paid' }, headers })
    expect([taken.status, taken.json.outcome]).toEqual([200, 'resumed'])
    const { output } = await jobUntil(executionId, 'completed')
    expect(output.result.ask.data).toEqual({ state: 'paid' })
    expect(output.result.ask.headers['x-bank']).toBeUndefined()
  }, 30_000)
})

test('a paused run is found and resumed at the addresses that clients of Sim use', async () => {
  const fields = [{ name: 'note', type: 'string' }]
  const { id, executionId, link } = await ask(asking({ fields }))
  const { json: list } = await world.call(`/api/workflows/${id}/paused`)
  const point = { contextId: link.id, blockId: 'ask', kind: 'approval', resumeStatus: 'paused' }
  const run = { executionId, workflowId: id, status: 'paused', totalPauseCount: 1, pausePoints: [point] }
  expect(list.pausedExecutions).toMatchObject([run])
  expect((await world.call(`/api/workflows/${id}/paused/${executionId}`)).json).toMatchObject(run)
  expect((await world.call(`/api/resume/${id}/${executionId}`)).json).toMatchObject(run)
  const path = `/api/resume/${id}/${executionId}/${link.id}`
  const resumed = await world.call(path, { body: { input: { approved: true, note: 'Fine' } } })
  expect([resumed.status, resumed.json.status]).toEqual([200, 'started'])
  const { output } = await jobUntil(executionId, 'completed')
  expect(output.result.ask).toMatchObject({ approved: true, by: 'owner@localhost', fields: { note: 'Fine' } })
  expect((await world.call(path, { body: {} })).status).toBe(409)
  const another = await ask(asking())
  expect((await world.call(`/api/resume/${another.id}/${another.executionId}`, { body: {} })).status).toBe(200)
  await jobUntil(another.executionId, 'completed')
}, 30_000)
