import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { heldCharsMax } from '../../../../src/http/responses/held/held-response.ts'
import { block, document } from '../../../support/make.ts'
import { type CallOptions, ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'run-timeout-ms': '2000', 'pause-in-memory-ms': '50' })
})
afterAll(() => world.close())

const code = `
  if (<api.input>.fails) throw new Error('no')
  return { chance: Math.random(), text: 'x'.repeat(<api.input>.length ?? 0) }`

/** Returns a number that is different in each run. */
const chance = document({ blocks: [start(), block('f', 'function', { code })], edges: ['start > f'] })

/** The same after a wait. */
const slow = (params: Record<string, unknown>) =>
  document({
    blocks: [start(), block('w', 'wait', params), block('f', 'function', { code })],
    edges: ['start > w', 'w > f'],
  })

const keyed = (key: string, headers: Record<string, string> = {}): CallOptions => ({
  headers: { 'idempotency-key': key, ...headers },
})
const asynchronous = { 'x-execution-mode': 'async' }

async function runsOf(id: string): Promise<{ id: string }[]> {
  return (await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)).json.data
}

async function ended(statusUrl: string): Promise<string> {
  for (;;) {
    const { status } = (await world.call(statusUrl)).json
    if (status === 'completed' || status === 'failed') return status
    await Bun.sleep(10)
  }
}

describe('a synchronous request with an Idempotency-Key', () => {
  test('gets the stored status and body when it is repeated, and runs once', async () => {
    const id = await world.deploy(chance)
    const first = await world.execute(id, { a: 1 }, keyed('k'))
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
    const repeat = await world.execute(id, { a: 1 }, keyed('k'))
    expect([repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(repeat.json).toEqual(first.json)
    expect(repeat.headers.get('x-execution-id')).toBe(first.headers.get('x-execution-id'))
    expect(await runsOf(id)).toHaveLength(1)
  })

  test("gets the stored response of a response block with the block's headers", async () => {
    const respond = block('r', 'response', { status: 201, headers: { 'X-Own': 'mine' }, data: '<f.result.chance>' })
    const id = await world.deploy(
      document({ blocks: [start(), block('f', 'function', { code }), respond], edges: ['start > f', 'f > r'] }),
    )
    const [first, repeat] = [await world.execute(id, {}, keyed('k')), await world.execute(id, {}, keyed('k'))]
    expect([first.status, repeat.status, repeat.headers.get('x-own')]).toEqual([201, 201, 'mine'])
    expect(repeat.json).toEqual(first.json)
  })

  test('runs once when it is sent several times at once: the others get 409 with Retry-After', async () => {
    const id = await world.deploy(slow({ ms: 500 }))
    const all = await Promise.all(Array.from({ length: 4 }, () => world.execute(id, {}, keyed('k'))))
    expect(all.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    for (const { json, headers } of all.filter(({ status }) => status === 409)) {
      expect([json.code, headers.get('retry-after')]).toEqual(['IDEMPOTENCY_IN_PROGRESS', '1'])
    }
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('gets 422 with another body or another mode', async () => {
    const id = await world.deploy(chance)
    await world.execute(id, { a: 1 }, keyed('k'))
    for (const [body, headers] of [
      [{ a: 2 }, {}],
      [{ a: 1 }, asynchronous],
    ] as const) {
      const { status, json } = await world.execute(id, body, keyed('k', headers))
      expect([status, json.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH'])
    }
  })

  test('runs again after its run failed, and after it started no run', async () => {
    const id = await world.deploy(chance)
    expect((await world.execute(id, { fails: true }, keyed('k'))).status).toBe(500)
    expect((await world.execute(id, undefined, { ...keyed('k'), text: '{' })).status).toBe(400)
    expect((await world.execute(id, { a: 1 }, keyed('k'))).status).toBe(200)
    expect(await runsOf(id)).toHaveLength(2)
  })

  test('shares its key neither with other workflows nor with other accounts', async () => {
    const [id, other] = [await world.deploy(chance), await world.deploy(chance)]
    const { key } = await world.addMember('editor')
    const ids = new Set<string>()
    for (const [workflow, more] of [
      [id, {}],
      [other, {}],
      [id, { key }],
    ] as const) {
      const { status, json } = await world.execute(workflow, {}, { ...keyed('k'), ...more })
      expect(status).toBe(200)
      ids.add(json.executionId)
    }
    expect(ids.size).toBe(3)
  })

  test('gets 409 with the ID of its run when the response was too large to be stored', async () => {
    const id = await world.deploy(chance)
    const first = await world.execute(id, { length: heldCharsMax }, keyed('k'))
    expect(first.status).toBe(200)
    const repeat = await world.execute(id, { length: heldCharsMax }, keyed('k'))
    expect([repeat.status, repeat.json.code]).toEqual([409, 'CONFLICT'])
    expect(repeat.json.error).toContain(first.json.executionId)
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('gets the 202 of its paused run, and runs no second time', async () => {
    const id = await world.deploy(slow({ for: '1 hour' }))
    const first = await world.execute(id, {}, keyed('k'))
    const repeat = await world.execute(id, {}, keyed('k'))
    expect([first.status, repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([202, 202, 'true'])
    expect(repeat.json).toEqual(first.json)
  })

  test('is refused with a key that is empty, too long or not visible', async () => {
    const id = await world.deploy(chance)
    for (const key of ['', 'a b', 'x'.repeat(256)]) {
      const { status, json } = await world.execute(id, {}, keyed(key))
      expect([status, json.code]).toEqual([400, 'INVALID_INPUT'])
    }
    expect((await world.execute(id, {}, keyed('x'.repeat(255)))).status).toBe(200)
  })

  test('learns nothing about a workflow that its caller cannot see', async () => {
    const id = await world.deploy(chance)
    await world.execute(id, {}, keyed('k'))
    const { status } = await world.execute(id, {}, { ...keyed('a b'), key: await world.otherKey() })
    expect(status).toBe(404)
  })

  test('runs each time when its response is a stream', async () => {
    const id = await world.deploy(chance)
    for (let count = 0; count < 2; count += 1) await world.execute(id, { stream: true }, keyed('k'))
    expect(await runsOf(id)).toHaveLength(2)
  })
})

describe('an asynchronous request with an Idempotency-Key', () => {
  test('gets the first 202 at once when it is repeated, before and after its run ended', async () => {
    const id = await world.deploy(slow({ ms: 200 }))
    const first = await world.execute(id, {}, keyed('k', asynchronous))
    const second = await world.execute(id, {}, keyed('k', asynchronous))
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.json).toEqual(first.json)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await ended(first.json.statusUrl)).toBe('completed')
    expect((await world.execute(id, {}, keyed('k', asynchronous))).json).toEqual(first.json)
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('runs again after its run failed', async () => {
    const id = await world.deploy(chance)
    const first = await world.execute(id, { fails: true }, keyed('k', asynchronous))
    expect(await ended(first.json.statusUrl)).toBe('failed')
    const second = await world.execute(id, { fails: true }, keyed('k', asynchronous))
    expect(second.status).toBe(202)
    expect(second.json.executionId).not.toBe(first.json.executionId)
  })
})
