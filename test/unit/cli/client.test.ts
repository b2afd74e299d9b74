import { afterAll, describe, expect, test } from 'bun:test'
import { CommandError } from '../../../src/cli/command.ts'
import { Client, pathOf, ServiceError } from '../../../src/cli/support/client.ts'

const seen: { path: string; key: string | null; body: string }[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    seen.push({ path: pathname + search, key: request.headers.get('x-api-key'), body: await request.text() })
    if (pathname === '/html') return new Response('<html>', { headers: { 'content-type': 'text/html' } })
    if (pathname === '/proxy-error') return new Response('<html>Bad gateway</html>', { status: 502 })
    if (pathname === '/redirect') return new Response(null, { status: 302, headers: { location: '/login' } })
    if (pathname === '/key') return Response.json({ error: 'No key.', code: 'API_KEY_REQUIRED' }, { status: 401 })
    if (pathname === '/refused') {
      const details = [{ path: 'blocks.a', message: 'No such type.' }]
      return Response.json({ error: 'It does not fit.', code: 'INVALID_INPUT', details }, { status: 400 })
    }
    if (pathname === '/never') return new Promise<Response>(() => {})
    return Response.json({ method: request.method })
  },
})
afterAll(() => server.stop(true))
const url = `http://127.0.0.1:${server.port}`
const client = new Client({ url: `${url}/`, apiKey: 'mrk_x', timeoutMs: 5_000 })

async function failure(work: Promise<unknown>): Promise<CommandError> {
  try {
    await work
  } catch (error) {
    if (error instanceof CommandError) return error
    throw error
  }
  throw new Error('The request did not fail')
}

test('a request sends the key and a body, and returns the response', async () => {
  expect(await client.post<{ method: string }>('/a?b=c', { d: 1 })).toEqual({ method: 'POST' })
  expect(seen.at(-1)).toEqual({ path: '/a?b=c', key: 'mrk_x', body: '{"d":1}' })
  expect(await new Client({ url, apiKey: undefined }).get<{ method: string }>('/')).toEqual({ method: 'GET' })
  expect(seen.at(-1)?.key).toBeNull()
})

test('parts of a path are escaped', () => {
  expect(pathOf`/api/workflows/${'a/b ?#'}/deployments/${3}`).toBe('/api/workflows/a%2Fb%20%3F%23/deployments/3')
})

describe('an error names the address and a remedy when', () => {
  test('no service listens', async () => {
    const error = await failure(new Client({ url: 'http://127.0.0.1:1', apiKey: 'k' }).get('/'))
    expect(error.message).toStartWith('http://127.0.0.1:1 cannot be reached: ')
    expect(error.hint).toContain('--url or MILLRACE_URL')
  })

  test('the response takes too long', async () => {
    const error = await failure(new Client({ url, apiKey: 'k', timeoutMs: 20 }).get('/never'))
    expect(error.message).toBe(`${url} did not respond within 20 ms.`)
  })

  test('the key is missing or wrong', async () => {
    const error = await failure(client.get('/key'))
    expect(error.message).toBe(`GET ${url}/key returned 401: No key.`)
    expect(error.hint).toContain('--key or MILLRACE_API_KEY')
  })

  test('the service rejects the request, with every detail', async () => {
    const error = (await failure(client.put('/refused', {}))) as ServiceError
    expect(error).toBeInstanceOf(ServiceError)
    expect(error).toMatchObject({ status: 400, code: 'INVALID_INPUT' })
    expect(error.message).toBe(`PUT ${url}/refused returned 400: It does not fit.\n  blocks.a: No such type.`)
  })

  test.each(['/html', '/proxy-error', '/redirect'])('another program responds (%s)', async (path) => {
    const error = await failure(client.get(path))
    expect(error.message).toContain(`${url}${path} returned`)
    expect(error.hint).toContain('Is a Millrace service at this address?')
  })
})
