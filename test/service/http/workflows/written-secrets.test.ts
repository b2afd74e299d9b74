import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Page } from '../page.ts'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
let viewer: string
beforeAll(async () => {
  world = await HttpWorld.open()
  viewer = await world.member('viewer')
})
afterAll(() => world.close())

const secrets = {
  password: 'opensesame-password',
  token: 'webhook-bearer-token',
  header: 'Bearer header-bearer-token',
  apiKey: 'sk-model-api-key',
  toolKey: 'key-of-a-tool-header',
}
const values = Object.values(secrets)

/** A document with a secret in each kind of place. */
function written(more: { header?: string; password?: string } = {}) {
  const block = (id: string, type: string, params: object) => [id, { type, name: id, params }] as const
  const headers = [
    { key: 'Accept', value: 'application/json' },
    { key: 'Authorization', value: more.header ?? secrets.header },
    { key: 'X-Api-Key', value: '{{SERVICE_KEY}}' },
  ]
  const toolHeaders = [{ key: 'PRIVATE-TOKEN', value: secrets.toolKey }]
  const tool = { type: 'api', name: 'look', params: { url: 'http://127.0.0.1:1/', headers: toolHeaders } }
  const model = { provider: 'openai', model: 'gpt-4o-mini', apiKey: secrets.apiKey, userPrompt: 'Hi', tools: [tool] }
  return {
    name: `Secrets ${crypto.randomUUID()}`,
    blocks: Object.fromEntries([
      block('start', 'api_trigger', {}),
      block('chat', 'chat_trigger', { access: 'password', password: more.password ?? secrets.password }),
      block('hook', 'webhook_trigger', { authentication: { type: 'bearer', token: secrets.token } }),
      block('call', 'api', { url: 'http://127.0.0.1:1/', headers, retries: 0, onError: 'continue' }),
      block('ask', 'agent', { ...model, onError: 'continue' }),
    ]),
    edges: [
      { source: 'start', target: 'call' },
      { source: 'chat', target: 'call' },
      { source: 'hook', target: 'ask' },
    ],
  }
}

const secretsIn = (text: string) => values.filter((value) => text.includes(value))
const paramsOf = ({ json }: { json: Parsed }, id: string, document = json) => document.blocks[id].params
const create = async (document: object) => (await world.post('/api/workflows', document)).json
/** The files of the database and its journal. */
const onDisk = () =>
  readdirSync(world.directory)
    .filter((file) => file.startsWith('millrace.') && !file.endsWith('.key'))
    .map((file) => readFileSync(join(world.directory, file), 'latin1'))
    .join('')

test('secrets in a document are sealed on disk, shown to editors, and hidden from viewers', async () => {
  const made = await create(written())
  expect(secretsIn(JSON.stringify(made.blocks))).toEqual(values)
  await world.post(`/api/workflows/${made.id}/deploy`)
  expect(secretsIn(onDisk())).toEqual([])

  const editor = await world.member('editor')
  for (const path of [`/api/workflows/${made.id}`, `/api/workflows/${made.id}/deployments/1`]) {
    expect(secretsIn((await world.get(path, { key: editor })).text)).toEqual(values)
    const seen = await world.get(path, { key: viewer })
    expect([seen.status, secretsIn(seen.text)]).toEqual([200, []])
    expect(seen.text).not.toContain('$sealed')
    const { blocks } = seen.json.document ?? seen.json
    expect(blocks.chat.params.password).toBe('***')
    expect(blocks.hook.params.authentication).toEqual({ type: 'bearer', token: '***' })
    expect(blocks.call.params.headers.map(({ value }: Parsed) => value)).toEqual([
      'application/json',
      '***',
      '{{SERVICE_KEY}}',
    ])
    expect(blocks.ask.params.apiKey).toBe('***')
    expect(blocks.ask.params.tools[0].params.headers[0].value).toBe('***')
  }
})

