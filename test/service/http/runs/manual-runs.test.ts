import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { LiveEvent } from '../../../../src/domain/run/live-event.ts'
import { block, document } from '../../../support/make.ts'
import { apiTrigger, endedOf, line, ManualWorld } from './manual-world.ts'

let world: ManualWorld
beforeAll(async () => {
  world = await ManualWorld.open()
})
afterAll(() => world.close())

/** Responds when the gate opens. */
function gatedServer(gate: Promise<void>): { url: string } & AsyncDisposable {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async () => {
      await gate
      return Response.json({})
    },
  })
  return { url: `http://127.0.0.1:${server.port}/`, [Symbol.asyncDispose]: () => server.stop(true) }
}

const namesOf = (events: readonly LiveEvent[]) => endedOf(events).map(({ name }) => name)

describe('a manual run', () => {
  test('runs the draft with the values of the input format, and is logged as manual', async () => {
    const { executionId, events, ended } = await world.run(line())
    expect(namesOf(events)).toEqual(['start', 'say', 'time', 'end'])
    expect(ended).toMatchObject({ status: 'success', output: { stamp: expect.stringContaining('Porto for 3 days') } })
    expect(await world.entryOf(executionId)).toMatchObject({ trigger: 'manual', level: 'info' })
  })

  test('prefers the given input to the values, and the manual trigger to other triggers', async () => {
    const both = line()
    both.blocks['hand'] = block('hand', 'manual_trigger', {
      inputFormat: [{ name: 'city', type: 'string', value: 'Faro' }],
    })
    both.blocks['byHand'] = block('byHand', 'variables', {
      assign: [{ name: 'said', value: 'By hand in <manual.city>' }],
    })
    both.edges.push({ source: 'hand', target: 'byHand' })
    const { workflowId, ended } = await world.run(both)
    expect(ended.output).toEqual({ said: 'By hand in Faro' })
    const api = await world.again(workflowId, { trigger: 'api', input: { city: 'Braga' } })
    expect(api.ended.output).toEqual({ stamp: expect.stringContaining('Braga for 3 days') })
    const refused = await world.post(workflowId, { trigger: 'chat' })
    expect([refused.status, refused.json.details]).toEqual([400, [{ path: 'trigger', message: expect.any(String) }]])
  })

  test('shows the document that ran, even if the draft has changed since', async () => {
    const { workflowId, executionId } = await world.run(line())
    const changed = { ...line(), name: 'Changed', blocks: { start: apiTrigger }, edges: [] }
    expect((await world.executions.call(`/api/workflows/${workflowId}`, { method: 'PUT', body: changed })).status).toBe(
      200,
    )
    await world.again(workflowId, {})
    const { json } = await world.executions.call(`/api/v1/logs/executions/${executionId}`)
    expect(Object.keys(json.workflowState.blocks)).toEqual(['start', 'say', 'time', 'end'])
    expect(json.executionMetadata.trigger).toBe('manual')
  })

  test('of a deployed version runs that version', async () => {
    const workflowId = await world.executions.deploy(document({ blocks: [apiTrigger] }))
    const changed = { ...line(), name: 'Changed too' }
    await world.executions.call(`/api/workflows/${workflowId}`, { method: 'PUT', body: changed })
    expect(namesOf((await world.again(workflowId, { version: 1 })).events)).toEqual(['start'])
    expect(namesOf((await world.again(workflowId, {})).events)).toHaveLength(4)
    expect((await world.post(workflowId, { version: 2 })).status).toBe(404)
  })

  test('of a draft that cannot be compiled is refused with every finding', async () => {
    const blocks = [apiTrigger, block('no', 'nothing'), block('bad', 'wait', { ms: -1 })]
    const broken = document({ blocks, edges: ['start > no', 'no > bad'] })
    const { status, json } = await world.post(await world.executions.deploy(broken, false))
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT'])
    expect(json.details.length).toBeGreaterThanOrEqual(2)
    const idle = await world.post(await world.executions.deploy(document({ blocks: [block('w', 'wait')] }), false))
    expect(idle.json.error).toContain('trigger')
    const unfit = await world.post(await world.executions.deploy(line(), false), { input: { days: 'many' } })
    expect(unfit.json.details).toEqual([{ path: 'input.days', message: expect.any(String) }])
  })

  test('runs the valid part of a draft, where references to invalid blocks are null', async () => {
    const params = { assign: [{ name: 'said', value: '[<idea.result><inside.result>]' }] }
    const draft = document({
      blocks: [
        apiTrigger,
        block('say', 'variables', params),
        block('calm', 'variables', { assign: [{ name: 'said', value: 'calm' }] }),
        block('idea', 'api'),
        block('later', 'loop'),
        { ...block('inside', 'nothing'), parentId: 'later' },
      ],
      edges: ['start > say', 'start > calm', 'idea > later', 'later:loop-start-source > inside'],
      loops: { later: { loopType: 'for', iterations: -1 } },
      variables: { said: { value: '' } },
    })
    const { workflowId, executionId, events, ended } = await world.run(draft)
    const told = events.flatMap((each) => (each.event === 'block.ended' ? [each.span] : []))
    expect(told.map(({ name, type, status }) => `${name}: ${type} ${status}`)).toEqual([
      'start: api_trigger success',
      'idea: api skipped',
      'later: loop skipped',
      'inside: nothing skipped',
      'say: variables success',
      'calm: variables success',
    ])
    expect(ended.output).toEqual({ say: { said: '[]' }, calm: { said: 'calm' } })
    expect((await world.again(workflowId, { only: { blockId: 'calm' } })).ended.output).toEqual({ said: 'calm' })
    // Alone, it runs with the earlier outputs of the others, which they would not produce again.
    expect((await world.post(workflowId, { only: { blockId: 'say' } })).status).toBe(400)
    for (const part of [{ only: { blockId: 'idea' } }, { until: 'idea' }, { from: { blockId: 'idea', executionId } }]) {
      expect([part, (await world.post(workflowId, part)).status]).toEqual([part, 400])
    }
    const { json } = await world.post(workflowId)
    expect(json.warnings.map(({ level }: { level: string }) => level)).toContain('warning')
    expect(json.warnings.map(({ level }: { level: string }) => level)).not.toContain('error')
    const joined = { ...draft, edges: [...draft.edges, { id: 'e9', source: 'say', target: 'idea' }] }
    await world.executions.call(`/api/workflows/${workflowId}`, { method: 'PUT', body: joined })
    expect((await world.post(workflowId)).status).toBe(400)
  })

  test('starts at any existing trigger', async () => {
    const hook = document({
      variables: { v: { value: null } },
      blocks: [
        block('hook', 'webhook_trigger'),
        block('end', 'variables', {
          assign: [{ name: 'v', value: '<webhook.method> <webhook.body.id><webhook.body.constructor>' }],
        }),
      ],
      edges: ['hook > end'],
    })
    const { workflowId, ended } = await world.run(hook, { input: { id: 7 } })
    expect(ended.output).toEqual({ v: 'POST 7' })
    const whole = await world.again(workflowId, { input: { method: 'PUT', body: { id: 8 } } })
    expect(whole.ended.output).toEqual({ v: 'PUT 8' })
    // The input is a body, whatever its members are called.
    const body = await world.again(workflowId, { input: { constructor: 1 } })
    expect(body.ended.output).toEqual({ v: 'POST 1' })
  })

  test('accepts files', async () => {
    const reading = document({
      blocks: [block('start', 'api_trigger', { inputFormat: [{ name: 'photo', type: 'files' }] })],
    })
    const photo = [{ type: 'file', name: 'a.txt', data: `data:text/plain;base64,${btoa('Hello')}` }]
    const { ended, executionId } = await world.run(reading, { input: { photo } })
    expect(ended.output).toMatchObject({ photo: [{ name: 'a.txt', size: 5, url: expect.stringContaining('/files/') }] })
    expect((await world.entryOf(executionId)).files).toMatchObject([{ name: 'a.txt' }])
  })

  test('counts against no limit', async () => {
    const limits = async () => (await world.executions.call('/api/users/me/usage-limits')).json.rateLimit
    const { workflowId } = await world.run(line())
    const before = await limits()
    await world.again(workflowId, {})
    expect((await limits()).sync.remaining).toBe(before.sync.remaining)
    expect((await limits()).async.remaining).toBe(before.async.remaining)
  })

  test('requires a session, not a key', async () => {
    const workflowId = await world.executions.deploy(line(), false)
    const { status, json } = await world.executions.call(`/api/editor/workflows/${workflowId}/runs`, { body: {} })
    expect([status, json.code]).toEqual([401, 'SIGN_IN_REQUIRED'])
  })

  test('can be cancelled', async () => {
    const workflowId = await world.executions.deploy(
      document({ blocks: [apiTrigger, block('w', 'wait', { ms: 60_000 })], edges: ['start > w'] }),
      false,
    )
    const { json } = await world.post(workflowId)
    const events = world.watch(json.executionId)
    const path = `/api/workflows/${workflowId}/executions/${json.executionId}/cancel`
    expect((await world.executions.call(path, { method: 'POST', headers: world.session, key: null })).status).toBe(200)
    expect((await events).at(-1)).toMatchObject({ event: 'run.ended', status: 'cancelled' })
  })
})

