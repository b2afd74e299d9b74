import { describe, expect, test } from 'bun:test'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../../support/make.ts'
import { httpPeer, outboundOf } from '../../../support/outbound/peers.ts'
import { World } from '../../engine/world.ts'

/** A service that records requests, and how many it had at once. */
function service(respond: (url: URL, body: string) => Response) {
  const seen: { path: string; body: string; key: string | null }[] = []
  let now = 0
  const most = { atOnce: 0 }
  const peer = httpPeer(async (request) => {
    now += 1
    most.atOnce = Math.max(most.atOnce, now)
    const url = new URL(request.url)
    const body = await request.text()
    seen.push({ path: url.pathname + url.search, body, key: request.headers.get('idempotency-key') })
    await Bun.sleep(5)
    now -= 1
    return respond(url, body)
  })
  return { seen, most, url: `http://127.0.0.1:${peer.port}`, [Symbol.dispose]: () => void peer.stop(true) }
}

function documentOf(params: Record<string, unknown>): WorkflowDocument {
  return document({
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'ids', type: 'array' }] }),
      block('call', 'api', { retries: 0, ...params }),
      block('end', 'response', { data: { all: '<call.data>', error: '<call.error>' } }),
    ],
    edges: ['start > call', 'call > end'],
  })
}

async function output(workflow: WorkflowDocument, body: unknown) {
  const outbound = outboundOf(['loopback'])
  const world = new World({ fetch: outbound.fetch })
  try {
    return ((await world.output(workflow, body)) as { data: unknown }).data
  } finally {
    await world.stop()
    outbound.stop()
  }
}

describe('an API block with a batch', () => {
  test('sends the request once for each item, and outputs the responses in the order of the list', async () => {
    using peer = service((url) => Response.json({ path: url.pathname }))
    const workflow = documentOf({
      url: `${peer.url}/items/{id}?n=<batch.index>`,
      method: 'POST',
      pathParams: { id: '<batch.item.id>' },
      body: { item: '<batch.item>', first: '<start.ids[0].id>' },
      batch: { over: '<start.ids>', concurrency: 2 },
    })
    const ids = [{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }]
    expect(await output(workflow, { ids })).toMatchObject({
      all: [{ path: '/items/a' }, { path: '/items/b' }, { path: '/items/c' }, { path: '/items/d' }],
      error: null,
    })
    expect(peer.most.atOnce).toBe(2)
    const requests = peer.seen.toSorted((one, other) => one.path.localeCompare(other.path))
    expect(requests.map(({ path }) => path)).toEqual(['/items/a?n=0', '/items/b?n=1', '/items/c?n=2', '/items/d?n=3'])
    expect(JSON.parse(requests[1]!.body)).toEqual({ item: { id: 'b' }, first: 'a' })
    expect(new Set(requests.map(({ key }) => key)).size).toBe(4)
  })

  test('sends all other items when some fail, and lists the failed ones', async () => {
    using peer = service((url) => Response.json({ at: url.pathname }, { status: url.pathname === '/2' ? 500 : 200 }))
    const params = { url: `${peer.url}/<batch.item>`, batch: { over: '<start.ids>' }, onError: 'continue' }
    expect(await output(documentOf(params), { ids: [1, 2, '', 4] })).toMatchObject({
      all: [{ at: '/1' }, null, { at: '/' }, { at: '/4' }],
      error: {
        code: 'HTTP_ERROR',
        message: `1 of 4 items failed. Item 1: GET ${peer.url}/2 returned the status 500`,
        failed: 1,
        items: [{ index: 1, code: 'HTTP_ERROR', status: 500 }],
      },
    })
  })

  test('reports an item whose parameters do not fit, and a value that is not a list', async () => {
    using peer = service(() => Response.json(1))
    const params = { url: '<batch.item>', batch: { over: '<start.ids>' }, onError: 'continue' }
    const result = await output(documentOf(params), { ids: [`${peer.url}/`, null] })
    expect(result).toMatchObject({ all: [1, null], error: { code: 'INVALID_PARAMETER', failed: 1 } })
    const wrong = documentOf({ url: `${peer.url}/`, batch: { over: '<start.ids[0]>' }, onError: 'continue' })
    expect(await output(wrong, { ids: ['text'] })).toMatchObject({
      error: { message: expect.stringContaining('needs a list') },
    })
  })

  test('of no items sends nothing', async () => {
    using peer = service(() => Response.json(1))
    const workflow = documentOf({ url: `${peer.url}/`, batch: { over: '<start.ids>' } })
    expect(await output(workflow, { ids: [] })).toEqual({ all: [], error: null })
    expect(peer.seen).toEqual([])
  })

  test('reads each page of each item', async () => {
    using peer = service((url) => {
      const page = Number(url.searchParams.get('p'))
      return Response.json(page < 3 ? [`${url.pathname}-${page}`] : [])
    })
    const pagination = { type: 'page', param: 'p' }
    const workflow = documentOf({ url: `${peer.url}/<batch.item>`, batch: { over: '<start.ids>' }, pagination })
    expect(await output(workflow, { ids: ['x', 'y'] })).toMatchObject({
      all: [
        ['/x-1', '/x-2'],
        ['/y-1', '/y-2'],
      ],
    })
  })
})

test('<batch.item> is text in a block without a batch, and in the list itself', () => {
  const world = new World()
  const codes = (params: Record<string, unknown>) => world.check(documentOf(params)).map(({ code }) => code)
  expect(codes({ url: 'http://x.test/<batch.item>' })).toContain('UNKNOWN_REFERENCE')
  expect(codes({ url: 'http://x.test/<batch.item>', batch: { over: '<start.ids>' } })).toEqual([])
  expect(codes({ url: 'http://x.test/', batch: { over: '<batch.item>' } })).toContain('UNKNOWN_REFERENCE')
})
