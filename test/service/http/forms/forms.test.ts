import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block } from '../../../support/make.ts'
import { FormWorld, formOf, textFile } from './form-world.ts'

let world: FormWorld
beforeAll(async () => {
  world = await FormWorld.open({ 'form-visitor-per-minute': '10000' })
})
afterAll(() => world.close())

const fields = [
  { name: 'name', type: 'string', label: 'Your name', required: true },
  { name: 'mail', type: 'string', format: 'email' },
  { name: 'day', type: 'string', format: 'date' },
  { name: 'guests', type: 'number' },
  { name: 'vegan', type: 'boolean' },
  { name: 'meal', type: 'string', options: ['Soup', 'Rice'] },
  { name: 'days', type: 'array', options: ['Mon', 'Tue', 'Wed'] },
  { name: 'papers', type: 'files' },
]

describe('a form', () => {
  test('starts a run with JSON, a form or a multipart form, and returns 202 with its ID', async () => {
    const path = await world.form({ fields })
    const full = { name: 'Ada', mail: 'ada@example.com', day: '2027-02-28', guests: 2.5, vegan: true, meal: 'Rice' }
    const read = { ...full, days: ['Mon', 'Wed'], papers: null }
    const json = await world.send(path, { ...full, days: ['Mon', 'Wed'] })
    const url =
      'name=Ada&mail=ada%40example.com&day=2027-02-28&guests=2.50&vegan=on&meal=Rice&days=Mon&days=Wed&papers='
    const form = await world.send(path, undefined, {
      text: url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const texts = { ...full, guests: '2.50', vegan: 'true', days: ['Mon', 'Wed'] }
    const multipart = await world.send(path, formOf(texts))
    for (const sent of [json, form, multipart]) {
      expect(sent.status).toBe(202)
      expect(sent.json).toEqual({ success: true, executionId: expect.any(String) })
      expect(sent.headers.get('x-execution-id')).toBe(sent.json.executionId)
      expect(await world.resultOf(sent.json.executionId)).toEqual(read)
    }
  })

  test('is in the log as a webhook with the source form', async () => {
    const path = await world.form()
    const { json } = await world.send(path, {})
    await world.resultOf(json.executionId)
    expect(await world.logOf(json.executionId)).toMatchObject({ trigger: 'webhook', source: 'form', level: 'info' })
  })

  test('has each field and the whole input as outputs', async () => {
    const path = world.newPath()
    const blocks = [
      block('start', 'form_trigger', { path, title: 'T', fields: [{ name: 'city', type: 'string' }] }),
      block('end', 'function', { code: 'return { city: <form.city>, named: <start.city>, input: <form.input> }' }),
    ]
    await world.deploy(blocks, ['start > end'])
    const { json } = await world.send(path, { city: 'Faro', other: 'is no field' })
    const result = { city: 'Faro', named: 'Faro', input: { city: 'Faro' } }
    expect(await world.resultOf(json.executionId)).toEqual(result)
  })

  test('reports the problem of each field, and starts nothing', async () => {
    const path = await world.form({ fields })
    const wrong = {
      name: ' ',
      mail: 'ada@',
      day: '2027-02-29',
      guests: 'two',
      vegan: 'maybe',
      meal: 'Meat',
      days: ['Sun'],
    }
    const { status, json } = await world.send(path, { ...wrong, papers: 'none' })
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT'])
    expect(json.details).toEqual([
      { path: 'name', message: 'Fill in Your name.' },
      { path: 'mail', message: 'mail must be an e-mail address, such as name@example.com.' },
      { path: 'day', message: 'day must be a date, such as 2027-01-31.' },
      { path: 'guests', message: 'guests must be a number, such as 12 or 12.5.' },
      { path: 'vegan', message: 'vegan must be yes or no.' },
      { path: 'meal', message: 'meal must be one of Soup, Rice.' },
      { path: 'days', message: 'days must be among Mon, Tue, Wed.' },
      { path: 'papers', message: 'papers must be a list of files.' },
    ])
    for (const body of [[], 'text', null]) expect((await world.send(path, body)).status).toBe(400)
    expect((await world.send(path, undefined, { text: '{"name":' })).json.code).toBe('INVALID_JSON')
  })

  test('responds with 404 and an explanation when it is not open', async () => {
    const path = world.newPath()
    const made = block('start', 'form_trigger', { path, title: 'T', fields: [] })
    const blocks = [made, block('end', 'function', { code: 'return 1' })]
    const id = await world.deploy(blocks, ['start > end'])
    expect((await world.describe(path)).status).toBe(200)
    const undeploy = { method: 'DELETE' }
    expect((await world.executions.call(`/api/workflows/${id}/deploy`, undeploy)).status).toBeLessThan(300)
    for (const call of [world.describe(path), world.send(path, {}), world.send('nothing-here', {})]) {
      const { status, json } = await call
      expect([status, json.error]).toEqual([404, expect.stringContaining('No form is open at this address')])
    }
    // A disabled trigger has no address.
    const off = world.newPath()
    const rest = [block('api', 'api_trigger'), block('end', 'function', { code: 'return 1' })]
    const disabled = { ...block('start', 'form_trigger', { path: off, title: 'T', fields: [] }), enabled: false }
    await world.deploy([disabled, ...rest], ['start > end', 'api > end'])
    expect((await world.send(off, {})).status).toBe(404)
  })

  test('has a unique address, and gets a random one without a path', async () => {
    const path = await world.form()
    const taken = { name: 'Taken', blocks: { a: block('a', 'form_trigger', { path, title: 'T' }) }, edges: [] }
    const created = await world.executions.call('/api/workflows', { body: taken })
    const refused = await world.executions.call(`/api/workflows/${created.json.id}/deploy`, { method: 'POST' })
    expect([refused.status, refused.json.error]).toEqual([409, expect.stringContaining(`"${path}"`)])
    const unnamed = { name: 'Unnamed', blocks: { a: block('a', 'form_trigger', { title: 'T' }) }, edges: [] }
    const { json } = await world.executions.call('/api/workflows', { body: unnamed })
    const deployed = await world.executions.call(`/api/workflows/${json.id}/deploy`, { method: 'POST' })
    expect(deployed.json.formUrl).toMatch(/\/form\/[\w-]{16,}$/)
    const own = new URL(deployed.json.formUrl).pathname.split('/').at(-1)!
    expect((await world.describe(own)).json).toMatchObject({ title: 'T', maySend: true })
  })

  test('can be in the same workflow as a webhook trigger', async () => {
    const path = world.newPath()
    const blocks = [
      block('hook', 'webhook_trigger', { path }),
      block('page', 'form_trigger', { path, title: 'T', fields: [{ name: 'a', type: 'string' }] }),
      block('end', 'function', { code: 'return { form: <page.a>, hook: <hook.body> }' }),
    ]
    await world.deploy(blocks, ['hook > end', 'page > end'])
    const hook = await world.executions.call(`/api/webhooks/trigger/${path}`, { key: null, body: { a: 1 } })
    const form = await world.send(path, { a: 'x' })
    expect(await world.resultOf(hook.json.executionId)).toEqual({ form: null, hook: { a: 1 } })
    expect(await world.resultOf(form.json.executionId)).toEqual({ form: 'x', hook: null })
    expect((await world.logOf(hook.json.executionId)).source).toBeNull()
  })
})

describe('the files of a form', () => {
  const withFiles = [{ name: 'papers', type: 'files', required: true }]
  const sent = [textFile('a.txt'), textFile('b.txt', 'more')]

  test('belong to the run, which reads them as file items', async () => {
    const path = await world.form({ fields: withFiles })
    const multipart = await world.send(path, formOf({ papers: sent }))
    const data = `data:text/plain;base64,${btoa('hello')}`
    const json = await world.send(path, { papers: [{ type: 'file', name: 'a.txt', data }] })
    for (const [{ json: body, status }, count] of [
      [multipart, 2],
      [json, 1],
    ] as const) {
      expect(status).toBe(202)
      const { papers } = await world.resultOf(body.executionId)
      expect(papers).toHaveLength(count)
      expect(papers[0]).toMatchObject({ name: 'a.txt', size: 5, type: 'text/plain' })
      expect(await (await fetch(papers[0].url)).text()).toBe('hello')
      const { files } = await world.logOf(body.executionId)
      expect(files).toHaveLength(count)
    }
  })

  test('are required if their field is, and are not stored if another field is invalid', async () => {
    const path = await world.form({ fields: [...withFiles, { name: 'sum', type: 'number' }] })
    const before = world.stored()
    const missing = await world.send(path, formOf({ papers: new File([], '') }))
    expect(missing.json.details).toEqual([{ path: 'papers', message: 'Choose a file for papers.' }])
    const wrong = await world.send(path, formOf({ papers: sent, sum: 'many' }))
    expect(wrong.json.details).toMatchObject([{ path: 'sum' }])
    expect(world.stored()).toEqual(before)
  })

  test('may have 20 MB, but not more', async () => {
    const path = await world.form({ fields: withFiles })
    const bytes = new Uint8Array(20 * 1_048_576 + 1)
    const large = await world.send(path, formOf({ papers: new File([bytes.subarray(1)], 'large.bin') }))
    expect(large.status).toBe(202)
    expect((await world.resultOf(large.json.executionId)).papers[0].size).toBe(20 * 1_048_576)
    const data = `data:text/plain;base64,${Buffer.from(bytes.subarray(1)).toString('base64')}`
    expect((await world.send(path, { papers: [{ type: 'file', name: 'l', data }] })).status).toBe(202)
    const tooLarge = await world.send(path, formOf({ papers: new File([bytes], 'huge.bin') }))
    expect([tooLarge.status, tooLarge.json.details]).toMatchObject([413, [{ path: 'papers[0]' }]])
    const four = await world.send(
      path,
      formOf({ papers: [new File([bytes.subarray(1)], 'a'), new File([bytes], 'b')] }),
    )
    expect([four.status, four.json.error]).toEqual([413, expect.stringContaining('MILLRACE_FORM_BYTES_MAX_FILES')])
  }, 60_000)

  test('in fields of other types are ignored', async () => {
    const path = await world.form({ fields: [{ name: 'note', type: 'string' }, ...withFiles] })
    const before = world.stored().length
    const { json } = await world.send(path, formOf({ papers: textFile('a.txt'), other: textFile('b.txt') }))
    await world.resultOf(json.executionId)
    expect(world.stored()).toHaveLength(before + 1)
    const text = await world.send(path, formOf({ papers: textFile('a.txt'), note: textFile('c.txt') }))
    expect(text.status).toBe(202)
    expect((await world.resultOf(text.json.executionId)).note).toBeNull()
  })
})

describe('the response of a form', () => {
  test('is the response of the workflow with respond: workflow, in an origin of its own', async () => {
    const path = world.newPath()
    const blocks = [
      block('start', 'form_trigger', {
        path,
        title: 'T',
        fields: [{ name: 'a', type: 'string' }],
        respond: 'workflow',
      }),
      block('end', 'response', { data: { got: '<form.a>' }, status: 201 }),
    ]
    await world.deploy(blocks, ['start > end'])
    const { status, json, headers } = await world.send(path, { a: 'x' })
    expect([status, json]).toEqual([201, { got: 'x' }])
    expect(headers.get('content-security-policy')).toContain('sandbox')
  })

  test('is 202 with the status paused when the run pauses', async () => {
    const path = world.newPath()
    const blocks = [
      block('start', 'form_trigger', { path, title: 'T', fields: [], respond: 'workflow' }),
      block('ask', 'approval', { title: 'Pay?' }),
      block('end', 'function', { code: 'return <ask.approved>' }),
    ]
    await world.deploy(blocks, ['start > ask', 'ask > end'])
    const { status, json } = await world.send(path, {})
    expect(status).toBe(202)
    expect(json).toMatchObject({ success: true, status: 'paused', paused: [{ kind: 'approval' }] })
    expect(json.next).toBeUndefined()
  })

  test('tells members why a run failed, but not visitors', async () => {
    const failing = async (access: string) => {
      const path = world.newPath()
      const blocks = [
        block('start', 'form_trigger', { path, title: 'T', fields: [], respond: 'workflow', access }),
        block('bad', 'function', { code: 'throw new Error("the secret reason")' }),
      ]
      await world.deploy(blocks, ['start > bad'])
      return path
    }
    const stranger = await world.send(await failing('public'), {})
    expect([stranger.status, stranger.text.includes('secret reason')]).toEqual([500, false])
    expect(stranger.json.error).toBe('The form could not be processed. Try again in a moment.')
    const member = await world.send(await failing('members'), {}, { key: world.executions.apiKey })
    expect([member.status, member.text.includes('secret reason')]).toEqual([500, true])
  })
})
