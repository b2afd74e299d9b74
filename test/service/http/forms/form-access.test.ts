import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { FormWorld, formOf, textFile } from './form-world.ts'

let world: FormWorld
beforeAll(async () => {
  world = await FormWorld.open({ 'form-visitor-per-minute': '10000' })
  const variable = { method: 'PUT', body: { value: 'open sesame' } }
  const { workspaceId } = world.executions
  await world.executions.call(`/api/workspaces/${workspaceId}/environment/FORM_PASSWORD`, variable)
})
afterAll(() => world.close())

const fields = [{ name: 'a', type: 'string', label: 'Answer' }]

describe('a form with a password', () => {
  test('shows its fields and can be sent only with the password', async () => {
    const path = await world.form({ fields, access: 'password', password: '{{FORM_PASSWORD}}', description: 'Inside' })
    const closed = await world.describe(path)
    expect(closed.json).toMatchObject({ access: 'password', title: 'A form', maySend: false, fields: [] })
    expect(closed.json.description).toBeNull()
    const headers = { 'x-form-password': encodeURIComponent('open sesame') }
    const open = await world.describe(path, { headers })
    expect(open.json).toMatchObject({ maySend: true, description: 'Inside', fields: [{ name: 'a', label: 'Answer' }] })
    expect((await world.describe(path, { headers: { 'x-form-password': 'wrong' } })).status).toBe(401)
    expect((await world.send(path, { a: 'x' })).json.code).toBe('INVALID_CREDENTIALS')
    const sent = await world.send(path, { a: 'x' }, { headers })
    expect(sent.status).toBe(202)
    await world.resultOf(sent.json.executionId)
    const log = await world.executions.call(
      `/api/v1/logs?workspaceId=${world.executions.workspaceId}&includeTraceSpans=true&details=full`,
    )
    expect(log.text).not.toContain('open sesame')
  })

  test('limits guesses by address, and then refuses the right password, too', async () => {
    const path = await world.form({ fields, access: 'password', password: 'right' })
    const guess = (password: string) => world.send(path, { a: 'x' }, { headers: { 'x-form-password': password } })
    const wrong = await Promise.all(Array.from({ length: 25 }, (_, number) => guess(`wrong ${number}`)))
    expect(wrong.filter(({ status }) => status === 401)).toHaveLength(20)
    expect(wrong.filter(({ status }) => status === 429)).toHaveLength(5)
    expect((await guess('right')).status).toBe(429)
    expect((await world.describe(path, { headers: { 'x-form-password': 'right' } })).status).toBe(429)
  })

  test('refuses all callers while the variable of its password is not set', async () => {
    const path = await world.form({ fields, access: 'password', password: '{{NOT_SET}}' })
    const headers = { 'x-form-password': '{{NOT_SET}}' }
    expect((await world.send(path, { a: 'x' }, { headers })).status).toBe(401)
  })
})

