import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia, InvalidCookieSignature, InvalidFileType, ParseError, t } from 'elysia'
import { AppError, errorCodes } from '../../../src/domain/errors.ts'
import { type Door, sendAsIs } from '../../../src/http/access/door.ts'
import { statusOf } from '../../../src/http/errors.ts'
import { ManualClock } from '../../support/clock.ts'
import { readScrape, valueIn } from '../../support/telemetry/scrape.ts'
import { HttpWorld } from './world.ts'

let world: HttpWorld
const thrown: Record<string, () => unknown> = {
  bug: () => new Error('the password is hunter2', { cause: new TypeError('inner') }),
  text: () => 'a text',
  nothing: () => undefined,
  object: () => ({ code: 'NOT_A_CODE', status: 200, message: 'x' }),
  parse: () => new ParseError(),
  cookie: () => new InvalidCookieSignature('session'),
  file: () => new InvalidFileType('avatar', 'image/png'),
  outage: () => new AppError('STORAGE_UNAVAILABLE', 'The disk is full.', { cause: new Error('ENOSPC') }),
  busy: () => new AppError('OVERLOADED', 'Busy.', { retryAfterS: 7 }),
  details: () => new AppError('INVALID_INPUT', 'Wrong.', { details: [{ path: 'a', message: 'a is wrong.' }] }),
}
beforeAll(async () => {
  const execute = () => {
    const app = new Elysia()
    for (const [name, make] of Object.entries(thrown)) {
      app.get(`/throw/${name}`, () => {
        throw make()
      })
      app.post(`/throw-later/${name}`, async ({ request }) => {
        await request.text()
        throw make()
      })
    }
    return app
      .get('/validated', () => 'ok', { query: t.Object({ n: t.Numeric() }) })
      .post('/validated', () => 'ok', { parse: 'json', body: t.Object({ n: t.Number() }) })
      .get('/broken-answer', () => ({ n: 'text' }) as never, { response: t.Object({ n: t.Number() }) })
  }
  world = await HttpWorld.open({ access: 'all', routes: execute })
})
afterAll(() => world.close())

describe('the table of codes', () => {
  test('gives every code an error status', () => {
    for (const code of errorCodes) expect(statusOf(code)).toBeGreaterThanOrEqual(400)
  })
})

describe('an exception in a route', () => {
  const expected: Record<string, { status: number; code: string }> = {
    bug: { status: 500, code: 'INTERNAL' },
    text: { status: 500, code: 'INTERNAL' },
    nothing: { status: 500, code: 'INTERNAL' },
    object: { status: 500, code: 'INTERNAL' },
    parse: { status: 400, code: 'INVALID_JSON' },
    cookie: { status: 400, code: 'INVALID_PARAMETERS' },
    file: { status: 400, code: 'INVALID_INPUT' },
    outage: { status: 503, code: 'STORAGE_UNAVAILABLE' },
    busy: { status: 503, code: 'OVERLOADED' },
    details: { status: 400, code: 'INVALID_INPUT' },
  }
  for (const [name, { status, code }] of Object.entries(expected)) {
    test(`"${name}" becomes ${status} ${code}, at once or later`, async () => {
      const answers = [await world.get(`/throw/${name}`), await world.post(`/throw-later/${name}`, { some: 'body' })]
      for (const answer of answers) {
        expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code })
        expect(answer.json.error).toBeString()
        expect(answer.headers.get('content-type')).toStartWith('application/json')
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
        expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
        expect(answer.text).not.toContain('hunter2')
      }
    })
  }

  test('a bug is logged once with its cause, and the caller learns no details', async () => {
    world.lines.length = 0
    const { json, headers } = await world.get('/throw/bug?secret=1')
    expect(json).toEqual({ error: 'Internal error', code: 'INTERNAL' })
    const errors = world.lines.filter(({ message }) => message === 'request failed')
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      level: 'error',
      requestId: headers.get('x-request-id'),
      method: 'GET',
      path: '/throw/bug',
      cause: { name: 'Error', message: 'the password is hunter2', cause: { name: 'TypeError', message: 'inner' } },
    })
  })

  test('an exception that the framework cannot handle is counted', async () => {
    const failures = async () =>
      valueIn(readScrape(await world.metrics.text()), 'millrace_errors_total', { code: 'INTERNAL' }) ?? 0
    const before = await failures()
    expect((await world.get('/throw/nothing')).status).toBe(500)
    expect(await failures()).toBe(before + 1)
  })

  test('an outage has a Retry-After header', async () => {
    expect((await world.get('/throw/outage')).headers.get('retry-after')).toBe('5')
    expect((await world.get('/throw/busy')).headers.get('retry-after')).toBe('7')
  })

  test('details are sent to the caller', async () => {
    expect((await world.get('/throw/details')).json).toEqual({
      error: 'Wrong.',
      code: 'INVALID_INPUT',
      details: [{ path: 'a', message: 'a is wrong.' }],
    })
  })

  test("a request that violates a schema is the caller's error, a response that does is internal", async () => {
    expect((await world.get('/validated?n=x')).json.code).toBe('INVALID_PARAMETERS')
    expect((await world.post('/validated', { n: 'x' })).json.code).toBe('INVALID_INPUT')
    expect((await world.post('/validated', undefined, { text: '{' })).json.code).toBe('INVALID_JSON')
    const { status, json } = await world.get('/broken-answer')
    expect({ status, json }).toEqual({ status: 500, json: { error: 'Internal error', code: 'INTERNAL' } })
  })
})

