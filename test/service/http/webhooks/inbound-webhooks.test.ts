import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sign as signAsGitHub } from '@octokit/webhooks-methods'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../../support/make.ts'
import { type CallOptions, ExecutionWorld } from '../execution-world.ts'
import type { Parsed } from '../world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

let paths = 0
/** Deploys a workflow that returns its input. Returns its ID and path. */
async function hook(params: Record<string, unknown> = {}, more: Partial<WorkflowDocument> = {}) {
  paths += 1
  const path = (params['path'] as string | undefined) ?? `hook-${paths}`
  const blocks = [block('hook', 'webhook_trigger', { path, ...params }), block('f', 'function', { code: seen })]
  const id = await world.deploy({ ...document({ blocks, edges: ['hook > f'] }), ...more })
  return { id, path }
}
const seen =
  'return { body: <webhook.body>, headers: <webhook.headers>, query: <webhook.query>, method: <webhook.method> }'

const send = (path: string, options: CallOptions = {}) =>
  world.call(`/api/webhooks/trigger/${path}`, { method: 'POST', key: null, ...options })

/** The output of a run, after it has ended. */
async function outcome(executionId: string): Promise<Parsed> {
  for (;;) {
    const { json } = await world.call(`/api/jobs/${executionId}`)
    if (json.metadata.completedAt !== null) return json
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a webhook trigger', () => {
  test('starts a run and responds when the run is on disk', async () => {
    const { id, path } = await hook()
    const response = await send(`${path}?a=1&b=x&b=y`, { body: { n: 7 }, headers: { 'x-mine': 'yes' } })
    expect(response.status).toBe(202)
    const { executionId } = response.json
    expect(response.json).toEqual({ success: true, executionId })
    expect(response.headers.get('x-execution-id')).toBe(executionId)
    const { status, output } = await outcome(executionId)
    expect(status).toBe('completed')
    expect(output.result).toMatchObject({
      body: { n: 7 },
      headers: { 'x-mine': 'yes' },
      query: { a: '1', b: ['x', 'y'] },
      method: 'POST',
    })
    const logs = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&executionId=${executionId}`)
    expect(logs.json.data).toMatchObject([{ workflowId: id, trigger: 'webhook', level: 'info' }])
  })

  test('with an unknown path, or no longer deployed, is not found', async () => {
    const { id, path } = await hook()
    const nobody = await send('nobody', { body: {} })
    expect(nobody).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
    await world.call(`/api/workflows/${id}/deploy`, { method: 'DELETE' })
    const gone = await send(path, { body: {} })
    expect({ ...gone.json, status: gone.status }).toEqual({ ...nobody.json, status: 404 })
  })

  test('is reached at its new path as soon as it is deployed with another one', async () => {
    const { id, path } = await hook()
    expect((await send(path, { body: {} })).status).toBe(202)
    const { json } = await world.call(`/api/workflows/${id}`)
    json.blocks.hook.params.path = `${path}-new`
    await world.call(`/api/workflows/${id}`, { method: 'PUT', body: json })
    await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })
    expect((await send(path, { body: {} })).status).toBe(404)
    expect((await send(`${path}-new`, { body: {} })).status).toBe(202)
    const other = await hook({ path })
    const { executionId } = (await send(path, { body: {} })).json
    await outcome(executionId)
    expect((await world.call(`/api/workflows/${other.id}/executions/${executionId}`)).status).toBe(200)
  })

  test('does not pass the session of a visitor on to the workflow', async () => {
    const { path } = await hook({ methods: ['GET'] })
    const cookieOf = async (cookie: string) => {
      const { executionId } = (await send(path, { method: 'GET', headers: { cookie } })).json
      return (await outcome(executionId)).output.result.headers.cookie
    }
    expect(await cookieOf('a=1; millrace_session=a-token; b=2')).toBe('a=1; b=2')
    expect(await cookieOf('millrace_session=a-token; b=2')).toBe('b=2')
    expect(await cookieOf('millrace_session=a-token')).toBeUndefined()
    expect(await cookieOf('a=1')).toBe('a=1')
  })

  test('accepts only its own methods', async () => {
    const { path } = await hook({ methods: ['GET', 'PUT'] })
    const refused = await send(path, { body: {} })
    expect(refused).toMatchObject({ status: 405, json: { code: 'METHOD_NOT_ALLOWED' } })
    expect(refused.headers.get('allow')).toBe('GET, PUT')
    const { executionId } = (await send(path, { method: 'GET' })).json
    expect((await outcome(executionId)).output.result).toMatchObject({ body: null, method: 'GET' })
    expect((await send(path, { method: 'PUT', body: {} })).status).toBe(202)
  })

  test('refuses a body that is too large, and invalid JSON', async () => {
    const { path } = await hook()
    expect((await send(path, { text: JSON.stringify('x'.repeat(3_000)) })).status).toBe(413)
    const headers = { 'content-type': 'application/json' }
    expect(await send(path, { text: '{', headers })).toMatchObject({ status: 400, json: { code: 'INVALID_JSON' } })
  })

  test('stores received files with the run', async () => {
    const { path } = await hook()
    const form = new FormData()
    form.append('name', 'Ada')
    form.append('photo', new File(['content'], 'photo.png', { type: 'image/png' }))
    const sent = new Response(form)
    const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
    const { executionId } = (await send(path, { text: await sent.bytes(), headers })).json
    const { body } = (await outcome(executionId)).output.result
    expect(body).toMatchObject({ name: 'Ada', photo: { name: 'photo.png', size: 7, type: 'image/png' } })
    expect(await (await fetch(body.photo.url)).text()).toBe('content')
    const { json } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&executionId=${executionId}`)
    expect(json.data[0].files).toMatchObject([{ name: 'photo.png' }])
  })
})