describe('a form for members', () => {
  test('can be sent by members who may run workflows, with a session or key', async () => {
    const path = await world.form({ fields, access: 'members' })
    const [editor, viewer] = [await world.executions.addMember('editor'), await world.executions.addMember('viewer')]
    const outsider = await world.executions.otherKey()
    expect((await world.describe(path)).json).toMatchObject({ maySend: false, fields: [] })
    expect((await world.describe(path)).json.problem).toContain('Sign in')
    const anonymous = await world.send(path, { a: 'x' })
    expect([anonymous.status, anonymous.json.code]).toEqual([401, 'API_KEY_REQUIRED'])
    for (const [key, code] of [
      [viewer.key, 'FORBIDDEN'],
      [outsider, 'NOT_FOUND'],
    ]) {
      expect((await world.send(path, { a: 'x' }, { key: key! })).json.code).toBe(code)
      expect((await world.describe(path, { key: key! })).json).toMatchObject({ maySend: false, fields: [] })
    }
    expect((await world.send(path, { a: 'x' }, { key: editor.key })).status).toBe(202)
    const headers = await world.executions.signIn(editor.userId)
    expect((await world.describe(path, { headers })).json).toMatchObject({ maySend: true, fields: [{ name: 'a' }] })
    expect((await world.send(path, formOf({ a: 'x' }), { headers })).status).toBe(202)
  })

  test('refuses a form that another site sends with the session of a member', async () => {
    const path = await world.form({ fields, access: 'members' })
    const { cookie = '' } = await world.executions.signIn()
    const headers = { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    expect((await world.send(path, formOf({ a: 'x' }), { headers })).status).toBe(403)
  })
})

describe('visitors of forms', () => {
  test('may send a limited number of forms from one address', async () => {
    const limited = await FormWorld.open({ 'form-visitor-per-minute': '3' })
    const path = await limited.form({ fields })
    const statuses = []
    for (let count = 0; count < 5; count += 1) statuses.push((await limited.send(path, { a: 'x' })).status)
    expect(statuses).toEqual([202, 202, 202, 429, 429])
    const members = await limited.form({ fields, access: 'members' })
    for (let count = 0; count < 5; count += 1) {
      expect((await limited.send(members, { a: 'x' }, { key: limited.executions.apiKey })).status).toBe(202)
    }
    await limited.close()
  })

  test('may send only small texts, few values and few files', async () => {
    const path = await world.form({ fields: [...fields, { name: 'papers', type: 'files' }] })
    const long = 'x'.repeat(1_100_000)
    const refused = async (body: unknown, setting: string) => {
      const { status, json } = await world.send(path, body)
      expect([status, json.error]).toEqual([413, expect.stringContaining(setting)])
    }
    await refused({ a: long }, 'MILLRACE_ANONYMOUS_BODY_BYTES_MAX')
    await refused(formOf({ a: long }), 'MILLRACE_ANONYMOUS_BODY_BYTES_MAX')
    await refused({ a: 'x', more: Array.from({ length: 30_000 }, () => 0) }, 'MILLRACE_ANONYMOUS_BODY_VALUES_MAX')
    const many = Array.from({ length: 11 }, (_, number) => textFile(`${number}.txt`))
    await refused(formOf({ papers: many }), 'MILLRACE_ANONYMOUS_FILES_MAX')
    const data = 'data:text/plain;base64,QQ=='
    const items = many.map(({ name }) => ({ type: 'file', name, data }))
    await refused({ papers: items }, 'MILLRACE_ANONYMOUS_FILES_MAX')
    const entries = Object.fromEntries(Array.from({ length: 1_100 }, (_, number) => [`f${number}`, 'x']))
    await refused(formOf(entries), 'MILLRACE_ANONYMOUS_FORM_FIELDS_MAX')
    const zipped = await world.send(path, undefined, {
      text: Bun.gzipSync(new TextEncoder().encode(JSON.stringify({ a: 'x'.repeat(900_000) }))),
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    })
    expect([zipped.status, zipped.json.error]).toEqual([413, expect.stringContaining('MILLRACE_BODY_RATIO_MAX')])
  })

  test('may guess only a limited number of addresses', async () => {
    const limited = await FormWorld.open()
    const statuses = []
    for (let count = 0; count < 62; count += 1) statuses.push((await limited.describe(`guess-${count}`)).status)
    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 404), 429, 429])
    await limited.close()
  })
})

test('a form with invalid parameters is not deployed', async () => {
  const findings = async (params: object) => {
    const path = world.newPath()
    const blocks = [block('start', 'form_trigger', { path, title: 'T', ...params }), block('end', 'function')]
    const draft = document({ name: path, blocks, edges: ['start > end'] })
    const created = await world.executions.call('/api/workflows', { body: draft })
    const { json } = await world.executions.call(`/api/workflows/${created.json.id}/deploy`, { method: 'POST' })
    const rows = (json.details ?? []) as { path: string; message: string }[]
    const own = rows.filter(({ path: at, message }) => at.startsWith('blocks.start') && !message.startsWith('Warning'))
    return own.map(({ path: at }) => at.replace('blocks.start.params.', ''))
  }
  const ok = { name: 'a', type: 'string' }
  expect(await findings({ redirect: 'javascript:alert(1)' })).toEqual(['redirect'])
  expect(await findings({ redirect: 'data:text/html,x' })).toEqual(['redirect'])
  expect(await findings({ redirect: '//example.com' })).toEqual(['redirect'])
  expect(await findings({ redirect: 'https://example.com/thanks?a=b' })).toEqual([])
  expect(await findings({ access: 'password' })).toEqual(['password'])
  expect(await findings({ accent: 'red;background:url(x)' })).toEqual(['accent'])
  expect(await findings({ path: '../x' })).toEqual(['path'])
  expect(await findings({ fields: [ok, ok] })).toEqual(['fields.1.name'])
  expect(await findings({ fields: [{ name: 'input', type: 'string' }] })).toEqual(['fields.0.name'])
  expect(await findings({ fields: [{ name: 'a', type: 'number', format: 'date' }] })).toEqual(['fields.0.format'])
  expect(await findings({ fields: [{ name: 'a', type: 'boolean', options: ['x'] }] })).toEqual(['fields.0.options'])
  expect(await findings({ fields: [{ ...ok, options: ['x', ' '] }] })).toEqual(['fields.0.options'])
  expect(await findings({ fields: [{ name: 'a', type: 'letters' }] })).toEqual(['fields.0.type'])
})
