import { describe, expect, test } from 'bun:test'
import { type CallOptions, HttpWorld } from '../world.ts'

/** The limit of the tier `free`. */
const limit = 10
const refusedMax = 60

describe('the rate limit of the external API', () => {
  test('is shown on every response, and counts down to 429', async () => {
    const world = await HttpWorld.open({ plan: 'free' })
    try {
      const paths = [
        `/api/v1/logs?workspaceId=${world.workspaceId}`,
        '/api/v1/logs',
        '/api/v1/logs/none',
        '/api/v1/unknown',
      ]
      const responses = []
      for (const path of paths) responses.push(await world.get(path))
      responses.push(await world.post('/api/v1/logs', {}))
      expect(responses.map(({ status }) => status)).toEqual([200, 400, 404, 404, 405])
      expect(responses.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['9', '8', '7', '6', '5'])
      for (let left = 4; left >= 0; left--) {
        const { headers } = await world.get('/api/v1/logs/none')
        expect(headers.get('x-ratelimit-remaining')).toBe(String(left))
      }
      const askedAt = Date.now()
      const last = await world.get('/api/v1/logs/none')
      expect({ status: last.status, code: last.json.code }).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
      expect(last.headers.get('x-ratelimit-limit')).toBe(String(limit))
      expect(last.headers.get('x-ratelimit-remaining')).toBe('0')
      const waitS = Number(last.headers.get('retry-after'))
      expect(waitS).toBeGreaterThan(0)
      expect(waitS).toBeLessThanOrEqual(60)
      const endsInMs = Date.parse(last.headers.get('x-ratelimit-reset') ?? '') - askedAt
      expect(endsInMs).toBeGreaterThan((waitS - 2) * 1000)
    } finally {
      await world.close()
    }
  })

  test('applies to the account: requests with all its keys count together', async () => {
    const world = await HttpWorld.open({ plan: 'free' })
    try {
      const second = await world.key({ workspaceId: world.workspaceId })
      for (let n = 0; n < limit; n++) await world.get('/api/v1/logs/none', { key: n % 2 ? second : world.owner })
      expect((await world.get('/api/v1/logs/none', { key: second })).status).toBe(429)
      expect((await world.get('/api/v1/logs/none', { key: world.outsider })).status).toBe(404)
    } finally {
      await world.close()
    }
  })

  test('without a valid key counts against the caller only, never against one with a key', async () => {
    const world = await HttpWorld.open({ plan: 'free' })
    try {
      for (let n = 0; n < refusedMax; n++) {
        const { status, headers } = await world.get('/api/v1/logs/x', { key: n % 2 ? null : 'bad' })
        expect(status).toBe(401)
        expect(headers.get('x-ratelimit-limit')).toBe(String(refusedMax))
      }
      const { status, json } = await world.get('/api/v1/logs/x', { key: null })
      expect({ status, code: json.code }).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
      expect((await world.post('/api/v1/logs/x', {}, { key: 'bad' })).status).toBe(429)
      expect((await world.get('/api/v1/logs/x')).status).toBe(404)
    } finally {
      await world.close()
    }
  })

  test('is shown, uncounted, on responses that are sent before the key check', async () => {
    const world = await HttpWorld.open({ plan: 'free', bodyBytesMax: 100 })
    try {
      const calls: [method: string, path: string, options: CallOptions, status: number][] = [
        ['POST', '/api/v1/logs', { text: 'x'.repeat(1_000) }, 413],
        ['OPTIONS', '/api/v1/logs', { key: null }, 204],
        ['GET', '/api/v1', { key: null }, 401],
        ['HEAD', '/api/v1/logs/none', {}, 404],
        ['HEAD', '/api/v1/logs/none', { key: null }, 401],
        ['DELETE', '/api/v1/logs/none', { key: 'bad' }, 401],
        ['PATCH', '/api/v1/logs/none', {}, 405],
        // A path with an invalid escape passes the key check and is counted.
        ['GET', '/api/v1/logs/%E0%A4%A', {}, 404],
        ['GET', '/api/v1/%ZZ/none', {}, 404],
        ['GET', '/api/v1/logs/%ZZ', { key: null }, 401],
      ]
      const left = []
      for (const [method, path, options, status] of calls) {
        const response = await world.call(method, path, options)
        const limited = ['limit', 'remaining', 'reset'].map((name) => response.headers.get(`x-ratelimit-${name}`))
        expect([method, path, response.status, limited.includes(null)]).toEqual([method, path, status, false])
        expect(limited[2]).toBe(new Date(Date.parse(limited[2] ?? '')).toISOString())
        left.push(`${limited[1]}/${limited[0]}`)
      }
      expect(left).toEqual([
        ...['60/60', '60/60', '59/60', '9/10', '58/60', '57/60', '8/10'],
        ...['7/10', '6/10', '56/60'],
      ])
    } finally {
      await world.close()
    }
  })

  test('does not apply to management routes', async () => {
    const world = await HttpWorld.open({ plan: 'free' })
    try {
      for (let n = 0; n < limit + 2; n++) {
        const { status, headers } = await world.get('/api/workspaces')
        expect(status).toBe(200)
        expect(headers.get('x-ratelimit-limit')).toBeNull()
      }
    } finally {
      await world.close()
    }
  })

  test('is reported with what the account has left', async () => {
    const world = await HttpWorld.open({ plan: 'free' })
    try {
      const { json } = await world.get('/api/users/me/usage-limits')
      const free = (each: number) => ({
        isLimited: false,
        limit: each,
        remaining: each,
        resetAt: expect.stringMatching(/Z$/),
      })
      expect(json).toEqual({
        success: true,
        rateLimit: { sync: free(10), async: free(50), authType: 'api' },
        usage: { currentPeriodCost: 0, limit: 10, plan: 'free' },
      })
    } finally {
      await world.close()
    }
  })
})
