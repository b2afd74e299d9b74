import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { block, document } from '../../../support/make.ts'
import { type CallOptions, ExecutionWorld, echo, start } from '../execution-world.ts'

let world: ExecutionWorld

beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

const typed = document({
  blocks: [
    start([
      { name: 'n', type: 'number', required: true },
      { name: 's', type: 'string' },
    ]),
    block('if', 'condition', { conditions: [{ id: 'big', expression: '<api.n> > 10' }] }),
  ],
  edges: ['start > if'],
})

describe('the checks of the endpoint', () => {
  test('are the same for every spelling of its address', async () => {
    const id = await world.deploy(typed)
    const plain = `/api/workflows/${id}/execute`
    for (const path of [plain, `${plain}/`, `${plain}?n=1`, plain.replace(id, id.replace('-', '%2D'))]) {
      const send = async (body: unknown, key?: null) => {
        const { status } = await world.call(path, { method: 'POST', body, ...(key === null && { key }) })
        return status
      }
      const statuses = [await send({ n: 11 }), await send({ n: 'many' }), await send({ n: 11 }, null)]
      expect({ path, statuses }).toEqual({ path, statuses: [200, 400, 401] })
    }
    expect((await world.call(plain, { method: 'GET' })).status).toBe(405)
  })

  test('happen in order: a caller sees a failed check only after passing the ones before it', async () => {
    const deployed = await world.deploy(typed)
    const draft = await world.deploy(typed, false)
    const noTrigger = await world.deploy(
      document({ blocks: [block('m', 'manual_trigger'), block('w', 'wait', { ms: 1 })], edges: ['m > w'] }),
    )
    const big = { text: 'x'.repeat(3000) }
    const cases: [status: number, code: string, id: string, options: CallOptions][] = [
      [413, 'PAYLOAD_TOO_LARGE', 'nowhere', { text: 'x'.repeat(5000), key: null }],
      [401, 'API_KEY_REQUIRED', deployed, { key: null, ...big }],
      [401, 'INVALID_API_KEY', deployed, { key: 'mrk_wrong', ...big }],
      [401, 'INVALID_API_KEY', 'nowhere', { key: `mrk_${'a'.repeat(36)}` }],
      [404, 'NOT_FOUND', 'nowhere', big],
      [403, 'WORKFLOW_NOT_DEPLOYED', draft, big],
      [404, 'NOT_FOUND', noTrigger, big],
      [413, 'PAYLOAD_TOO_LARGE', deployed, big],
      [400, 'INVALID_JSON', deployed, { text: '{' }],
      [400, 'INVALID_JSON', deployed, { text: `{"n":${'['.repeat(250)}${']'.repeat(250)}}` }],
      [400, 'INVALID_JSON', deployed, { text: new Uint8Array([0x7b, 0xff, 0x7d]) }],
      [400, 'INVALID_INPUT', deployed, { text: '{}' }],
      [400, 'INVALID_INPUT', deployed, { text: '{"n":"many"}' }],
      [400, 'INVALID_INPUT', deployed, { text: '{"n":1,"stream":"yes"}' }],
      [400, 'INVALID_INPUT', deployed, { text: '{"n":1,"selectedOutputs":"a.b"}' }],
      [400, 'INVALID_INPUT', deployed, { text: '{"n":1,"selectedOutputs":["if","nobody.x"]}' }],
      [400, 'INVALID_INPUT', deployed, { text: '{"n":1e999}' }],
    ]
    for (const [status, code, id, options] of cases) {
      const response = await world.execute(id, undefined, options)
      const about = JSON.stringify({ id, options }).slice(0, 100)
      expect({ about, status: response.status, json: response.json }).toMatchObject({
        about,
        status,
        json: { code, error: expect.any(String) },
      })
      expect(response.headers.get('x-execution-id')).toBeNull()
    }
    const details = (await world.execute(deployed, { n: 'x', s: {} })).json as { details: { path: string }[] }
    expect(details.details.map(({ path }) => path)).toEqual(['n', 's'])
  })

  test('also work without a Host header, as in HTTP/1.0', async () => {
    const { port } = new URL(world.url)
    const response = Promise.withResolvers<string>()
    let text = ''
    await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(port),
      socket: {
        open: (socket) => void socket.write('GET /sample/quotes?tag=work HTTP/1.0\r\n\r\n'),
        data(socket, chunk) {
          text += new TextDecoder().decode(chunk)
          if (text.includes('Aristotle')) socket.end()
        },
        close: () => response.resolve(text),
      },
    })
    expect(await response.promise).toContain('200 OK')
  })

  test('count a body in chunks while it arrives', async () => {
    const id = await world.deploy(echo)
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('x'.repeat(500)))
      },
    })
    const response = await fetch(`${world.url}/api/workflows/${id}/execute`, {
      method: 'POST',
      headers: { 'x-api-key': world.apiKey },
      body: stream,
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  })

  test('refuse a run beyond the share of its workspace before anything runs', async () => {
    const id = await world.deploy(
      document({ blocks: [start(), block('w', 'wait', { ms: 300 })], edges: ['start > w'] }),
    )
    const responses = await Promise.all(Array.from({ length: 30 }, () => world.execute(id, {})))
    const refused = responses.filter(({ status }) => status === 503)
    expect(responses.filter(({ status }) => status === 200).length).toBe(16)
    expect(refused.length).toBe(14)
    for (const { json, headers } of refused) {
      expect(json).toMatchObject({ code: 'OVERLOADED', error: expect.stringContaining('MILLRACE_RUNS_MAX') })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
  })

  test('refuse everything malformed, with an error and a code', async () => {
    const id = await world.deploy(typed)
    const bodies = fc.oneof(
      fc.string().filter((text) => !isObjectText(text)),
      fc
        .jsonValue()
        .map((value) => JSON.stringify({ n: value ?? 'x' }))
        .filter((text) => !holdsNumber(text)),
      fc.string().map((text) => `{"n":1,"stream":${JSON.stringify(text)}}`),
      fc
        .string()
        .map((text) => `{"n":1}${text}`)
        .filter((text) => text.slice(7).trim() !== ''),
      fc.integer({ min: 201, max: 600 }).map((depth) => `{"n":1,"x":${'['.repeat(depth)}${']'.repeat(depth)}}`),
    )
    await fc.assert(
      fc.asyncProperty(bodies, async (text) => {
        const { status, json } = await world.execute(id, undefined, { text })
        expect({ text, status }).toEqual({ text, status: expect.any(Number) })
        expect(status).toBeGreaterThanOrEqual(400)
        expect(status).toBeLessThan(500)
        expect(json).toMatchObject({ error: expect.any(String), code: expect.any(String) })
      }),
      { numRuns: 700 },
    )
  })
})

function isObjectText(text: string): boolean {
  try {
    return holdsNumber(text)
  } catch {
    return false
  }
}

function holdsNumber(text: string): boolean {
  const value = JSON.parse(text) as { n?: unknown } | null
  const n = value?.n
  return typeof n === 'number' || (typeof n === 'string' && n !== '' && String(Number(n)) === n)
}