test('the shared text of a newer draft shows secrets only to those who may edit', async () => {
  const { id } = await create(written())
  const newer = `/api/editor/workflows/${id}/newer?revision=`
  const [editor, reader] = await Promise.all([Page.ofMember(world, 'editor'), Page.ofMember(world, 'viewer')])
  const [shown, hidden] = await Promise.all([editor.get(`${newer}0`), reader.get(`${newer}0`)])
  expect([secretsIn(shown.text), secretsIn(hidden.text)]).toEqual([values, []])
  expect([shown.json.workflow.revision, hidden.json.workflow.blocks.ask.params.apiKey]).toEqual([1, '***'])
  expect(hidden.json.workflow.findings).toEqual(shown.json.workflow.findings)
  expect((await reader.get(`${newer}1`)).json).toEqual({ workflow: null })
  const stranger = await Page.of(world, await world.accounts.addUser())
  expect((await stranger.get(`${newer}0`)).status).toBe(404)
})

test('saving *** keeps the stored value, and a new value replaces it', async () => {
  const { id, ...document } = await create(written())
  const hidden = (await world.get(`/api/workflows/${id}`, { key: viewer })).json
  hidden.blocks.call.params.headers.reverse()
  expect(secretsIn((await world.put(`/api/workflows/${id}`, hidden)).text)).toEqual(values)
  document.blocks.chat.params.password = 'another-password'
  document.blocks.hook.params.authentication.token = '***'
  await world.put(`/api/workflows/${id}`, document)
  const saved = await world.get(`/api/workflows/${id}`)
  expect(paramsOf(saved, 'chat').password).toBe('another-password')
  expect(paramsOf(saved, 'hook').authentication.token).toBe(secrets.token)
  // Another type of block has no stored value.
  document.blocks.chat = { ...document.blocks.chat, type: 'webhook_trigger' }
  document.blocks.chat.params = { authentication: { type: 'bearer', token: '***' } }
  const changed = await world.put(`/api/workflows/${id}`, document)
  expect(paramsOf(changed, 'chat').authentication.token).toBeNull()
})

test('*** without a stored value is left empty with a warning', async () => {
  const made = await create(written({ password: '***' }))
  expect(made.blocks.chat.params.password).toBeNull()
  const codes = made.findings.filter(({ blockId }: Parsed) => blockId === 'chat').map(({ code }: Parsed) => code)
  expect(codes.toSorted()).toEqual(['MISSING_PARAMETER', 'SECRET_NOT_STORED'])
  // Nobody but the service can put a sealed value into a document.
  const forged = await create(written({ password: { $sealed: 'AAAA' } as unknown as string }))
  expect(forged.blocks.chat.params.password).toBeNull()
})

test('a written secret is a warning that suggests an environment variable', async () => {
  const { findings } = await create(written())
  const warnings = findings.filter(({ code }: Parsed) => code === 'WRITTEN_SECRET')
  expect(warnings.map(({ path, level }: Parsed) => `${level} ${path}`)).toEqual([
    'warning blocks.chat.params.password',
    'warning blocks.hook.params.authentication.token',
    'warning blocks.call.params.headers.1.value',
    'warning blocks.ask.params.apiKey',
    'warning blocks.ask.params.tools.0.params.headers.0.value',
  ])
  expect(warnings[2].message).toBe(
    'The header Authorization of "call" is written in the document. Store it as an environment variable and refer to ' +
      'it, for example {{CALL_AUTHORIZATION}}.',
  )
  const clean = await create(written({ header: 'Bearer {{TOKEN}}', password: '{{PASSWORD}}' }))
  const left = clean.findings.filter(({ code }: Parsed) => code === 'WRITTEN_SECRET')
  expect(left.map(({ path }: Parsed) => path)).not.toContain('blocks.chat.params.password')
})

test('a check by a viewer uses the stored secrets and shows none', async () => {
  const { id, name } = await create(written())
  const reader = await Page.ofMember(world, 'viewer')
  const { json: document } = await reader.get(`/api/workflows/${id}`)
  document.blocks.hook.params.authentication = { type: 'signature', scheme: 'standard', secret: '***' }
  document.blocks.ask.params.apiKey = 5
  const checked = await reader.post(`/api/editor/workflows/${id}/check`, { ...document, name })
  expect([checked.status, secretsIn(checked.text)]).toEqual([200, []])
  const codes = checked.json.findings.map(({ code, blockId }: Parsed) => `${blockId} ${code}`)
  expect(codes).not.toContain('chat MISSING_PARAMETER')
  expect(codes).toContain('hook SECRET_NOT_STORED')
})

