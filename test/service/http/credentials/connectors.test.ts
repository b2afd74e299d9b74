import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { httpPeer } from '../../../support/outbound/peers.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let connectors: string
let browser: Record<string, string>
let peer: ReturnType<typeof httpPeer>
let requests: string[] = []

beforeAll(async () => {
  peer = httpPeer((request) => {
    const { pathname, search } = new URL(request.url)
    requests.push(`${request.method} ${pathname}${search} ${request.headers.get('authorization')}`)
    if (pathname === '/openapi.json') return Response.json({ openapi: '3.0.0', info: {}, paths: { '/x': { get: {} } } })
    if (pathname === '/broken') return Response.json({ ok: false, why: 'closed, says secret-of-the-shop' })
    return Response.json({
      ok: true,
      items: [
        { id: 1, name: 'Door' },
        { id: 2, name: null },
      ],
      next: null,
    })
  })
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback', 'body-bytes-max': '100000' })
  connectors = `/api/workspaces/${world.workspaceId}/connectors`
  browser = await world.signIn()
  const body = {
    ...{ name: 'shop', kind: 'bearer', hosts: [`127.0.0.1:${peer.port}`] },
    secrets: { token: 'secret-of-the-shop' },
  }
  expect((await world.call(`/api/workspaces/${world.workspaceId}/credentials`, { body })).status).toBe(201)
  expect((await world.call(`${connectors}/shop`, { method: 'PUT', body: shopOf() })).status).toBe(201)
})
afterAll(async () => {
  await world.close()
  await peer.stop(true)
})

const error = { when: 'ok', is: false, message: 'why' }
const shopOf = (more: object = {}) => ({
  ...{ id: 'shop', name: 'Shop', baseUrl: `http://127.0.0.1:${peer.port}` },
  operations: {
    listItems: {
      ...{ label: 'List items', method: 'GET', path: '/items/{kind}', error },
      parameters: {
        type: 'object',
        properties: { kind: { type: 'string', enum: ['doors', 'walls'] }, count: { type: 'integer', maximum: 9 } },
        required: ['kind'],
      },
      pagination: { type: 'cursor', cursor: 'next', param: 'after', items: 'items' },
    },
    broken: { label: 'Fail', method: 'GET', path: '/broken', error, result: 'items' },
    pick: {
      ...{ label: 'Pick', method: 'GET', path: '/pick' },
      parameters: { type: 'object', properties: { kind: { type: 'string' }, item: { type: 'integer' } } },
      choices: {
        item: { operation: 'listItems', value: 'id', label: 'name' },
        kind: { operation: 'broken', value: 'id', label: 'id' },
      },
    },
  },
  ...more,
})

const workflowOf = (params: Record<string, unknown>) =>
  document({
    name: 'Shop',
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'kind', type: 'string' }] }),
      block('call', 'operation', { connector: 'shop', credential: 'shop', retries: 0, onError: 'continue', ...params }),
      block('end', 'response', { data: { data: '<call.data>', error: '<call.error>' } }),
    ],
    edges: ['start > call', 'call > end'],
  })

async function findings(params: Record<string, unknown>): Promise<string[]> {
  const id = await world.deploy(workflowOf(params), false)
  const { json } = await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })
  const rows = (json.details ?? json.warnings ?? []) as { path: string; message: string }[]
  return rows.map(({ path, message }) => `${path}: ${message.replace('In block "call" (call): ', '')}`)
}

describe('an operation of a connector', () => {
  test('is called with the credential, and its parameters may hold references', async () => {
    const id = await world.deploy(workflowOf({ operation: 'listItems', params: { kind: '<start.kind>', count: '3' } }))
    requests = []
    const { json } = await world.call(`/api/workflows/${id}/execute`, { body: { kind: 'doors' } })
    expect(json).toEqual({
      data: [
        { id: 1, name: 'Door' },
        { id: 2, name: null },
      ],
      error: null,
    })
    expect(requests).toEqual(['GET /items/doors?count=3 Bearer secret-of-the-shop'])
    const wrong = await world.call(`/api/workflows/${id}/execute`, { body: { kind: 'roofs' } })
    expect(wrong.json.error).toMatchObject({
      code: 'INVALID_PARAMETER',
      message: 'The parameter kind must be one of "doors", "walls".',
    })
  })

  test('fails with what the service says, without its secrets in the log', async () => {
    const id = await world.deploy(workflowOf({ operation: 'broken' }))
    const { json, headers } = await world.call(`/api/workflows/${id}/execute`, { body: {} })
    expect(json.error).toMatchObject({ code: 'OPERATION_FAILED', message: expect.stringContaining('closed') })
    const log = await world.call(`/api/v1/logs/executions/${headers.get('x-execution-id')}`)
    expect(log.text).not.toContain('secret-of-the-shop')
  })

  test('has findings when it is deployed', async () => {
    const at = 'blocks.call.params'
    expect(await findings({ connector: 'nothing', operation: 'x' })).toEqual([
      `${at}.connector: There is no connector "nothing" in this workspace. Add it, or choose another one.`,
    ])
    expect(await findings({ operation: 'x' })).toEqual([`${at}.operation: Shop has no operation "x".`])
    expect(await findings({ operation: 'listItems' })).toEqual([`${at}.params.kind: kind is missing.`])
    expect(await findings({ operation: 'listItems', params: { kind: 'roofs', count: 10, size: 1 } })).toEqual([
      `${at}.params.kind: kind must be one of "doors", "walls".`,
      `${at}.params.count: count must be at most 9.`,
      `${at}.params.size: size is not known here. Known are: kind, count.`,
    ])
    expect(await findings({ operation: 'listItems', params: { kind: '<start.kind>' } })).toEqual([])
  })

  test('follows a change of its connector', async () => {
    const id = await world.deploy(workflowOf({ operation: 'listItems', params: { kind: 'doors' } }))
    const { operations, ...rest } = shopOf()
    const moved = {
      ...rest,
      operations: { ...operations, listItems: { ...operations.listItems, path: '/moved/{kind}' } },
    }
    expect((await world.call(`${connectors}/shop`, { method: 'PUT', body: moved })).status).toBe(200)
    requests = []
    await world.call(`/api/workflows/${id}/execute`, { body: {} })
    expect(requests).toEqual(['GET /moved/doors Bearer secret-of-the-shop'])
    await world.call(`${connectors}/shop`, { method: 'PUT', body: shopOf() })
  })
})

