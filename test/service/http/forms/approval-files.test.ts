import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { block } from '../../../support/make.ts'
import { FormWorld, formOf, textFile } from './form-world.ts'

let world: FormWorld
let peer: ReturnType<typeof Bun.serve>
/** The bodies that runs have sent to the peer, as text. */
const received: string[] = []
beforeAll(async () => {
  peer = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'GET') return new Response('made by a block', { headers: { 'content-type': 'image/png' } })
      received.push(await request.text())
      return Response.json({ ok: true })
    },
  })
  world = await FormWorld.open({ 'form-visitor-per-minute': '10000' })
})
afterAll(async () => {
  await world.close()
  await peer.stop(true)
})

const approvalFields = [
  { name: 'receipt', type: 'files', label: 'Receipt', required: true },
  { name: 'note', type: 'string', label: 'Note' },
]

/** Starts a run that asks for files twice, and then sends each file to the peer. */
async function ask() {
  const url = `http://127.0.0.1:${peer.port}/`
  const sends = (name: string, file: string) => block(name, 'api', { url, method: 'POST', bodyType: 'file', file })
  const path = world.newPath()
  const blocks = [
    block('start', 'form_trigger', { path, title: 'T', fields: [{ name: 'paper', type: 'files' }], respond: 'next' }),
    block('made', 'api', { url, responseType: 'file' }),
    block('ask', 'approval', { title: 'Receipt?', fields: approvalFields }),
    block('again', 'approval', { title: 'Sure?' }),
    sends('one', '<form.paper[0]>'),
    sends('two', '<made.data>'),
    sends('three', '<ask.fields.receipt[0]>'),
    block('end', 'function', { code: 'return <ask.fields>' }),
  ]
  await world.deploy(blocks, [
    'start > made',
    'made > ask',
    'ask > again',
    'again > one',
    'one > two',
    'two > three',
    'three > end',
  ])
  const { json } = await world.send(path, formOf({ paper: textFile('paper.txt', 'sent with the form') }))
  return { executionId: json.executionId as string, pause: apiOf(json.next) }
}

const apiOf = (page: string) => new URL(page).pathname.replace('/pause/', '/api/pauses/')
const answer = (pause: string, body: unknown) => {
  const sent = body instanceof FormData ? { form: body } : { body }
  return world.executions.call(pause, { key: null, ...sent })
}

async function nextOf(pause: string): Promise<string> {
  for (;;) {
    const { json } = await world.executions.call(`${pause}/next`, { key: null })
    if (json.state === 'asks') return apiOf(json.url)
    await Bun.sleep(10)
  }
}

test('later blocks read the files of an approval like those of the form', async () => {
  const { executionId, pause } = await ask()
  const sent = await answer(
    pause,
    formOf({ approved: 'true', 'fields.receipt': textFile('receipt.txt', 'the receipt') }),
  )
  expect([sent.status, sent.json]).toEqual([200, { success: true, outcome: 'resumed' }])
  received.length = 0
  await answer(await nextOf(pause), { approved: true })
  const { receipt, note } = await world.resultOf(executionId)
  expect(note).toBeNull()
  expect(receipt).toMatchObject([{ name: 'receipt.txt', size: 11, type: 'text/plain' }])
  expect(await (await fetch(receipt[0].url)).text()).toBe('the receipt')
  expect(received).toEqual(['sent with the form', 'made by a block', 'the receipt'])
  // All files belong to the run's log entry.
  const { files } = await world.logOf(executionId)
  expect((files as { name: string }[]).map(({ name }) => name).toSorted()).toEqual(
    expect.arrayContaining(['paper.txt', 'receipt.txt']),
  )
  expect(files).toHaveLength(3)
})

test('an approval accepts file items in JSON, also at the address for clients of Sim', async () => {
  const data = `data:text/plain;base64,${btoa('in JSON')}`
  const fields = { receipt: [{ type: 'file', name: 'a.txt', data }] }
  const first = await ask()
  expect((await answer(first.pause, { approved: true, fields })).status).toBe(200)
  const second = await ask()
  const { json: job } = await world.executions.call(`/api/jobs/${second.executionId}`)
  const resume = `/api/resume/${
    (await world.executions.call(`/api/workspaces/${world.executions.workspaceId}/pauses`)).json.data.find(
      ({ executionId }: { executionId: string }) => executionId === second.executionId,
    ).workflowId
  }/${second.executionId}`
  expect(job.status).toBe('paused')
  expect((await world.executions.call(resume, { body: { input: { approved: true, ...fields } } })).status).toBe(200)
  for (const { executionId, pause } of [first, second]) {
    await answer(await nextOf(pause), { approved: true })
    const { receipt } = await world.resultOf(executionId)
    expect(await (await fetch(receipt[0].url)).text()).toBe('in JSON')
  }
})

test('an answer of another type approves nothing', async () => {
  const { executionId, pause } = await ask()
  const bodies = ['[]', 'false', '0', '"no"', 'null', '{"approved":"no"}', '{"approved":null}', '{"fields":[]}']
  for (const text of bodies) {
    const { status, json: refused } = await world.executions.call(pause, { key: null, text, method: 'POST' })
    expect([text, status, refused.code]).toEqual([text, 400, 'INVALID_INPUT'])
  }
  const { data } = (await world.executions.call(`/api/workspaces/${world.executions.workspaceId}/pauses`)).json
  const { workflowId } = data.find((each: { executionId: string }) => each.executionId === executionId)
  for (const text of ['[]', 'false', '{"input":false}', '{"input":[]}', '{"input":{"approved":"no"}}']) {
    const sent = await world.executions.call(`/api/resume/${workflowId}/${executionId}`, { text, method: 'POST' })
    expect([text, sent.status, sent.json.code]).toEqual([text, 400, 'INVALID_INPUT'])
  }
  expect((await world.executions.call(pause, { key: null })).status).toBe(200)
})

test('a missing or too large file is reported for its field, and nothing is stored', async () => {
  const { pause } = await ask()
  const before = world.stored()
  const missing = await answer(pause, formOf({ approved: 'true', 'fields.note': 'x' }))
  expect([missing.status, missing.json.details]).toEqual([
    400,
    [{ path: 'receipt', message: 'Choose a file for Receipt.' }],
  ])
  const huge = new File([new Uint8Array(20 * 1_048_576 + 1)], 'huge.bin')
  const tooLarge = await answer(pause, formOf({ approved: 'true', 'fields.receipt': huge }))
  expect([tooLarge.status, tooLarge.json.details]).toMatchObject([413, [{ path: 'receipt[0]' }]])
  expect(world.stored()).toEqual(before)
  // A rejection may leave required fields empty.
  expect((await answer(pause, formOf({ approved: 'false' }))).status).toBe(200)
})

test('the files of a late answer are deleted, and those of the run stay', async () => {
  const { pause } = await ask()
  const body = () => formOf({ approved: 'true', 'fields.receipt': textFile('receipt.txt') })
  const before = world.stored().length
  const answers = await Promise.all(Array.from({ length: 5 }, () => answer(pause, body())))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(4)
  expect(world.stored()).toHaveLength(before + 1)
  expect(readdirSync(`${world.executions.folder}/files/.incoming`)).toEqual([])
})