describe('an address', () => {
  test('that does not exist responds with 404 and points to the documentation', async () => {
    const { status, json } = await world.get('/nothing/here', { key: null })
    expect(status).toBe(404)
    expect(json).toEqual({
      error: 'There is nothing at /nothing/here. GET /swagger shows what there is.',
      code: 'NOT_FOUND',
    })
  })

  test('with other methods responds with 405 and names them', async () => {
    const cases: [string, string, string][] = [
      ['POST', '/health', 'GET, HEAD, OPTIONS'],
      ['PATCH', '/api/workflows', 'GET, HEAD, OPTIONS, POST'],
      ['DELETE', '/api/workflows/x/status', 'GET, HEAD, OPTIONS'],
      ['GET', '/api/workflows/x/deploy', 'DELETE, OPTIONS, POST'],
      ['PUT', '/api/v1/logs/x', 'GET, HEAD, OPTIONS'],
      ['POST', '/api/workflows/x', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ]
    for (const [method, path, allow] of cases) {
      const { status, json, headers } = await world.call(method, path)
      expect({ method, path, status, code: json.code }).toEqual({
        method,
        path,
        status: 405,
        code: 'METHOD_NOT_ALLOWED',
      })
      expect(headers.get('allow')).toBe(allow)
    }
  })

  test('responds to HEAD like GET, without the body', async () => {
    const get = await world.get('/health/live')
    const head = await world.call('HEAD', '/health/live')
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' })
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
    const missing = await world.call('HEAD', '/nothing')
    expect({ status: missing.status, text: missing.text }).toEqual({ status: 404, text: '' })
    expect((await world.call('HEAD', '/api/workflows/x/deploy')).status).toBe(405)
  })

  test('responds to OPTIONS with its methods', async () => {
    const { status, headers } = await world.call('OPTIONS', '/api/workflows/x')
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 204, allow: 'DELETE, GET, HEAD, OPTIONS, PUT' })
    expect((await world.call('OPTIONS', '/nothing')).status).toBe(404)
  })

  test('may end in a slash, and its host may have one letter', async () => {
    expect((await world.get('/health/')).status).toBe(200)
    expect((await world.get('/api/workspaces', { headers: { host: 'a' } })).status).toBe(200)
    const { json } = await world.get('/sample/quotes?tag=none', { headers: { host: 'a' } })
    expect(json.data).toEqual([])
  })
})

