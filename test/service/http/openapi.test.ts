import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { ErrorCode } from '../../../src/domain/errors.ts'
import { isExternal, isV2 } from '../../../src/http/access/door.ts'
import { statusOf } from '../../../src/http/errors.ts'
import { codeV2Of, statusV2Of } from '../../../src/http/errors-v2.ts'
import { findBreaches } from './json-schema.ts'
import { findOpenApiFaults } from './openapi-linter.ts'
import { HttpWorld, type Parsed, sampleDocument } from './world.ts'

let world: HttpWorld
let openApi: Parsed
beforeAll(async () => {
  world = await HttpWorld.open()
  openApi = (await world.get('/swagger/json', { key: null })).json
})
afterAll(() => world.close())

const operations = () =>
  Object.entries(openApi.paths as Parsed).flatMap(([path, item]) =>
    Object.entries(item as Parsed).map(([method, operation]) => ({ path, method, operation: operation as Parsed })),
  )

/** Every object in the document, with its path. */
function* walk(value: unknown, path = '#'): Generator<[string, Parsed]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [path, value]
  for (const [name, inner] of Object.entries(value)) yield* walk(inner, `${path}/${name}`)
}

/** Whether a path is a page for people, or belongs to another protocol. */
function isPage(path: string): boolean {
  return (
    path === '/' ||
    path === '/sign-in' ||
    path === '/api/oauth/callback' ||
    path.startsWith('/assets/') ||
    // MCP clients discover everything through the protocol itself.
    path.startsWith('/mcp') ||
    path.startsWith('/.well-known/oauth-protected-resource') ||
    path === '/oauth/authorize' ||
    // An address that the editor shows for one test request.
    path.startsWith('/api/webhooks/test/') ||
    path.startsWith('/api/chat/test/') ||
    // Only for other processes of the installation.
    path.startsWith('/api/peers/') ||
    path.startsWith('/chat/') ||
    path.startsWith('/form/') ||
    path.startsWith('/pause/') ||
    path.startsWith('/docs') ||
    path.startsWith('/swagger') ||
    // Addresses of the dashboard without a workspace.
    ['/workflows', '/logs', '/settings'].includes(path)
  )
}

const formType = 'application/x-www-form-urlencoded'
const isForm = (path: string) => path === '/oauth/token' || path === '/oauth/revoke'
const isOAuth = (path: string) => path.startsWith('/oauth/')

