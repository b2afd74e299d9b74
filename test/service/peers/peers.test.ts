import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call, type Serving } from '../../support/running-service.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { answerOf, Events, Processes, until } from './processes.ts'

// Three processes serve one installation. Everything is done through one that does not have it in its memory.

const server = postgresServer()
let processes: Processes
let first: Serving
let second: Serving
let third: Serving

beforeAll(async () => {
  processes = await Processes.start(await server().createDatabase(), 3)
  ;[first, second, third] = processes.all as [Serving, Serving, Serving]
}, 120_000)
afterAll(() => processes[Symbol.asyncDispose]())
beforeEach(() => processes.release())

const eventsOf = (executionId: string) => `/api/editor/runs/${executionId}/events`

/** A run, as a process responds that need not have it. */
async function progressOf(from: Serving, executionId: string) {
  const { json } = await processes.send(from, 'GET', '/api/workspaces')
  return (await processes.send(from, 'GET', `/api/workspaces/${json['data'][0].id}/runs/${executionId}`)).json
}

describe('a run in flight in another process', () => {
  test('can be watched to its end when it is a manual run', async () => {
    const id = await processes.create(first, processes.waiting(), false)
    const arrival = processes.arrival()
    const started = await processes.send(first, 'POST', `/api/editor/workflows/${id}/runs`, {})
    await arrival
    const executionId = started.json['executionId']
    const watching = await processes.fetch(second, 'GET', eventsOf(executionId))
    expect([watching.status, watching.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(watching.headers.get('x-execution-id')).toBe(executionId)
    const events = new Events(watching)
    const before = await events.until('block.started')
    expect(before).not.toContain('run.ended')
    processes.release()
    const after = await events.until('[DONE]')
    expect(after).toContain('run.ended')
    // And again, from the log.
    expect(await (await processes.fetch(third, 'GET', eventsOf(executionId))).text()).toContain('run.ended')
  })

  test('is not watched any more when the watcher leaves', async () => {
    const id = await processes.create(first, processes.waiting(), false)
    const arrival = processes.arrival()
    const { json } = await processes.send(first, 'POST', `/api/editor/workflows/${id}/runs`, {})
    await arrival
    const leaving = new AbortController()
    const watching = await processes.fetch(second, 'GET', eventsOf(json['executionId']), undefined, leaving.signal)
    await new Events(watching).until('block.started')
    const watchers = async () =>
      /^millrace_watchers (\d+)$/m.exec(await (await fetch(`${first.url}/metrics`)).text())?.[1]
    expect(await watchers()).toBe('1')
    leaving.abort()
    await until(async () => (await watchers()) === '0')
  })

  test('can be watched and cancelled when it is an asynchronous run', async () => {
    const id = await processes.create(first, processes.waiting())
    const arrival = processes.arrival()
    const accepted = await fetch(`${first.url}/api/workflows/${id}/execute`, {
      method: 'POST',
      headers: { 'x-api-key': processes.apiKey, 'x-execution-mode': 'async' },
      body: '{}',
    }).then(answerOf)
    expect(accepted.status).toBe(202)
    await arrival
    const { executionId } = accepted.json as { executionId: string }
    const events = new Events(await processes.fetch(third, 'GET', eventsOf(executionId)))
    await events.until('block.started')
    expect(await progressOf(second, executionId)).toMatchObject({ executionId, status: 'processing', logId: null })
    const cancelling = `${second.url}/api/workflows/${id}/executions/${executionId}/cancel`
    expect(await call(cancelling, processes.apiKey, 'POST')).toMatchObject({
      status: 200,
      body: { success: true, status: 'cancelled' },
    })
    expect(await events.until('[DONE]')).toContain('CANCELLED')
    expect((await call(`${third.url}/api/jobs/${executionId}`, processes.apiKey)).body).toMatchObject({
      status: 'cancelled',
    })
    expect((await call(cancelling, processes.apiKey, 'POST')).status).toBe(409)
  })

  test('can be looked up and cancelled when it is a synchronous run', async () => {
    const id = await processes.create(first, processes.waiting())
    const arrival = processes.arrival()
    const running = fetch(`${first.url}/api/workflows/${id}/execute`, {
      method: 'POST',
      headers: { 'x-api-key': processes.apiKey },
      body: JSON.stringify({ stream: true, selectedOutputs: [] }),
    })
    await arrival
    const response = await running
    const executionId = response.headers.get('x-execution-id')
    const at = (each: Serving) => `${each.url}/api/workflows/${id}/executions/${executionId}`
    expect((await call(at(third), processes.apiKey)).body).toMatchObject({ status: 'processing' })
    const progress = await progressOf(third, executionId ?? '')
    expect(progress).toMatchObject({ status: 'processing', logId: null })
    expect(progress['blocks'].at(-1)).toMatchObject({ blockId: 'wait', status: 'running', durationMs: null })
    expect((await call(`${at(second)}/cancel`, processes.apiKey, 'POST')).status).toBe(200)
    expect(await new Events(response).until('[DONE]')).toContain('was cancelled')
    expect((await call(`${at(second)}/cancel`, 'mrk_wrong', 'POST')).status).toBe(401)
  })

  test('stays unknown to accounts that may not see it', async () => {
    const id = await processes.create(first, processes.waiting(), false)
    const arrival = processes.arrival()
    const { json } = await processes.send(first, 'POST', `/api/editor/workflows/${id}/runs`, {})
    await arrival
    const without = await fetch(second.url + eventsOf(json['executionId']))
    expect(without.status).toBe(401)
    const made = await processes.command('users', 'create', 'other@example.com', '--json')
    const { apiKey } = JSON.parse(made.out) as { apiKey: string }
    const found = await call(`${second.url}/api/jobs/${json['executionId']}`, apiKey)
    expect([found.status, (found.body as { code: string }).code]).toEqual([404, 'NOT_FOUND'])
  })
})

test('a queued run is watched through a process that does not start it', async () => {
  const limit = { MILLRACE_JOBS_CONCURRENCY: '1' }
  await using pair = await Processes.start(await server().createDatabase(), 2, limit)
  const [one, other] = pair.all as [Serving, Serving]
  const id = await pair.create(one, pair.waiting())
  const start = async (to: Serving) => {
    const headers = { 'x-api-key': pair.apiKey, 'x-execution-mode': 'async' }
    return await answerOf(await fetch(`${to.url}/api/workflows/${id}/execute`, { method: 'POST', headers, body: '{}' }))
  }
  const arrivals = [pair.arrival(), pair.arrival()]
  await Promise.all([start(one), start(other)])
  await Promise.all(arrivals)
  const queued = await start(one)
  const watching = await Promise.all(
    pair.all.map((each) => pair.fetch(each, 'GET', eventsOf(queued.json['executionId']))),
  )
  expect(watching.map(({ status }) => status)).toEqual([200, 200])
  const arrival = pair.arrival()
  pair.release()
  await arrival
  pair.release()
  for (const each of watching) expect(await new Events(each).until('[DONE]')).toContain('run.ended')
}, 60_000)

describe('a test address', () => {
  const hook = (id: string) => `/api/editor/workflows/${id}/listen`

  test('of a webhook takes a request, is waited for and starts a run through any process', async () => {
    const trigger = block('hook', 'webhook_trigger', {})
    const workflow = document({ blocks: [trigger, block('end', 'variables', {})], edges: ['hook > end'] })
    const id = await processes.create(first, workflow, false)
    const opened = await processes.send(first, 'POST', hook(id), {})
    expect(opened.status).toBe(201)
    const { token } = opened.json as { token: string }
    const waiting = processes.send(second, 'GET', `${hook(id)}/${token}`)
    const sent = await fetch(`${third.url}/api/webhooks/test/${token}?a=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sender': 'me' },
      body: JSON.stringify({ city: 'Faro' }),
    }).then(answerOf)
    expect([sent.status, sent.text]).toEqual([202, '{"success":true,"test":true}'])
    const { json } = await waiting
    expect(json['request'].fields).toMatchObject({ body: { city: 'Faro' }, query: { a: '1' } })
    expect(json['request'].fields.headers).toMatchObject({ 'x-sender': 'me' })
    expect(JSON.stringify(json)).not.toContain('millrace-peer')
    const started = await processes.send(second, 'POST', `/api/editor/workflows/${id}/runs`, { listened: token })
    expect(started.status).toBe(202)
    const events = await processes.fetch(third, 'GET', eventsOf(started.json['executionId']))
    expect(await new Events(events).until('[DONE]')).toContain('Faro')
    expect((await processes.send(third, 'DELETE', `${hook(id)}/${token}`)).status).toBe(204)
    expect((await processes.send(second, 'GET', `${hook(id)}/${token}`)).status).toBe(404)
    expect((await fetch(`${third.url}/api/webhooks/test/${token}`)).status).toBe(404)
  })

  test('of a chat takes a message through any process', async () => {
    const trigger = block('chat', 'chat_trigger', {})
    const workflow = document({ blocks: [trigger, block('end', 'variables', {})], edges: ['chat > end'] })
    const id = await processes.create(first, workflow, false)
    const opened = await processes.send(first, 'POST', hook(id), { trigger: 'chat' })
    const { token } = opened.json as { token: string }
    const sent = await processes.send(second, 'POST', `/api/chat/test/${token}`, { input: 'Hello' })
    expect([sent.status, sent.json]).toMatchObject([200, { conversationId: expect.any(String) }])
    const { json } = await processes.send(third, 'GET', `${hook(id)}/${token}`)
    expect(json['request'].fields).toMatchObject({ input: 'Hello' })
  })
})

test('a run is repeated through any process with values that the log does not show', async () => {
  const { json } = await processes.send(first, 'GET', '/api/workspaces')
  const variable = `/api/workspaces/${json.data[0].id}/environment/TOKEN`
  expect((await processes.send(first, 'PUT', variable, { value: 'the secret value' })).status).toBe(200)
  // Other processes know it within 5 seconds; this one knows it at once.
  const trigger = block('start', 'api_trigger', { inputFormat: [{ name: 'token', type: 'string' }] })
  const id = await processes.create(first, document({ blocks: [trigger] }), false)
  const runs = `/api/editor/workflows/${id}/runs`
  const started = await processes.send(first, 'POST', runs, { input: { token: 'the secret value' } })
  const { executionId } = started.json as { executionId: string }
  const events = await (await processes.fetch(first, 'GET', eventsOf(executionId))).text()
  expect([events.includes('{{TOKEN}}'), events.includes('the secret value')]).toEqual([true, false])
  const again = await processes.send(second, 'POST', runs, { again: { executionId } })
  expect([again.status, again.json.code]).toEqual([202, undefined])
})

test('a re-run is watched and stopped through any process, and a workspace has one at a time', async () => {
  const workflow = document({ blocks: [block('start', 'api_trigger')] })
  const id = await processes.create(first, workflow)
  for (let count = 0; count < 3; count += 1) {
    await call(`${first.url}/api/workflows/${id}/execute`, processes.apiKey, 'POST', {})
  }
  const { json } = await processes.send(first, 'GET', '/api/workspaces')
  const at = `/api/workspaces/${json['data'][0].id}/logs/rerun`
  const body = { filter: { workflowIds: [id] }, perSecond: 0.2 }
  const started = await processes.send(first, 'POST', at, body)
  expect(started.status).toBe(202)
  expect((await processes.send(second, 'POST', at, body)).status).toBe(409)
  const job = `${at}/${started.json['id']}`
  expect((await processes.send(second, 'GET', job)).json).toMatchObject({ id: started.json['id'] })
  expect((await processes.send(third, 'DELETE', job)).json).toMatchObject({ state: 'cancelled' })
  expect((await processes.send(first, 'GET', job)).json).toMatchObject({ state: 'cancelled' })
})

test('an open editor says where it is through any process', async () => {
  const id = await processes.create(first, document({ blocks: [block('start', 'api_trigger')] }), false)
  const leaving = new AbortController()
  const stream = await processes.fetch(first, 'GET', `/api/editor/workflows/${id}/events`, undefined, leaving.signal)
  const events = new Events(stream)
  const joined = await events.until('joined')
  const editorId = /"editorId":"([^"]+)"/.exec(joined)?.[1]
  const place = { editorId, blockId: 'start' }
  const at = `/api/editor/workflows/${id}/presence`
  expect((await processes.send(second, 'POST', at, place)).json).toEqual({ present: true })
  expect(await events.until('"blockId":"start"')).toContain(`${editorId}`)
  leaving.abort()
  expect((await processes.send(second, 'POST', at, { ...place, editorId: 'none' })).json).toEqual({ present: false })
})

describe('a request with the header of another process', () => {
  test('is refused when its signature is forged, on every route', async () => {
    for (const path of ['/health/ready', '/api/peers/run/x', '/api/webhooks/test/x', '/']) {
      const headers = { 'millrace-peer': `${Date.now()}.${crypto.randomUUID()}.MTI3LjAuMC4x.${'0'.repeat(64)}` }
      const refused = await fetch(first.url + path, { headers }).then(answerOf)
      expect([path, refused.status, refused.json['code']]).toEqual([path, 401, 'INVALID_SIGNATURE'])
    }
  })

  test('is needed to ask what a process has', async () => {
    expect((await fetch(`${first.url}/api/peers/run/x`)).status).toBe(404)
  })
})

describe('a process that does not answer', () => {
  test('delays nobody whose run another process has, and leaves open what it may have', async () => {
    await using group = await Processes.start(await server().createDatabase(), 3)
    const [one, hung, other] = group.all as [Serving, Serving, Serving]
    const id = await group.create(one, group.waiting(), false)
    const arrival = group.arrival()
    const { json } = await group.send(one, 'POST', `/api/editor/workflows/${id}/runs`, {})
    await arrival
    process.kill(hung.pid, 'SIGSTOP')
    const startedAt = performance.now()
    const watching = new Events(await group.fetch(other, 'GET', eventsOf(json['executionId'])))
    await watching.until('block.started')
    expect(performance.now() - startedAt).toBeLessThan(1_000)
    const unknown = await call(`${other.url}/api/jobs/unknown`, group.apiKey)
    expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '2'])
    // A process that was killed has nothing any more.
    await hung.kill('SIGKILL')
    expect((await call(`${other.url}/api/jobs/unknown`, group.apiKey)).status).toBe(404)
    // The watcher of a run whose process dies is told so by the end of the stream.
    await one.kill('SIGKILL')
    expect(await watching.until('[DONE]').catch(() => 'broken')).toBe('broken')
  }, 60_000)
})