describe('the connectors of a workspace', () => {
  test('are listed with those of the service, whose documents can be read but not changed', async () => {
    const { json } = await world.call(connectors)
    expect(json.data[0]).toMatchObject({ id: 'shop', builtIn: false, operations: [{ id: 'listItems' }, {}, {}] })
    expect(json.data).toHaveLength(26)
    const slack = await world.call(`${connectors}/slack`)
    expect(slack.json).toMatchObject({ builtIn: true, connector: { id: 'slack', baseUrl: 'https://slack.com/api' } })
    expect((await world.call(`${connectors}/slack`, { method: 'PUT', body: slack.json.connector })).status).toBe(409)
    expect((await world.call(`${connectors}/slack`, { method: 'DELETE' })).status).toBe(409)
    expect((await world.call(`${connectors}/nothing`)).status).toBe(404)
  })

  test('must be valid: each fault has a row', async () => {
    const operations = {
      list: { label: 'List', method: 'GET', path: 'items?x', parameters: { properties: { a: { $ref: '#/x' } } } },
      'a b': { label: 'x', method: 'GET', path: '/' },
    }
    const wrong = await world.call(`${connectors}/bad`, {
      method: 'PUT',
      body: shopOf({ id: 'bad', operations, baseUrl: 'ftp://x' }),
    })
    expect(wrong.status).toBe(400)
    expect(wrong.json.details.map(({ path }: { path: string }) => path)).toEqual([
      'baseUrl',
      'operations.list.parameters.properties.a.$ref',
      'operations.a b',
    ])
    expect((await world.call(`${connectors}/other`, { method: 'PUT', body: shopOf() })).json.details[0].path).toBe('id')
  })
})

describe('an import', () => {
  const imported = (body: object) => world.call(`${connectors}/import`, { body })
  const paths = { '/teas': { get: { operationId: 'listTeas' }, head: {} } }

  test('makes a connector from a document, and lists what it does not take', async () => {
    const document = { openapi: '3.0.0', info: { title: 'Tea' }, servers: [{ url: 'https://tea.example' }], paths }
    const preview = await imported({ document, preview: true })
    expect([preview.status, preview.json.connector.id]).toEqual([200, 'tea'])
    expect((await world.call(`${connectors}/tea`)).status).toBe(404)
    const { status, json } = await imported({ document })
    expect([status, json.notTaken.map(({ path }: { path: string }) => path)]).toEqual([201, ['paths./teas.head']])
    expect((await world.call(`${connectors}/tea`)).json.connector.operations).toHaveProperty('listTeas')
    expect((await imported({ document })).status).toBe(409)
    expect((await imported({ document, id: 'tea' })).status).toBe(201)
  }, 30_000)

  test('loads a document from its URL, whose address the connector takes over', async () => {
    const { status, json } = await imported({ url: `http://127.0.0.1:${peer.port}/openapi.json`, id: 'local' })
    expect([status, json.connector?.baseUrl]).toEqual([201, `http://127.0.0.1:${peer.port}`])
    expect((await imported({ url: 'http://10.0.0.1/openapi.json' })).status).toBe(409)
  }, 30_000)

  test('says what is wrong with a document', async () => {
    const wrong = await imported({ document: 'x: [' })
    expect([wrong.status, wrong.json.error.message ?? wrong.json.error]).toEqual([400, expect.stringContaining('YAML')])
    expect((await imported({})).status).toBe(400)
    expect((await imported({ document: 'curl' })).status).toBe(400)
  }, 30_000)
})

describe('the choices of a parameter', () => {
  const ask = (body: object) =>
    world.call('/api/editor/connectors/choices', {
      ...{ key: null, headers: browser },
      body: { workspaceId: world.workspaceId, connector: 'shop', operation: 'pick', credential: 'shop', ...body },
    })

  test('come from another operation, and are kept for a while', async () => {
    requests = []
    const question = { parameter: 'item', params: { kind: 'doors', item: 5 } }
    expect((await ask(question)).json).toEqual({
      data: [
        { value: 1, label: 'Door' },
        { value: 2, label: '2' },
      ],
    })
    await ask(question)
    expect(requests).toEqual(['GET /items/doors Bearer secret-of-the-shop'])
    await ask({ ...question, isFresh: true })
    await ask({ ...question, params: { kind: 'walls' } })
    expect(requests).toHaveLength(3)
  })

  test('say why the service refuses, without secrets', async () => {
    const { status, text } = await ask({ parameter: 'kind' })
    expect([status, text.includes('secret-of-the-shop')]).toEqual([409, false])
    expect(text).toContain('closed')
    expect((await ask({ parameter: 'nothing' })).status).toBe(404)
  })

  test('leave no log entry', async () => {
    const { json } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}`)
    expect(JSON.stringify(json)).not.toContain('Choices')
  })
})
