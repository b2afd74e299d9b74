import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { AppError, errorCodes } from '../../../../src/domain/errors.ts'
import { errorBodyV2, statusV2Of } from '../../../../src/http/errors-v2.ts'
import { HttpWorld } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  const thrown: Record<string, () => unknown> = {
    bug: () => new Error('the password is hunter2'),
    nothing: () => undefined,
    busy: () => new AppError('OVERLOADED', 'Busy.', { retryAfterS: 7 }),
    details: () => new AppError('INVALID_INPUT', 'Wrong.', { details: [{ path: 'input.a', message: 'a is wrong.' }] }),
  }
  const routes = () =>
    new Elysia().get('/api/v2/throw/:name', ({ params }) => {
      throw thrown[params.name]?.()
    })
  world = await HttpWorld.open({ routes })
})
afterAll(() => world.close())

describe('an error below /api/v2', () => {
  test('has the shape of version 2 and a private response, whatever was thrown', async () => {
    const bug = await world.get('/api/v2/throw/bug')
    expect(bug.status).toBe(500)
    expect(bug.json).toEqual({ error: { code: 'INTERNAL_ERROR', message: 'Internal error' } })
    expect(bug.headers.get('cache-control')).toBe('private, no-store')
    expect(bug.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)

    const busy = await world.get('/api/v2/throw/busy')
    expect({ status: busy.status, ...busy.json }).toEqual({
      status: 503,
      error: { code: 'SERVICE_UNAVAILABLE', message: 'Busy.', details: { code: 'OVERLOADED' } },
    })
    expect(busy.headers.get('retry-after')).toBe('7')
  })

  test('lists each mistake with the steps of its path', async () => {
    const { status, json } = await world.get('/api/v2/throw/details')
    expect({ status, ...json }).toEqual({
      status: 400,
      error: { code: 'BAD_REQUEST', message: 'Wrong.', details: [{ path: ['input', 'a'], message: 'a is wrong.' }] },
    })
  })

  test('says without a key how to authenticate, also at an unknown address', async () => {
    for (const path of ['/api/v2', '/api/v2/nothing']) {
      const { status, json, headers } = await world.get(path, { key: null })
      expect({ status, code: json.error.code }).toEqual({ status: 401, code: 'UNAUTHORIZED' })
      expect(headers.get('www-authenticate')).toContain('x-api-key')
      expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0)
    }
  })

  test('is 404 for an unknown address, which counts in the window of the key', async () => {
    const first = await world.get('/api/v2/nothing')
    const second = await world.get('/api/v2/workflows/x/nothing')
    expect([first.status, second.status]).toEqual([404, 404])
    expect(first.json.error).toEqual({ code: 'NOT_FOUND', message: expect.stringContaining('/api/v2/nothing') })
    const remaining = [first, second].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))
    expect(remaining[1]).toBe(remaining[0]! - 1)
  })

  test('has a code of version 2 for every code of the service', () => {
    for (const code of errorCodes) {
      const { error } = errorBodyV2(new AppError(code, 'Text.'))
      expect(statusV2Of(code), code).toBeGreaterThanOrEqual(400)
      expect(error.details === undefined || 'code' in error.details, code).toBe(true)
    }
  })

  test('does not change the errors of other routes', async () => {
    expect((await world.get('/api/v1/nothing')).json).toMatchObject({ code: 'NOT_FOUND', error: expect.any(String) })
  })
})

describe('too many requests below /api/v2', () => {
  test('are refused with the code and the headers of version 2', async () => {
    const small = await HttpWorld.open({ plan: 'free' })
    try {
      for (;;) {
        const { status, json, headers } = await small.get('/api/v2/nothing')
        if (status === 404) continue
        expect({ status, code: json.error.code }).toEqual({ status: 429, code: 'RATE_LIMITED' })
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
        expect(headers.get('x-ratelimit-remaining')).toBe('0')
        return
      }
    } finally {
      await small.close()
    }
  })
})