describe('the OpenAPI document', () => {
  test('passes a strict linter', async () => {
    expect(await findOpenApiFaults(openApi)).toEqual([])
  })

  test('is of version 3.1.0 and has a title', () => {
    expect(openApi.openapi).toBe('3.1.0')
    expect(openApi.info).toMatchObject({ title: 'Millrace', version: 'test' })
  })

  test('describes every route for programs, and no other', () => {
    const described = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`)
    const routes = world.app.routes
      .filter(({ path, method }) => !path.includes('*') && method !== 'WS' && !isPage(path))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    expect(routes.length).toBeGreaterThan(25)
    expect(described.toSorted()).toEqual(routes.toSorted())
  })

  test('gives every operation what readers and client generators need', () => {
    const ids = new Set<string>()
    for (const { path, method, operation } of operations()) {
      const at = `${method} ${path}`
      expect(operation.summary, at).toBeString()
      expect(operation.tags, at).toHaveLength(1)
      expect(operation.security, at).toBeArray()
      expect(operation.operationId, at).toMatch(/^[a-z][A-Za-z0-9]*$/)
      expect(ids.has(operation.operationId), at).toBe(false)
      ids.add(operation.operationId)
      expect(operation.requestBody === undefined || Object.keys(operation.requestBody.content), at).toEqual(
        operation.requestBody === undefined ? true : [isForm(path) ? formType : 'application/json'],
      )
      const statuses = Object.keys(operation.responses)
      expect(
        statuses.some((status) => status.startsWith('2')),
        at,
      ).toBe(true)
      for (const [status, response] of Object.entries<Parsed>(operation.responses)) {
        expect(response.description, `${at} ${status}`).toBeString()
        expect(
          Object.keys(response).filter((name) => !['description', 'headers', 'content', 'links'].includes(name)),
        ).toEqual([])
      }
      for (const parameter of operation.parameters ?? []) expect(parameter.description, at).toBeString()
      const isSignIn = operation.operationId === 'signIn'
      // These require credentials other than a key of the service.
      const hasOtherCredentials =
        isSignIn ||
        /^(receiveWebhook|sendChatMessage|getChatReply|getAsked|answerPause|sendForm|getForm|getNextPage)/.test(
          operation.operationId,
        )
      const isOfOAuth = /^(registerClient|getTokens|revokeToken|sendSignInLink)$/.test(operation.operationId)
      expect('401' in operation.responses, at).toBe(operation.security.length > 0 || hasOtherCredentials)
      const isCalled = ['/execute', '/assistant', '/alerts/{alertId}/test'].some((ending) => path.endsWith(ending))
      const isCounted = isExternal(path) || isCalled || path.includes('/chat/') || hasOtherCredentials || isOfOAuth
      expect('429' in operation.responses, at).toBe(isCounted)
      for (const status of ['413', '500']) expect(statuses, at).toContain(status)
    }
  })

  test('has an example of every body, and an error of each code', () => {
    for (const { path, method, operation } of operations()) {
      const at = `${method} ${path}`
      const media = Object.values<Parsed>(operation.requestBody?.content ?? {})
      for (const [status, response] of Object.entries<Parsed>(operation.responses)) {
        media.push(...Object.values<Parsed>(response.content ?? {}))
        // Refusals of OAuth have a shape of their own, with one example.
        if (Number(status) < 400 || status === 'default' || (isOAuth(path) && status === '400')) continue
        const [{ schema, examples }] = Object.values<Parsed>(response.content)
        expect(JSON.stringify(schema)).toContain('#/components/schemas/')
        const shown = Object.entries<Parsed>(examples) as [ErrorCode, Parsed][]
        expect(shown.length, at).toBeGreaterThan(0)
        for (const [code, { value }] of shown) {
          expect(isV2(path) ? value.error.code : value.code, at).toBe(isV2(path) ? codeV2Of(code) : code)
          expect(isV2(path) ? statusV2Of(code) : statusOf(code), at).toBe(Number(status))
        }
      }
      for (const { schema, example, examples } of media) {
        expect(example ?? examples, at).toBeDefined()
        const values = example === undefined ? Object.values<Parsed>(examples).map(({ value }) => value) : [example]
        for (const value of values) expect(findBreaches(value, schema, openApi), at).toEqual([])
      }
    }
  })

  test('declares event streams next to JSON', () => {
    const { content } = openApi.paths['/api/workflows/{id}/execute'].post.responses['200']
    expect(Object.keys(content)).toEqual(['application/json', 'text/event-stream'])
    expect(content['text/event-stream'].example).toEndWith('data: [DONE]\n\n')
  })

  test('declares every path parameter exactly once', () => {
    for (const { path, method, operation } of operations()) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = (operation.parameters ?? []).filter((parameter: Parsed) => parameter.in === 'path')
      expect(declared.map(({ name }: Parsed) => name).sort(), `${method} ${path}`).toEqual(inPath.sort())
      for (const parameter of operation.parameters ?? []) {
        expect(parameter.required).toBe(
          parameter.in === 'path' || ['workspaceId', 'scope'].includes(parameter.name) ? parameter.required : false,
        )
        expect(parameter.schema.type, `${path} ${parameter.name}`).toBeString()
      }
    }
    const logs = openApi.paths['/api/v1/logs']
    expect(logs.get.parameters.find(({ name }: Parsed) => name === 'workspaceId').required).toBe(true)
    expect(logs.get.parameters).toHaveLength(22)
  })

  test('has no dangling reference, and nothing that only this program understands', () => {
    for (const [path, object] of walk(openApi)) {
      if (typeof object.$ref === 'string') {
        const target = object.$ref
          .slice(2)
          .split('/')
          .reduce((at: Parsed, step: string) => at?.[step], openApi)
        expect(target, `${path} → ${object.$ref}`).toBeDefined()
      }
      for (const name of ['noValidate', 'expected', 'x-errors', 'patternProperties']) {
        expect(Object.hasOwn(object, name), `${path}/${name}`).toBe(false)
      }
    }
  })

  test('is generated without changing the routes, which still know the client address', async () => {
    const execute = () => new Elysia().get('/who', ({ server, request }) => server?.requestIP(request)?.address ?? '?')
    const other = await HttpWorld.open({ routes: execute })
    try {
      expect((await other.get('/swagger/json', { key: null })).status).toBe(200)
      expect((await other.get('/who')).text).toBe('127.0.0.1')
    } finally {
      await other.close()
    }
  })
})

describe('the responses of the routes', () => {
  test('match the OpenAPI document', async () => {
    const created = await world.post('/api/workflows', { ...sampleDocument(), description: 'x', folder: 'a/b' })
    const id = created.json.id
    const deployed = await world.post(`/api/workflows/${id}/deploy`)
    const row = await world.log(id)
    const failed = await world.log(id, { level: 'error', finalOutput: '{"error":"x","code":"EXECUTION_FAILED"}' })
    const page = await world.get(
      `/api/v1/logs?workspaceId=${world.workspaceId}&details=full&includeFinalOutput=1&includeTraceSpans=1`,
    )
    const responses: [string, string, Parsed, number][] = [
      ['/api/workflows', 'post', created, 201],
      ['/api/workflows/{id}/deploy', 'post', deployed, 200],
      ['/api/v1/logs', 'get', page, 200],
    ]
    const paths: [string, string][] = [
      ['/api/workflows', `?workspaceId=${world.workspaceId}`],
      ['/api/workflows/{id}', ''],
      ['/api/workflows/{id}/status', ''],
      ['/api/workflows/{id}/deployments', ''],
      ['/api/workflows/{id}/deployments/{version}', ''],
      ['/api/workflows/{id}/openapi.json', ''],
      ['/api/workflows/{id}/executions/{executionId}', ''],
      ['/api/v1/logs/workflow/pt-BR/executions/{executionId}', ''],
      ['/api/v1/logs/executions/{executionId}', ''],
      ['/api/workspaces', ''],
      ['/api/folders', ''],
      ['/api/users/me/usage-limits', ''],
      ['/sample/quotes', ''],
      ['/health', ''],
      ['/health/live', ''],
      ['/health/ready', ''],
    ]
    for (const [path, query] of paths) {
      const real = path.replace('{id}', id).replace('{version}', '1').replace('{executionId}', row.executionId)
      responses.push([path, 'get', await world.get(real + query), 200])
    }
    responses.push(['/api/jobs/{id}', 'get', await world.get(`/api/jobs/${failed.executionId}`), 200])
    responses.push(['/api/v1/logs/{id}', 'get', await world.get(`/api/v1/logs/${page.json.data[0].id}`), 200])
    responses.push(['/api/workflows/{id}', 'get', await world.get('/api/workflows/none'), 404])
    responses.push(['/api/v1/logs', 'get', await world.get('/api/v1/logs'), 400])
    for (const [path, method, response, status] of responses) {
      const item = openApi.paths[path]
      expect(response.status, path).toBe(status)
      const { schema } = item[method].responses[status].content['application/json']
      expect(findBreaches(response.json, schema, openApi), `${method} ${path}`).toEqual([])
    }
  })
})

describe('the page of the API documentation', () => {
  test('loads nothing from other hosts, and its policy forbids it', async () => {
    const page = await world.get('/swagger', { key: null })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '')
    expect(sources.length).toBeGreaterThan(3)
    for (const source of sources.filter((each) => !each.startsWith('data:'))) {
      expect(source).toStartWith('/swagger')
      expect((await world.get(source, { key: null })).status).toBe(200)
    }
    expect(page.text).not.toMatch(/<script>|https?:\/\//)
  })

  test('does not send the document to a validator', async () => {
    const { text } = await world.get('/swagger/start.js', { key: null })
    expect(text).toContain('validatorUrl: null')
  })

  test('is sent compressed, and only when it changed', async () => {
    const path = '/swagger/swagger-ui-bundle.js'
    const first = await fetch(world.url + path, { headers: { 'accept-encoding': 'gzip' }, decompress: false })
    expect(first.headers.get('content-encoding')).toBe('gzip')
    const bytes = await first.bytes()
    expect(bytes.length).toBeLessThan(600_000)
    const plain = await fetch(world.url + path, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(await plain.text())
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    const again = await world.get(path, { key: null, headers: { 'if-none-match': etag } })
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' })
  })
})
