import { describe, expect, test } from 'bun:test'
import { api } from '../../../../src/blocks/api.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import type { BlockContext } from '../../../../src/engine/block.ts'
import { httpPeer } from '../../../support/outbound/peers.ts'
import { makeContext, runBlock } from '../context.ts'

type Page = (request: Request, url: URL, number: number) => Response | Promise<Response>

function service(page: Page) {
  const urls: string[] = []
  const peer = httpPeer(async (request) => {
    urls.push(request.url.replace(/^http:\/\/[^/]+/, ''))
    return await page(request, new URL(request.url), urls.length)
  })
  return { urls, url: `http://127.0.0.1:${peer.port}/items`, [Symbol.dispose]: () => void peer.stop(true) }
}

async function read(params: Record<string, unknown>, overrides: Partial<BlockContext> = {}) {
  using context = makeContext({ random: () => 0, ...overrides })
  return await runBlock(api, { retries: 0, ...params }, context)
}

describe('an API block with pagination', () => {
  test('outputs the items of all pages, and the status and headers of the last response', async () => {
    using peer = service((_, url, number) => {
      const after = Number(url.searchParams.get('after') ?? 0)
      const data = { data: [after, after + 1], paging: after < 4 ? { after: after + 2 } : null }
      return Response.json(data, { headers: { 'x-page': String(number) } })
    })
    const { outputs } = await read({
      url: `${peer.url}?limit=2&after=0#top`,
      params: [{ key: 'sort', value: 'id' }],
      pagination: { type: 'cursor', cursor: 'paging.after', param: 'after', items: 'data' },
    })
    expect(outputs).toMatchObject({ data: [0, 1, 2, 3, 4, 5], status: 200, headers: { 'x-page': '3' }, error: null })
    expect(peer.urls).toEqual([
      '/items?limit=2&after=0&sort=id',
      '/items?limit=2&sort=id&after=2',
      '/items?limit=2&sort=id&after=4',
    ])
  })

  test('names the page that failed, and outputs its response', async () => {
    using peer = service((_, __, number) =>
      number < 3 ? Response.json([number]) : Response.json({ why: 'tired' }, { status: 418 }),
    )
    const { outputs, error } = await read({ url: peer.url, pagination: { type: 'page', param: 'p' } })
    expect(error).toMatchObject({ code: 'HTTP_ERROR', message: `Page 3: GET ${peer.url} returned the status 418` })
    expect(outputs).toMatchObject({ data: { why: 'tired' }, status: 418 })
  })

  test('retries a page, not the whole list', async () => {
    using peer = service((_, __, number) => {
      if (number === 2) return new Response('', { status: 503, headers: { 'retry-after': '0' } })
      return Response.json(number > 3 ? [] : [number])
    })
    const { outputs } = await read({ url: peer.url, retries: 1, pagination: { type: 'page', param: 'p', first: 0 } })
    expect(outputs).toMatchObject({ data: [1, 3] })
    expect(peer.urls).toEqual(['/items?p=0', '/items?p=1', '/items?p=1', '/items?p=2'])
  })

  test('sends the page in the body, and a key of its own with each page', async () => {
    const seen: unknown[] = []
    using peer = service(async (request, _, number) => {
      seen.push([await request.json(), request.headers.get('idempotency-key')])
      return Response.json({ results: [number], next_cursor: number < 2 ? 'c2' : null })
    })
    const pagination = { type: 'cursor', cursor: 'next_cursor', param: 'page.start', in: 'body', items: 'results' }
    const { outputs } = await read({ url: peer.url, method: 'POST', body: { page: { size: 1 } }, pagination })
    expect(outputs).toMatchObject({ data: [1, 2] })
    expect(seen).toEqual([
      [{ page: { size: 1 } }, 'key-of-b1'],
      [{ page: { size: 1, start: 'c2' } }, 'key-of-b1-page-2'],
    ])
  })

  test('does not send its headers to another origin that a link names', async () => {
    using other = service(() => Response.json(['stolen']))
    using peer = service(() => Response.json([1], { headers: { link: `<${other.url}>; rel="next"` } }))
    const { error } = await read({
      url: peer.url,
      headers: [{ key: 'X-Key', value: 's' }],
      pagination: { type: 'link' },
    })
    expect(error?.message).toContain('Page 1: the next page is at')
    expect(other.urls).toEqual([])
  })

  test('stops when the pages together take more memory than a block may', async () => {
    using peer = service(() => Response.json(['x'.repeat(60_000)]))
    const limits = { ...defaultLimits, blockBytesMax: 100_000 }
    const { error } = await read(
      { url: peer.url, pagination: { type: 'page', param: 'p', maxPages: 1000 } },
      { limits },
    )
    expect(error).toMatchObject({
      code: 'RESPONSE_TOO_LARGE',
      message: expect.stringContaining('MILLRACE_BLOCK_BYTES_MAX'),
    })
    expect(peer.urls.length).toBeLessThan(4)
  })

  test('counts the items for its run until it ends', async () => {
    using peer = service((_, __, number) => Response.json(number < 3 ? ['x'.repeat(1000)] : []))
    let held = 0
    let most = 0
    const holdMemory = () => {
      let own = 0
      const add = (bytes: number) => {
        own += bytes
        held += bytes
        most = Math.max(most, held)
      }
      const end = () => {
        held -= own
      }
      return { add, end }
    }
    await read({ url: peer.url, pagination: { type: 'page', param: 'p' } }, { holdMemory })
    expect(most).toBeGreaterThan(2000)
    expect(held).toBe(0)
  })
})

describe('the check of an API block', () => {
  const findings = (params: Record<string, unknown>) =>
    (api.check?.({ url: 'http://x.test/', ...params }, undefined as never, {}) ?? []).map(({ path }) => path)

  test('reports pagination of files, and of bodies that a request does not have', () => {
    const inBody = { type: 'cursor', cursor: 'next', param: 'after', in: 'body' }
    expect(findings({ pagination: { type: 'link' }, responseType: 'file' })).toEqual(['responseType'])
    expect(findings({ pagination: inBody })).toEqual(['pagination.in'])
    expect(findings({ pagination: inBody, method: 'POST', bodyType: 'form' })).toEqual(['pagination.in'])
    expect(findings({ pagination: inBody, method: 'POST' })).toEqual([])
  })
})
