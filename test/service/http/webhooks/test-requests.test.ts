import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ManualWorld } from '../runs/manual-world.ts'

let world: ManualWorld
beforeAll(async () => {
  world = await ManualWorld.open()
})
afterAll(() => world.close())

const hooked = (params: Record<string, unknown> = {}) =>
  document({
    blocks: [
      block('hook', 'webhook_trigger', { path: crypto.randomUUID(), ...params }),
      block('end', 'function', { code: 'return `${<webhook.body.city>} by ${<webhook.method>}`' }),
    ],
    edges: ['hook > end'],
  })
const open = { authentication: { type: 'none' } }

const editor = (path: string, method = 'POST') =>
  world.executions.call(`/api/editor/workflows/${path}`, {
    method,
    headers: world.session,
    key: null,
    ...(method === 'POST' ? { body: {} } : {}),
  })
const listen = async (id: string) => (await editor(`${id}/listen`)).json as { token: string; url: string }
const send = (url: string, headers: Record<string, string> = {}, body = '{"city":"Porto"}') =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })

describe('a test address', () => {
  test('takes one request for the draft, shows it, and a run uses it', async () => {
    const id = await world.executions.deploy(hooked(open), false)
    const { token, url } = await listen(id)
    const waiting = editor(`${id}/listen/${token}`, 'GET')
    const sent = await send(`${url}?n=1`, { 'x-secret': 'the secret value' })
    expect([sent.status, await sent.json()]).toEqual([202, { success: true, test: true }])
    const { request } = (await waiting).json
    expect(request.fields).toMatchObject({
      ...{ method: 'POST', query: { n: '1' }, body: { city: 'Porto' } },
      headers: { 'x-secret': '{{TOKEN}}' },
    })
    // Nothing of a further request is read.
    for (const body of ['{}', 'not JSON']) expect((await send(url, {}, body)).status).toBe(409)
    const { ended } = await world.again(id, { listened: token })
    expect(ended.output).toMatchObject({ result: 'Porto by POST' })
    expect((await editor(`${id}/listen/${token}`, 'DELETE')).status).toBe(204)
    expect((await send(url)).status).toBe(404)
    expect((await world.post(id, { listened: token })).status).toBe(404)
  })

  test('verifies the sender and the method like the deployed trigger, and a refused request is not taken', async () => {
    const authentication = { type: 'bearer', token: 'a-bearer-token' }
    const id = await world.executions.deploy(hooked({ authentication, methods: ['POST'] }), false)
    const { token, url } = await listen(id)
    expect((await send(url)).status).toBe(401)
    const got = await fetch(url)
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await send(url, { authorization: 'Bearer a-bearer-token' })).status).toBe(202)
    const { request } = (await editor(`${id}/listen/${token}`, 'GET')).json
    expect(request.fields.headers).not.toHaveProperty('authorization')
  })

  test('of a trigger that responds with the workflow runs the draft, and responds with its output', async () => {
    const id = await world.executions.deploy(hooked({ ...open, respond: 'workflow' }), false)
    const { url } = await listen(id)
    const sent = await send(url)
    const executionId = sent.headers.get('x-execution-id') ?? ''
    expect([sent.status, await sent.json()]).toMatchObject([200, { output: { result: 'Porto by POST' } }])
    expect(await world.entryOf(executionId)).toMatchObject({ trigger: 'manual', version: null })
  })

  test('takes nothing after the person who listens has lost the access to the workflow', async () => {
    const id = await world.executions.deploy(hooked({ ...open, respond: 'workflow' }), false)
    const { userId } = await world.executions.addMember('editor')
    const headers = await world.executions.signIn(userId)
    const { json } = await world.executions.call(`/api/editor/workflows/${id}/listen`, { body: {}, headers, key: null })
    await world.executions.removeMember(userId)
    const sent = await send(json.url)
    expect([sent.status, sent.headers.get('x-execution-id')]).toEqual([404, null])
  })

  test('stores files only when a run starts', async () => {
    const id = await world.executions.deploy(
      document({
        blocks: [
          block('hook', 'webhook_trigger', { path: crypto.randomUUID(), ...open }),
          block('end', 'function', { code: 'return <webhook.body.photo.size>' }),
        ],
        edges: ['hook > end'],
      }),
      false,
    )
    const { token, url } = await listen(id)
    const form = new FormData()
    form.set('photo', new File(['Hello'], 'a.txt', { type: 'text/plain' }))
    expect((await fetch(url, { method: 'POST', body: form })).status).toBe(202)
    const { request } = (await editor(`${id}/listen/${token}`, 'GET')).json
    expect(request.fields.body).toEqual({ photo: { url: '', name: 'a.txt', size: 5, type: 'text/plain' } })
    const { executionId, ended } = await world.again(id, { listened: token })
    expect(ended.output).toMatchObject({ result: 5 })
    expect((await world.entryOf(executionId)).files).toMatchObject([{ name: 'a.txt' }])
  })
})
