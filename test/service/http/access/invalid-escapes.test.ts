import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import '../../../support/built.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { type Serving, serve } from '../../../support/running-service.ts'
import { type AccessRow, accessTable } from './access-table.ts'

/** Not percent-encoding: `%zz` has no hexadecimal digits, `%ff` is not UTF-8, and `%E0%A4%A` ends early. */
const invalid = ['%zz', '%ff', '%E0%A4%A']

/** Secrets of version 2 have names, which it checks before it looks for one. */
const namesObjects = ({ route }: AccessRow) => route.includes('/api/') && route.includes('/:')
const withParameters = accessTable.filter((row) => namesObjects(row) && !row.route.includes('/api/v2/secrets/'))

describe('a path parameter with an invalid percent escape', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let service: Serving
  let session: Record<string, string>
  let key: Record<string, string>
  let addresses = 0
  beforeAll(async () => {
    folder = temporaryFolder()
    service = await serve(folder.path, { MILLRACE_PLAN: 'enterprise', MILLRACE_TRUSTED_PROXIES: 'loopback' })
    const link = /http:\/\/\S+\/sign-in\?token=\S+/.exec(service.output())?.[0] ?? ''
    const opened = await fetch(link, { redirect: 'manual' })
    session = { cookie: opened.headers.get('set-cookie')?.split(';')[0] ?? '', origin: service.url }
    const made = await fetch(`${service.url}/api/editor/keys`, {
      method: 'POST',
      headers: session,
      body: '{"name":"test"}',
    })
    key = { 'x-api-key': ((await made.json()) as { apiKey: string }).apiKey }
  }, 120_000)
  afterAll(async () => {
    await service.kill('SIGKILL')
    folder[Symbol.dispose]()
  })

  test.each(invalid)('%p gets 404 on every route of the API, and 401 from callers who are not known', async (text) => {
    const found: Record<string, string[]> = {}
    const expected: typeof found = {}
    for (const row of withParameters) {
      const isDashboard = row.route.includes(' /api/editor/')
      found[row.route] = [await send(row, text, {}), await send(row, text, isDashboard ? session : key)]
      const unknown = isDashboard
        ? '401 SIGN_IN_REQUIRED'
        : row.route.includes(' /api/v2/')
          ? '401 UNAUTHORIZED'
          : '401 API_KEY_REQUIRED'
      expected[row.route] = [isOpen(row) ? '404 NOT_FOUND' : unknown, '404 NOT_FOUND']
    }
    expect(found).toEqual(expected)
    expect(Object.keys(found).length).toBeGreaterThan(40)
  })

  test('gets the same response as an unknown id from the execute endpoint, with the rate window', async () => {
    const execute = async (id: string) => {
      const url = `${service.url}/api/workflows/${id}/execute`
      const response = await fetch(url, { method: 'POST', headers: key, body: '{}' })
      return { status: response.status, body: await response.text(), headers: [...response.headers.keys()].sort() }
    }
    const response = await execute('%zz')
    expect(response).toEqual(await execute('unknown'))
    expect(response.headers).toContain('x-ratelimit-remaining')
  })

  /** Responds with the status and the code. The requests come from several addresses: unknown ones are counted. */
  async function send({ route, body: sent }: AccessRow, id: string, headers: Record<string, string>): Promise<string> {
    const [method = '', path = ''] = route.split(' ')
    const response = await fetch(service.url + path.replaceAll(/:\w+/g, id), {
      method,
      headers: { ...headers, 'x-forwarded-for': `203.0.113.${addresses++ % 200}` },
      ...(sent === undefined || method === 'GET' ? {} : { body: sent }),
    })
    const body = (await response.json()) as { code?: string; error: string | { code: string } }
    return `${response.status} ${typeof body.error === 'object' ? body.error.code : body.code}`
  }
})

/** Whether a route needs no key. */
function isOpen({ route }: AccessRow): boolean {
  return [' /api/chat/', ' /api/forms/', ' /api/webhooks/', ' /api/peers/', ' /api/pauses/'].some((part) =>
    route.includes(part),
  )
}