test('runs use the secrets, and their log entries show none of them to anybody', async () => {
  const { id } = await create(written())
  const { json: deployed } = await world.post(`/api/workflows/${id}/deploy`)
  const hook = await fetch(deployed.webhookUrl.replace(/^https?:\/\/[^/]+/, world.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets.token}` },
  })
  expect(hook.status).toBe(202)
  const run = await world.post(`/api/workflows/${id}/execute`, { note: 'uses header-bearer-token inside' })
  expect(run.status).toBe(200)
  const [entry] = (await world.logs(`&workflowIds=${id}&triggers=api&details=full&includeTraceSpans=true`)).json.data
  const detail = await world.get(`/api/v1/logs/${entry.id}`)
  expect(detail.text).toContain('{{call: header Authorization}}')
  expect(secretsIn(detail.text)).toEqual([])
  expect(detail.text).not.toContain('header-bearer-token')
  const state = await world.get(`/api/v1/logs/executions/${entry.executionId}`)
  expect(state.json.workflowState.blocks.chat.params.password).toBe('***')
  expect(secretsIn(state.text)).toEqual([])
})

test('a copy and an earlier version keep their secrets', async () => {
  const { id } = await create(written())
  await world.post(`/api/workflows/${id}/deploy`)
  const owner = await Page.of(world)
  const copy = (await owner.post(`/api/editor/workflows/${id}/duplicate`, {})).json.id
  expect(secretsIn((await world.get(`/api/workflows/${copy}`)).text)).toEqual(values)
  await world.put(`/api/workflows/${id}`, { ...written({ password: 'changed-password' }) })
  expect((await world.get(`/api/workflows/${id}/status`)).json.needsRedeployment).toBe(true)
  const reverted = await world.post(`/api/workflows/${id}/deployments/1/revert`)
  expect(reverted.json.blocks.chat.params.password).toBe(secrets.password)
  // Equal secrets are sealed alike, so the draft counts as unchanged.
  expect((await world.put(`/api/workflows/${id}`, reverted.json)).status).toBe(200)
  const { json } = await owner.get('/api/editor/workflows')
  expect(json.data.find((row: Parsed) => row.id === id)).toMatchObject({ hasChanges: false })
})

test('a document of an earlier version is hidden as it is, and sealed when it is saved or deployed', async () => {
  const document = written()
  const { id } = await world.store.createWorkflow({
    ...{ id: null, workspaceId: world.workspaceId, at: Date.now(), by: world.userId },
    document: { ...document, blocks: idsIn(document.blocks) },
  })
  expect(secretsIn((await world.get(`/api/workflows/${id}`, { key: viewer })).text)).toEqual([])
  expect(secretsIn((await world.get(`/api/workflows/${id}`)).text)).toEqual(values)
  await world.post(`/api/workflows/${id}/deploy`)
  const stored = await world.store.getDeployment(id, 1)
  expect(secretsIn(JSON.stringify(stored))).toEqual([])
  expect((await world.get(`/api/workflows/${id}/status`)).json.needsRedeployment).toBe(false)
})

function idsIn(blocks: Record<string, object>): Parsed {
  return Object.fromEntries(Object.entries(blocks).map(([id, block]) => [id, { ...block, id }]))
}

test('a secret whose key is missing is a finding, stays hidden, and can be kept or written again', async () => {
  const { id, ...document } = await create(written())
  const row = await world.store.getWorkflow(id)
  const text = JSON.stringify(row?.document).replace(/("password":\{"\$sealed":")[^"]{20}/, `$1${'A'.repeat(20)}`)
  await world.store.updateWorkflow(id, JSON.parse(text), Date.now())
  const read = await world.get(`/api/workflows/${id}`)
  expect(paramsOf(read, 'chat').password).toBe('***')
  const refused = await world.post(`/api/workflows/${id}/deploy`)
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('cannot be decrypted: its key is missing. Restore the key, or write the value again.')
  await world.put(`/api/workflows/${id}`, read.json)
  expect(JSON.stringify((await world.store.getWorkflow(id))?.document)).toContain('A'.repeat(20))
  await world.put(`/api/workflows/${id}`, document)
  expect((await world.post(`/api/workflows/${id}/deploy`)).status).toBe(200)
})