describe('the request id', () => {
  test("is the caller's if it is safe in a header and in a log line", async () => {
    const sane = ['abc', '7f3b-1/2:3+4=5@6._', 'x'.repeat(128)]
    for (const id of sane) {
      expect((await world.get('/health', { headers: { 'X-Request-Id': id } })).headers.get('x-request-id')).toBe(id)
      expect((await world.get('/none', { headers: { 'X-Request-Id': id } })).headers.get('x-request-id')).toBe(id)
    }
    for (const id of ['a b', '<script>', 'x'.repeat(129), '"', 'é']) {
      const { headers } = await world.get('/health', { headers: { 'X-Request-Id': id } })
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })
})

describe('the access log', () => {
  const linesAbout = (path: string) => world.lines.filter((line) => line.message === 'request' && line.path === path)

  test('has one line per request, without keys, queries or bodies', async () => {
    world.lines.length = 0
    const id = await world.workflow({ description: 'sesame' })
    await world.get(`/api/workflows/${id}?workspaceId=sesame`, { headers: { 'x-request-id': 'r-1' } })
    await world.get('/api/workflows/missing', { headers: { 'x-request-id': 'r-2' } })
    expect(linesAbout(`/api/workflows/${id}`)).toHaveLength(1)
    const [line] = linesAbout(`/api/workflows/${id}`)
    expect(line).toMatchObject({ level: 'info', requestId: 'r-1', method: 'GET', status: 200, code: null })
    expect(line.bytes).toBeGreaterThan(100)
    expect(line.durationMs).toBeGreaterThan(0)
    expect(line.keyId).toBeString()
    expect(linesAbout('/api/workflows')).toMatchObject([{ method: 'POST', status: 201, workflowId: id }])
    expect(linesAbout('/api/workflows/missing')).toMatchObject([{ requestId: 'r-2', status: 404, code: 'NOT_FOUND' }])
    const everything = JSON.stringify(world.lines)
    expect(everything).not.toContain('mrk_')
    expect(everything).not.toContain('sesame')
  })

  test('has the facts that a route notes, also when the route returns its own `Response`', async () => {
    const execute = (door: Door) =>
      new Elysia().get('/own/:status', ({ request, params, set }) => {
        door.allowAnonymous(request, set)
        door.note(request, { keyId: 'k-1', workflowId: 'w-1', executionId: 'e-1', runCode: 'EXECUTION_FAILED' })
        if (params.status === '500') throw new Error('inner')
        const headers = set.headers as Record<string, string>
        return sendAsIs(set, new Response('{}', { status: Number(params.status), headers }))
      })
    const own = await HttpWorld.open({ access: 'errors', routes: execute })
    const headers = { 'x-request-id': 'r-9' }
    try {
      expect((await own.get('/own/200', { headers })).headers.get('x-request-id')).toBe('r-9')
      await own.get('/own/504', { headers })
      await own.get('/own/500', { headers })
      const facts = { requestId: 'r-9', keyId: 'k-1', userId: null, workflowId: 'w-1', executionId: 'e-1' }
      expect(own.lines).toMatchObject([
        { message: 'request', status: 504, code: 'EXECUTION_FAILED', bytes: null, ...facts },
        { message: 'request failed', requestId: 'r-9', cause: { message: 'inner' } },
        { message: 'request', status: 500, code: 'INTERNAL', ...facts },
      ])
      expect(own.lines[0].durationMs).toBeNumber()
    } finally {
      await own.close()
    }
  })

  test('contains only errors by default', async () => {
    const quiet = await HttpWorld.open({ access: 'errors' })
    try {
      await quiet.get('/api/workspaces')
      await quiet.get('/api/workspaces', { key: null })
      await quiet.get('/none')
      expect(quiet.lines.map(({ path, status }) => [path, status])).toEqual([
        ['/api/workspaces', 401],
        ['/none', 404],
      ])
    } finally {
      await quiet.close()
    }
  })
})

describe('health', () => {
  const bad = async (world: HttpWorld) => {
    for (const path of ['/health', '/health/ready']) {
      const { status, json, headers } = await world.get(path, { key: null })
      expect({ path, status, code: json.code }).toEqual({ path, status: 503, code: 'STORAGE_UNAVAILABLE' })
      expect(headers.get('retry-after')).toBe('5')
    }
    expect((await world.get('/health/live', { key: null })).status).toBe(200)
  }

  test('is bad while log entries do not reach the disk, and the liveness check still succeeds', async () => {
    const world = await HttpWorld.open({ override: () => ({ writerHealth: () => ({ healthy: false, waiting: 3 }) }) })
    await bad(world).finally(() => world.close())
  })

  test('is bad when the store cannot be written, and checks the store at most once a second', async () => {
    let probes = 0
    const clock = new ManualClock()
    const probe = async () => {
      probes += 1
      return false
    }
    const world = await HttpWorld.open({ override: ({ store }) => ({ store: { ...store, probe }, clock }) })
    try {
      await bad(world)
      expect(probes).toBe(1)
      clock.advance(1000)
      await bad(world)
      expect(probes).toBe(2)
    } finally {
      await world.close()
    }
  })
})