describe('the events of a run', () => {
  test('are read from the log after the run has ended, and are the same', async () => {
    const { executionId, events } = await world.run(line())
    const later = await world.watch(executionId)
    expect(endedOf(later)).toEqual(endedOf(events))
    expect(later.at(-1)).toEqual(events.at(-1) as LiveEvent)
  })

  test('of a run that was started with a key can be watched from the middle on', async () => {
    const gate = Promise.withResolvers<void>()
    await using slow = gatedServer(gate.promise)
    const waiting = document({
      blocks: [apiTrigger, block('w', 'api', { url: slow.url }), block('end', 'wait', { ms: 0 })],
      edges: ['start > w', 'w > end'],
    })
    const workflowId = await world.executions.deploy(waiting)
    const headers = { 'x-execution-mode': 'async' }
    const { json } = await world.executions.call(`/api/workflows/${workflowId}/execute`, { body: { days: 1 }, headers })
    const events = await world.watch(json.executionId, () => gate.resolve())
    expect(events[0]).toMatchObject({ event: 'run.started', trigger: 'api', earlier: 0 })
    expect(events.map(({ event }) => event)).toContain('block.started')
    expect(namesOf(events)).toEqual(['start', 'w', 'end'])
    expect(events.at(-1)).toMatchObject({ event: 'run.ended', status: 'success' })
  })

  test('are dropped for a reader that does not read, with a message that says so; the run continues', async () => {
    const gate = Promise.withResolvers<void>()
    await using slow = gatedServer(gate.promise)
    const many = document({
      blocks: [
        apiTrigger,
        block('w', 'api', { url: slow.url }),
        block('loop', 'loop'),
        { ...block('f', 'function', { code: 'return "x".repeat(40_000)' }), parentId: 'loop' },
      ],
      edges: ['start > w', 'w > loop', 'loop:loop-start-source > f'],
      loops: { loop: { loopType: 'for', iterations: 700 } },
    })
    const { json } = await world.post(await world.executions.deploy(many, false))
    const socket = connect(Number(new URL(world.executions.url).port), '127.0.0.1')
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    let received = ''
    socket.on('data', (data) => {
      received += String(data)
    })
    const cookie = world.session['cookie'] ?? ''
    socket.write(
      `GET /api/editor/runs/${json.executionId}/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${cookie}\r\n\r\n`,
    )
    while (!received.includes('block.started')) await Bun.sleep(1)
    socket.pause()
    gate.resolve()
    expect((await world.watch(json.executionId)).at(-1)).toMatchObject({ event: 'run.ended', status: 'success' })
    socket.resume()
    await closed
    expect(received).toContain('"event":"dropped"')
    expect(received).not.toContain('run.ended')
  }, 120_000)

  test('contain no secret', async () => {
    const { events } = await world.run(line())
    expect(JSON.stringify(events)).toContain('{{TOKEN}}')
    expect(JSON.stringify(events)).not.toContain('the secret value')
  })

  test('of a failed run name the failed block', async () => {
    const failing = document({
      blocks: [apiTrigger, block('bad', 'function', { code: 'throw new Error("Out of tea")' })],
      edges: ['start > bad'],
    })
    const { events, ended, executionId } = await world.run(failing)
    expect(ended).toMatchObject({ status: 'error', error: { code: 'EXECUTION_FAILED', blockId: 'bad' } })
    expect(endedOf(events).at(-1)).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('tea') },
    })
    expect((await world.watch(executionId)).at(-1)).toEqual(ended)
  })

  test('of an unknown run are not found', async () => {
    const { status } = await world.executions.call('/api/editor/runs/0197a5e0-0000-7000-8000-000000000000/events', {
      headers: world.session,
    })
    expect(status).toBe(404)
  })
})
