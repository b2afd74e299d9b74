import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { Webhook } from 'standardwebhooks'
import { block, document } from '../../../support/make.ts'
import { type CallOptions, ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

let paths = 0
/** Deploys an empty workflow. Returns its path. */
async function hook(params: Record<string, unknown>) {
  paths += 1
  const path = `hook-${paths}`
  const code = block('f', 'function', { code: 'return <webhook.body>' })
  const hooked = block('hook', 'webhook_trigger', { path, ...params })
  await world.deploy(document({ blocks: [hooked, code], edges: ['hook > f'] }))
  return { path }
}

async function encoded(form: FormData) {
  const sent = new Response(form)
  return { headers: { 'content-type': sent.headers.get('content-type') ?? '' }, bytes: await sent.bytes() }
}

const send = (path: string, options: CallOptions = {}) =>
  world.call(`/api/webhooks/trigger/${path}`, { method: 'POST', key: null, ...options })

describe('a request with an idempotency key', () => {
  const idempotency = { header: 'X-Delivery' }

  test('starts one run, however often it arrives; other requests do not wait for it', async () => {
    const { path } = await hook({ idempotency })
    const headers = { 'x-delivery': 'one' }
    const all = await Promise.all(Array.from({ length: 8 }, () => send(path, { body: {}, headers })))
    const first = all.find(({ status }) => status === 202)
    expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 202])
    for (const { json } of all) expect(json.executionId).toBe(first?.json.executionId)
    const again = await send(path, { body: { other: 1 }, headers })
    expect(again.json).toEqual({ success: true, executionId: first?.json.executionId, duplicate: true })
    expect((await send(path, { body: {}, headers: { 'x-delivery': 'two' } })).status).toBe(202)
    expect((await send(path, { body: {} })).status).toBe(202)
    expect((await send(path, { body: {} })).status).toBe(202)
  })

  test('may have its key in a field of the body', async () => {
    const { path } = await hook({ idempotency: { field: 'data.ids[0]' } })
    const body = { data: { ids: [7] } }
    const first = await send(path, { body })
    expect(first.status).toBe(202)
    expect(await send(path, { body })).toMatchObject({ status: 200, json: { executionId: first.json.executionId } })
    expect((await send(path, { body: { data: { ids: ['7'] } } })).status).toBe(202)
    expect((await send(path, { body: { data: null } })).status).toBe(202)
  })

  test.each(['webhook', 'svix'])('has the id that the "standard" scheme signs as its key (%s-id)', async (brand) => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const { path } = await hook({ authentication: { type: 'signature', scheme: 'standard', secret } })
    const signed = (id: string) => {
      const at = new Date()
      const signature = new Webhook(secret).sign(id, at, '{}')
      const timestamp = String(Math.floor(at.getTime() / 1000))
      const headers = { [`${brand}-id`]: id, [`${brand}-timestamp`]: timestamp, [`${brand}-signature`]: signature }
      return send(path, { text: '{}', headers })
    }
    const first = await signed('msg_1')
    expect(first.status).toBe(202)
    for (let again = 0; again < 3; again += 1)
      expect(await signed('msg_1')).toMatchObject({ status: 200, json: { executionId: first.json.executionId } })
    expect((await signed('msg_2')).status).toBe(202)
  })

  test.each(['immediately', 'workflow'])('stores its files once (respond: %s)', async (respond) => {
    const { path } = await hook({ idempotency, respond })
    const stored = () => [...new Glob('files/**/once.bin').scanSync(world.folder)].length
    const before = stored()
    const form = new FormData()
    form.append('part', new File([new Uint8Array(100)], 'once.bin'))
    const { headers, bytes } = await encoded(form)
    const once = () => send(path, { text: bytes, headers: { ...headers, 'x-delivery': 'with files' } })
    for (const { status } of await Promise.all([once(), once(), once()])) expect(status).toBeLessThan(300)
    for (const { status } of [await once(), await once()]) expect(status).toBe(200)
    expect(stored() - before).toBe(1)
  })

  test('runs the workflow once; after a failure, the request may be sent again', async () => {
    paths += 1
    const path = `once-${paths}`
    const hooked = block('hook', 'webhook_trigger', { path, respond: 'workflow', idempotency })
    const code = 'if (<webhook.body.fail>) throw new Error("no"); return <webhook.body>'
    await world.deploy(document({ blocks: [hooked, block('f', 'function', { code })], edges: ['hook > f'] }))
    const headers = { 'x-delivery': 'one' }
    expect((await send(path, { body: { fail: true }, headers })).status).toBe(500)
    const all = await Promise.all(Array.from({ length: 4 }, () => send(path, { body: { n: 1 }, headers })))
    const first = all.find(({ json }) => !json.duplicate)
    expect(first?.json.output.result).toEqual({ n: 1 })
    expect(all.filter(({ json }) => json.duplicate)).toHaveLength(3)
    for (const { json } of all) expect(json.executionId).toBe(first?.json.executionId)
    expect((await send(path, { body: { n: 2 }, headers })).json).toMatchObject({ duplicate: true })
  })

  describe('a duplicate that arrives during the first run', () => {
    let held: ExecutionWorld
    let gate: ReturnType<typeof gateway>
    beforeAll(async () => {
      gate = gateway()
      held = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
    })
    afterAll(async () => {
      await held.close()
      await gate.stop()
    })

    /** Sends the same request three times. The gate's response decides how the first run ends. */
    async function sendThrice(path: string, status: number) {
      paths += 1
      const hooked = block('hook', 'webhook_trigger', { path, respond: 'workflow', idempotency })
      const asked = block('ask', 'api', { url: gate.url, method: 'GET', retries: 0 })
      await held.deploy(document({ blocks: [hooked, asked], edges: ['hook > ask'] }))
      const once = () =>
        held.call(`/api/webhooks/trigger/${path}`, { text: '{}', key: null, headers: { 'x-delivery': 'one' } })
      const before = await counted(held)
      const first = once()
      const release = await gate.reached()
      const others = [once(), once()]
      while ((await counted(held)) < before + 3) await new Promise((resolve) => setImmediate(resolve))
      release(status)
      return { first: await first, others: await Promise.all(others), once }
    }

    test('waits for the run, and is reported as a duplicate when the run succeeds', async () => {
      const { first, others } = await sendThrice('joined', 200)
      expect(first).toMatchObject({ status: 200, json: { output: { status: 200 } } })
      const { executionId } = first.json
      for (const { status, json } of others) {
        expect({ status, json }).toEqual({ status: 200, json: { success: true, executionId, duplicate: true } })
      }
    })

    test('waits for the run, gets its failure, and may then be sent again', async () => {
      const { first, others, once } = await sendThrice('failed', 400)
      expect(first).toMatchObject({ status: 500, json: { success: false, code: 'EXECUTION_FAILED' } })
      for (const { status, json, headers } of others) {
        expect({ status, json }).toEqual({ status: 500, json: first.json })
        expect(headers.get('x-execution-id')).toBe(first.json.executionId)
      }
      const again = once()
      const release = await gate.reached()
      release(200)
      expect(await again).toMatchObject({ status: 200, json: { success: true } })
      expect((await again).json.executionId).not.toBe(first.json.executionId)
    })
  })
})

/** The number of asynchronous runs of the owner that were counted so far. */
async function counted(world: ExecutionWorld): Promise<number> {
  const { json } = await world.call('/api/users/me/usage-limits')
  return json.rateLimit.async.limit - json.rateLimit.async.remaining
}

/** A service that reports each request and responds when the test tells it to. */
function gateway() {
  const waiting: ((release: (status: number) => void) => void)[] = []
  const server = Bun.serve({
    port: 0,
    fetch: () =>
      new Promise<Response>((resolve) => waiting.shift()?.((status) => resolve(new Response('{}', { status })))),
  })
  return {
    url: `http://127.0.0.1:${server.port}/`,
    reached: () => new Promise<(status: number) => void>((resolve) => waiting.push(resolve)),
    stop: () => server.stop(true),
  }
}
