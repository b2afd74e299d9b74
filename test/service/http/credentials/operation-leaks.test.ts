import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { Recorder } from '../../../support/outbound/recorder.ts'
import { ExecutionWorld } from '../execution-world.ts'

// Each vector tries to bring a credential to a host that is not one of its hosts, by way of a connector.

const secret = 'S3cret+of/a=credential'

let world: ExecutionWorld
let service: Recorder
let stranger: Recorder

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback', 'body-bytes-max': '100000' })
  service = new Recorder()
  stranger = new Recorder()
})
afterAll(async () => {
  service.stop()
  stranger.stop()
  await world.close()
})

const operation = (more: object = {}) => ({ label: 'Call', method: 'GET', path: '/x', ...more })
const ofPath = { type: 'object', properties: { id: { type: 'string' } } }

/** A connector and the parameters of its call, by the way in which they try. */
const vectors: Record<
  string,
  () => { baseUrl?: string; operation?: object; params?: object; fields?: object; respond?: Response }
> = {
  'a base URL at another host': () => ({ baseUrl: stranger.url }),
  'a base URL with the right host as user': () => ({
    baseUrl: `{baseUrl}`,
    fields: { baseUrl: `http://${service.host.replace(':', '%3A')}@${stranger.host}` },
  }),
  'a field that leads elsewhere': () => ({ baseUrl: '{baseUrl}', fields: { baseUrl: stranger.url } }),
  'a field that ends the host': () => ({
    baseUrl: `http://{baseUrl}.${service.host}`,
    fields: { baseUrl: `${stranger.host}/#` },
  }),
  'a path that begins with another host': () => ({ operation: operation({ path: `//${stranger.host}/x` }) }),
  'a path parameter with an origin': () => ({
    operation: operation({ path: '/{id}', parameters: ofPath }),
    params: { id: `http://${stranger.host}/` },
  }),
  'a path parameter that goes up': () => ({
    operation: operation({ path: '/a/{id}/x', parameters: ofPath }),
    params: { id: '../../..' },
  }),
  'a header that names another host': () => ({ operation: operation({ headers: { Host: 'stranger.example' } }) }),
  'a redirect': () => ({ respond: new Response('', { status: 302, headers: { location: `${stranger.url}/next` } }) }),
  'a redirect that keeps the method': () => ({
    operation: operation({ method: 'POST' }),
    respond: new Response('', { status: 307, headers: { location: `${stranger.url}/next` } }),
  }),
  'a next page at another host': () => ({
    operation: operation({ pagination: { type: 'link', next: 'next', items: 'items' } }),
    respond: Response.json({ items: [1], next: `${stranger.url}/page2` }),
  }),
  'an error that repeats the secret': () => ({
    operation: operation({ error: { message: 'why' } }),
    respond: Response.json({ why: `bad token ${secret}` }, { status: 400 }),
  }),
  'a list of choices': () => ({
    baseUrl: stranger.url,
    operation: operation({ parameters: ofPath, choices: { id: { operation: 'call', value: 'id', label: 'id' } } }),
  }),
}

let names = 0

test.each(Object.keys(vectors))('%s gets no part of a credential', async (name) => {
  names += 1
  const vector = vectors[name]!()
  const home = `/api/workspaces/${world.workspaceId}`
  const id = `vector-${names}`
  service.requests.length = 0
  stranger.requests.length = 0
  service.respond = () => vector.respond?.clone() ?? Response.json({ ok: true })
  stranger.respond = () => Response.json([{ id: 1 }])
  const connector = { id, name: 'Vector', baseUrl: vector.baseUrl ?? service.url }
  const put = { method: 'PUT', body: { ...connector, operations: { call: vector.operation ?? operation() } } }
  const added = await world.call(`${home}/connectors/${id}`, put)
  const credential = {
    name: id,
    kind: 'bearer',
    hosts: [service.host],
    fields: vector.fields ?? {},
    secrets: { token: secret },
  }
  expect((await world.call(`${home}/credentials`, { body: credential })).status).toBe(201)
  // A connector whose address is not one is refused already.
  if (added.status !== 201) return expect(added.status).toBe(400)
  const params = { connector: id, operation: 'call', credential: id, params: vector.params ?? {}, retries: 0 }
  const workflow = document({
    name: id,
    blocks: [
      block('start', 'api_trigger'),
      block('call', 'operation', { ...params, onError: 'continue' }),
      block('end', 'response', { data: '<call.error>' }),
    ],
    edges: ['start > call', 'call > end'],
  })
  const { headers } = await world.call(`/api/workflows/${await world.deploy(workflow)}/execute`, { body: {} })
  const browser = await world.signIn()
  const question = { workspaceId: world.workspaceId, connector: id, operation: 'call', parameter: 'id', credential: id }
  const choices = await world.call('/api/editor/connectors/choices', { key: null, headers: browser, body: question })
  const log = await world.call(`/api/v1/logs/executions/${headers.get('x-execution-id')}`)
  const seen = JSON.stringify(stranger.requests) + log.text + choices.text
  for (const form of [secret, encodeURIComponent(secret), btoa(secret)]) expect(seen).not.toContain(form)
})