describe('the sender of a webhook', () => {
  test('can send a bearer token, which the workflow does not see', async () => {
    const { path } = await hook({ authentication: { type: 'bearer', token: 'right' } })
    const refused = { status: 401, json: { code: 'INVALID_API_KEY' } }
    expect(await send(path, { body: {} })).toMatchObject(refused)
    expect(await send(path, { body: {}, headers: { authorization: 'Bearer wrong' } })).toMatchObject(refused)
    const taken = await send(path, { body: {}, headers: { authorization: 'Bearer right' } })
    expect(taken.status).toBe(202)
    expect((await outcome(taken.json.executionId)).output.result.headers.authorization).toBeUndefined()
  })

  test('can send a header whose expected value is an environment variable', async () => {
    const workspace = `/api/workspaces/${world.workspaceId}/environment`
    await world.call(`${workspace}/HOOK_VALUE`, { method: 'PUT', body: { value: 'a-long-value' } })
    const { path } = await hook({ authentication: { type: 'header', name: 'X-Hook', value: '{{HOOK_VALUE}}' } })
    expect((await send(path, { body: {}, headers: { 'x-hook': '{{HOOK_VALUE}}' } })).status).toBe(401)
    expect((await send(path, { body: {}, headers: { 'x-hook': 'a-long-value' } })).status).toBe(202)
    await world.call(`${workspace}/HOOK_VALUE`, { method: 'DELETE' })
    expect((await send(path, { body: {}, headers: { 'x-hook': 'a-long-value' } })).status).toBe(401)
  })

  test('can send header values beyond Latin-1, in any encoding', async () => {
    const { path } = await hook({ authentication: { type: 'header', name: 'X-Hook', value: 'Schlüssel' } })
    const utf8 = Buffer.from('Schlüssel').toString('latin1')
    for (const value of ['Schlüssel', utf8]) {
      expect((await send(path, { body: {}, headers: { 'x-hook': value } })).status).toBe(202)
    }
    expect((await send(path, { body: {}, headers: { 'x-hook': 'Schlussel' } })).status).toBe(401)
  })

  test('can sign the exact bytes of the body', async () => {
    const { path } = await hook({ authentication: { type: 'signature', scheme: 'github', secret: 'shared' } })
    const text = '{ "n":\t7.0 }'
    const headers = { 'x-hub-signature-256': await signAsGitHub('shared', text), 'content-type': 'application/json' }
    const taken = await send(path, { text, headers })
    expect(taken.status).toBe(202)
    expect((await outcome(taken.json.executionId)).output.result.body).toEqual({ n: 7 })
    const refused = { status: 401, json: { code: 'INVALID_SIGNATURE' } }
    expect(await send(path, { text: '{ "n":\t7.1 }', headers })).toMatchObject(refused)
    expect(await send(path, { text })).toMatchObject(refused)
  })

  test('can be Slack, whose address check is confirmed', async () => {
    const { path } = await hook({ authentication: { type: 'signature', scheme: 'slack', secret: 'shared' } })
    const text = JSON.stringify({ type: 'url_verification', challenge: 'say this', token: 'x' })
    const atS = `${Math.floor(Date.now() / 1_000)}`
    const digest = new Bun.CryptoHasher('sha256', 'shared').update(`v0:${atS}:${text}`).digest('hex')
    const headers = {
      ...{ 'x-slack-signature': `v0=${digest}`, 'x-slack-request-timestamp': atS },
      'content-type': 'application/json',
    }
    expect(await send(path, { text, headers })).toMatchObject({ status: 200, json: { challenge: 'say this' } })
    expect((await send(path, { text })).status).toBe(401)
  })
})

