import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pageText, scriptText } from './interface-files.ts'
import { HttpWorld } from './world.ts'

describe('the editor', () => {
  let world: HttpWorld
  beforeAll(async () => {
    world = await HttpWorld.open()
  })
  afterAll(() => world.close())

  /** Sends a request like a browser. */
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${world.url}${path}`, { headers })

  test('has the same page at the address of every screen', async () => {
    for (const path of ['/', '/w/abc/workflows', '/w/abc/settings/keys', '/workflows/abc', '/logs/abc?x=1']) {
      const response = await get(path)
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ])
      expect(await response.text()).toBe(pageText)
    }
  })

  test('leaves all other addresses to the API, whose errors are JSON', async () => {
    for (const path of ['/api/nothing', '/api/editor/nothing', '/api/v1/nothing', '/nothing', '/assets/gone.js']) {
      const response = await get(path, { accept: 'text/html' })
      expect([path, response.headers.get('content-type')?.split(';')[0]]).toEqual([path, 'application/json'])
      expect(response.status).toBeGreaterThanOrEqual(400)
    }
    for (const path of ['/assets/constructor', '/assets/..%2f', '/assets/%00']) {
      expect((await get(path)).status).toBe(404)
    }
  })

  test('allows its page to load only its own files, and no other page to embed it', async () => {
    const { headers } = await get('/')
    const [first = '', second] = headers.get('content-security-policy')!.split(', ')
    const policy = new Map(first.split('; ').map((part) => [part.split(' ')[0]!, part.split(' ').slice(1).join(' ')]))
    expect(policy.get('default-src')).toBe("'self'")
    expect(policy.get('script-src')).toBe("'self'")
    expect(policy.get('style-src')).toBe("'self'")
    expect(policy.get('frame-ancestors')).toBe("'none'")
    expect(policy.get('base-uri')).toBe("'none'")
    expect([...policy.values()].join()).not.toContain('unsafe')
    // Content of workflows has the same origin, but is not in this folder.
    expect(second).toBe('script-src http://*:*/assets/; style-src http://*:*/assets/')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('revalidates the page on every load, and sends it only when it changed', async () => {
    const first = await get('/')
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const again = await get('/', { 'if-none-match': first.headers.get('etag')! })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect(again.headers.get('content-security-policy')).toBe(first.headers.get('content-security-policy'))
    expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('allows browsers to cache its files forever', async () => {
    const { headers } = await get('/assets/main.js')
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('vary')).toBe('accept-encoding')
  })

  test('sends each file in the smallest encoding that the browser accepts', async () => {
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip, deflate', 'gzip'],
      ['identity', null],
    ] as const) {
      const response = await get('/assets/main.js', { 'accept-encoding': accepted })
      // Bun decompresses the body but keeps the header that names the encoding.
      expect([await response.text(), response.headers.get('content-encoding')]).toEqual([scriptText, encoding])
    }
    const font = await get('/assets/font.woff2', { 'accept-encoding': 'br' })
    expect([await font.text(), font.headers.get('content-encoding')]).toEqual(['a font', null])
  })

  test('responds to HEAD without a body', async () => {
    const response = await fetch(`${world.url}/`, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'text/html; charset=utf-8',
      '',
    ])
  })
})

test('a service that runs from source without a built editor says how to build one', async () => {
  const world = await HttpWorld.open({ override: () => ({ interfaceFiles: async () => ({}) }) })
  const response = await fetch(world.url)
  expect(response.status).toBe(404)
  expect(((await response.json()) as { error: string }).error).toContain('bun scripts/build-interface.ts')
  await world.close()
})