describe('a webhook trigger that responds with its workflow', () => {
  const responding = (params: Record<string, unknown>, code: string) => {
    paths += 1
    const path = `answer-${paths}`
    const hooked = block('hook', 'webhook_trigger', { path, respond: 'workflow', ...params })
    const draft = document({ blocks: [hooked, block('f', 'function', { code })], edges: ['hook > f'] })
    return { path, draft }
  }

  test('responds like the execute endpoint', async () => {
    const { path, draft } = responding({}, 'return <webhook.body.n> + 1')
    await world.deploy(draft)
    const { status, json, headers } = await send(path, { body: { n: 1 } })
    expect(status).toBe(200)
    expect(json).toMatchObject({ success: true, output: { result: 2 }, metadata: { duration: expect.any(Number) } })
    expect(headers.get('x-execution-id')).toBe(json.executionId)
    const failing = responding({}, 'throw new Error("no")')
    await world.deploy(failing.draft)
    expect(await send(failing.path, { body: {} })).toMatchObject({
      status: 500,
      json: { success: false, code: 'EXECUTION_FAILED', blockName: 'f' },
    })
  })

  test('sends the response of its response block', async () => {
    paths += 1
    const path = `response-${paths}`
    const params = { data: '<hook.body.text>', status: 201, headers: [{ key: 'X-Mine', value: 'yes' }] }
    const blocks = [block('hook', 'webhook_trigger', { path, respond: 'workflow' }), block('r', 'response', params)]
    await world.deploy(document({ blocks, edges: ['hook > r'] }))
    const response = await send(path, { body: { text: 'made' } })
    expect(response).toMatchObject({ status: 201, text: 'made' })
    expect(response.headers.get('x-mine')).toBe('yes')
  })

  test('sandboxes pages in a separate origin, and cannot sign anyone in or out', async () => {
    paths += 1
    const path = `page-${paths}`
    const headers = [
      { key: 'Content-Type', value: 'text/html' },
      { key: 'Content-Security-Policy', value: "img-src 'none'" },
      { key: 'Set-Cookie', value: 'millrace_session=of-another; Path=/' },
      { key: 'set-cookie', value: 'mine=1' },
    ]
    const hooked = block('hook', 'webhook_trigger', { path, methods: ['GET'], respond: 'workflow' })
    const page = block('r', 'response', { data: '<hook.query.page>', headers })
    await world.deploy(document({ blocks: [hooked, page], edges: ['hook > r'] }))
    const text = '<script>fetch("/api/editor/me")</script>'
    const response = await send(`${path}?page=${encodeURIComponent(text)}`, { method: 'GET' })
    expect(response).toMatchObject({ status: 200, text })
    const policy = response.headers.get('content-security-policy')
    expect(policy).toMatch(/^img-src 'none', sandbox .*allow-scripts/)
    expect(policy).not.toContain('allow-same-origin')
    expect(response.headers.getSetCookie()).toEqual([`mine=1; Path=/api/webhooks/trigger/${path}`])
  })

  test('sets cookies for its own path only, and is no script of the dashboard', async () => {
    paths += 1
    const path = `cookies-${paths}`
    const headers = [
      ...['Path=/', 'path = /; Secure', 'Domain=example.com; PATH=/; Max-Age=9', 'Path', 'Pathless=1'].map((more) => ({
        key: 'Set-Cookie',
        value: `big=${'x'.repeat(10)}; ${more}`,
      })),
      { key: 'Content-Type', value: 'text/javascript' },
      { key: 'Service-Worker-Allowed', value: '/' },
    ]
    const hooked = block('hook', 'webhook_trigger', { path, methods: ['GET'], respond: 'workflow' })
    await world.deploy(
      document({ blocks: [hooked, block('r', 'response', { data: '<hook.method>', headers })], edges: ['hook > r'] }),
    )
    const response = await send(path, { method: 'GET' })
    const own = `Path=/api/webhooks/trigger/${path}`
    expect(response.headers.getSetCookie()).toEqual(
      ['', ' Secure;', ' Max-Age=9;', '', ' Pathless=1;'].map((kept) => `big=xxxxxxxxxx;${kept} ${own}`),
    )
    expect(response.headers.get('service-worker-allowed')).toBeNull()
    const from = (site: string, destination: string) =>
      send(path, { method: 'GET', headers: { 'sec-fetch-site': site, 'sec-fetch-dest': destination } })
    for (const destination of ['script', 'serviceworker', 'style'])
      expect(await from('same-origin', destination)).toMatchObject({ status: 403, json: { code: 'FORBIDDEN' } })
    // Other sites, sandboxed pages of workflows, links and programs.
    expect((await from('cross-site', 'script')).status).toBe(200)
    expect((await from('same-origin', 'document')).status).toBe(200)
    expect((await from('same-origin', 'empty')).status).toBe(200)
  })
})
