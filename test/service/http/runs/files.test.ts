import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

type File = { url: string; name: string; size: number; type: string; uploadedAt?: string; expiresAt?: string }

let world: ExecutionWorld
let id: string

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'body-bytes-max-files': '160 MB', 'outbound-allow': 'loopback' })
  id = await world.deploy(takesFiles)
})
afterAll(() => world.close())

const inputFormat = [
  { name: 'docs', type: 'files' },
  { name: 'note', type: 'string' },
]
const takesFiles = document({
  name: 'Takes files',
  blocks: [
    block('start', 'api_trigger', { inputFormat }),
    block('end', 'response', { data: { files: '<api.docs>', name: '<api.docs[0].name>', input: '<api.input>' } }),
  ],
  edges: ['start > end'],
})

const dataUri = (content: string | Uint8Array, head = 'text/plain') =>
  `data:${head};base64,${Buffer.from(content).toString('base64')}`
const item = (more: Record<string, unknown> = {}) => ({ type: 'file', data: dataUri('hello'), name: 'a.txt', ...more })
const run = (body: unknown, workflowId = id) => world.call(`/api/workflows/${workflowId}/execute`, { body })

/** All files in the storage. */
function stored(): string[] {
  const root = join(world.folder, 'files')
  if (!existsSync(root)) return []
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

test('a file item becomes a file object whose URL returns the same bytes', async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(100_000))
  const { status, json } = await run({
    docs: [item({ data: dataUri(bytes, 'image/png'), name: 'Ä b/c.png' })],
    note: 'x',
  })
  expect(status).toBe(200)
  const [file] = json.files as [File]
  expect(file).toMatchObject({ name: 'Ä b/c.png', size: 100_000, type: 'image/png' })
  expect(Object.keys(file)).toEqual(['url', 'name', 'size', 'type', 'uploadedAt', 'expiresAt'])
  expect(Date.parse(file.expiresAt!) - Date.parse(file.uploadedAt!)).toBeLessThanOrEqual(3_600_000)
  expect(json.name).toBe('Ä b/c.png')
  expect(json.input).toEqual({ docs: [file], note: 'x' })
  const response = await fetch(file.url)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="c.png"')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(bytes))
})

test('a url item is passed through, without size and times', async () => {
  const { json } = await run({
    docs: { type: 'url', data: 'https://example.org/a.pdf?x=1', name: 'a.pdf', mime: 'application/pdf' },
  })
  expect(json.files).toEqual([
    { url: 'https://example.org/a.pdf?x=1', name: 'a.pdf', size: 0, type: 'application/pdf' },
  ])
})

test('one item counts as an array, also inside `input`; mime takes precedence over the data URI', async () => {
  const { json } = await run({ input: { docs: item({ mime: 'text/csv' }) } })
  expect(json.files).toMatchObject([{ name: 'a.txt', size: 5, type: 'text/csv' }])
  const odd = await run({
    docs: [item({ data: 'data:;base64,', name: '..' }), item({ data: 'data:text/plain;charset=utf-8;base64,QQ' })],
  })
  expect(odd.json.files).toMatchObject([
    { name: '..', size: 0, type: 'application/octet-stream' },
    { size: 1, type: 'text/plain' },
  ])
})

test('URLs that were changed in any part are refused, and so are expired ones', async () => {
  const { json } = await run({ docs: [item(), item({ name: 'b.txt' })] })
  const [one, other] = (json.files as File[]).map(({ url }) => new URL(url)) as [URL, URL]
  const variants = [
    one.href.replace(/expires=(\d+)/, (_, at) => `expires=${Number(at) + 1}`),
    one.href.replace(/signature=./, (each) => (each.endsWith('A') ? 'signature=B' : 'signature=A')),
    `${one.href}A`,
    `${one.href}&x=1`,
    `${one.href}&expires=9999999999`,
    one.origin + one.pathname,
    one.origin + other.pathname + one.search,
    // The same path in another workspace.
    one.href.replace(/files\/[^/]+/, `files/${crypto.randomUUID()}`),
    one.origin + one.pathname.replace('/files/', '/files//') + one.search,
    one.origin + one.pathname.replace('.txt', '%2Etxt') + one.search,
    // Other spellings of the same time and the same signature.
    ...['+$1', '0$1', '$1.0', '$1e0', '-$1', '$1%20', '', 'Infinity', 'NaN', '$10000000'].map((time) =>
      one.href.replace(/expires=(\d+)/, `expires=${time}`),
    ),
    `${one.href}=`,
    one.href.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) ^ 1)),
    one.href.replace(/signature=(.*)/, (_, text: string) => `signature=${text.toLowerCase()}${text.toUpperCase()}`),
    one.href.replace(/signature=(.*)/, 'signature=&signature=$1'),
    one.href.replace(/signature=/, 'Signature='),
    one.href.replace(/signature=.*/, 'signature='),
    one.href.replace(/expires=\d+/, (each) => `${each}&${each}`),
    one.href.replace(/files\/([^/]+)/, (_, id: string) => `files/${id.toUpperCase()}`),
    `${one.origin}/files/..%2f..%2fmillrace.key${one.search}`,
    `${one.origin}/files/%2e%2e/millrace.db${one.search}`,
  ]
  for (const url of variants) {
    const response = await fetch(url)
    expect([url, response.status]).toEqual([url, url.includes('%2e%2e/') ? 404 : 403])
  }
  const short = await ExecutionWorld.open({ 'body-bytes-max-files': '1 MB', 'file-url-ttl-s': '1' })
  try {
    const made = await short.deploy(takesFiles)
    const { json } = await short.call(`/api/workflows/${made}/execute`, { body: { docs: [item()] } })
    const [file] = json.files as [File]
    while (Date.now() < Date.parse(file.expiresAt!)) await Bun.sleep(20)
    const response = await fetch(file.url)
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('expired')
    // A URL signed by one installation opens nothing in another.
    expect((await fetch(short.url + one.pathname + one.search)).status).toBe(403)
  } finally {
    await short.close()
  }
})

test('a range of a file can be requested', async () => {
  const { json } = await run({ docs: [item({ data: dataUri('0123456789') })] })
  const [{ url }] = json.files as [File]
  const part = async (range: string, method = 'GET') => {
    const response = await fetch(url, { method, headers: { range } })
    return [response.status, response.headers.get('content-range'), await response.text()]
  }
  expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234'])
  expect(await part('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789'])
  expect(await part('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789'])
  expect(await part('bytes=5-500')).toEqual([206, 'bytes 5-9/10', '56789'])
  expect(await part('bytes=10-')).toEqual([416, 'bytes */10', ''])
  expect(await part('lines=1-2')).toEqual([200, null, '0123456789'])
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', ''])
})

test('an error names the position of the invalid item, and nothing is stored', async () => {
  const before = stored()
  const wrong: [unknown, string][] = [
    ['text', 'docs'],
    [7, 'docs'],
    [['text'], 'docs[0]'],
    [item({ type: 'x' }), 'docs[0].type'],
    [item({ type: undefined }), 'docs[0].type'],
    [item({ name: undefined }), 'docs[0].name'],
    [item({ name: '\u0000\u001f' }), 'docs[0].name'],
    [item({ name: 7 }), 'docs[0].name'],
    [item({ data: 7 }), 'docs[0].data'],
    [item({ data: undefined }), 'docs[0].data'],
    [item({ data: 'aGVsbG8=' }), 'docs[0].data'],
    [item({ data: 'data:text/plain,hello' }), 'docs[0].data'],
    [item({ data: 'data:text/plain;base64,not base64!' }), 'docs[0].data'],
    [[item(), item({ data: 'data:text/plain;base64,QQ=' })], 'docs[1].data'],
    [item({ data: 'https://example.org/' }), 'docs[0].data'],
    [item({ type: 'url' }), 'docs[0].data'],
    [item({ type: 'url', data: 'ftp://example.org/x' }), 'docs[0].data'],
    [item({ mime: 'text/html\r\nx: y' }), 'docs[0].mime'],
    [item({ mime: 7 }), 'docs[0].mime'],
  ]
  for (const [docs, path] of wrong) {
    const { status, json } = await run({ docs })
    expect([docs, status, json.code, json.details?.[0]?.path]).toEqual([docs, 400, 'INVALID_INPUT', path])
  }
  const large = await run({
    docs: [item(), item({ name: 'big.bin', data: dataUri(new Uint8Array(20 * 1_048_576 + 1)) })],
  })
  expect([large.status, large.json.code, large.json.details[0].path]).toEqual([413, 'PAYLOAD_TOO_LARGE', 'docs[1]'])
  expect(large.json.error).toContain('big.bin')
  for (const text of [
    '{"docs":[{"type":"file","name":"a","data":"data:;base64,QQ',
    '{"docs":{"data":"\\x"}}',
    '{"docs":[}',
  ]) {
    const { status, json } = await world.call(`/api/workflows/${id}/execute`, { text })
    expect([text, status, json.code]).toEqual([text, 400, 'INVALID_JSON'])
  }
  expect(stored()).toEqual(before)
})

test('a body that may contain files may contain as much text instead', async () => {
  // The service accepts 2,000 bytes where no files are declared.
  const { status, json } = await run({ note: 'x'.repeat(50_000) })
  expect([status, json.input.note.length]).toEqual([200, 50_000])
})

test('a file of the maximum size is accepted', async () => {
  const { status, json } = await run({ docs: [item({ data: dataUri(new Uint8Array(20 * 1_048_576)) })] })
  expect([status, json.files[0].size]).toEqual([200, 20 * 1_048_576])
})

test('log entries show the files of a run, with currently valid URLs', async () => {
  const { json, headers } = await run({ docs: [item(), { type: 'url', data: 'https://example.org/', name: 'x' }] })
  const executionId = headers.get('x-execution-id')
  const [file] = json.files as [File, File]
  const query = `/api/v1/logs?workspaceId=${world.workspaceId}&executionId=${executionId}`
  const list = await world.call(`${query}&includeFinalOutput=true&includeTraceSpans=true`)
  const [entry] = list.json.data
  expect(entry.files).toHaveLength(2)
  expect(entry.files[0]).toMatchObject({ name: 'a.txt', size: 5, uploadedAt: file.uploadedAt })
  expect(entry.files[1]).toEqual({ url: 'https://example.org/', name: 'x', size: 0, type: 'application/octet-stream' })
  expect(entry.finalOutput.data.files).toEqual(entry.files)
  expect(entry.traceSpans[0].input.docs).toEqual(entry.files)
  const detail = await world.call(`/api/v1/logs/${entry.id}`)
  expect(await (await fetch(detail.json.data.files[0].url)).text()).toBe('hello')
  const none = await run({ note: 'nothing' })
  const { json: bare } = await world.call(
    `/api/v1/logs?workspaceId=${world.workspaceId}&executionId=${none.headers.get('x-execution-id')}`,
  )
  expect(bare.data[0].files).toBeNull()
})

test('an asynchronous run has its files', async () => {
  const accepted = await world.call(`/api/workflows/${id}/execute`, {
    body: { docs: [item()] },
    headers: { 'x-execution-mode': 'async' },
  })
  expect(accepted.status).toBe(202)
  let job = await world.call(accepted.json.statusUrl)
  while (!job.json.metadata.completedAt) job = await world.call(accepted.json.statusUrl)
  expect(await (await fetch(job.json.output.data.files[0].url)).text()).toBe('hello')
})

test('a file that an API block receives is stored with the run and can be sent on', async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(300_000))
  const received: Uint8Array[] = []
  using peer = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'GET') return new Response(bytes, { headers: { 'content-type': 'image/png' } })
      received.push(new Uint8Array(await request.arrayBuffer()))
      return new Response(null, { status: 204 })
    },
  })
  const url = `http://127.0.0.1:${peer.port}/logo.png`
  const made = await world.deploy(
    document({
      name: 'Fetches and sends',
      blocks: [
        block('start', 'api_trigger', { inputFormat }),
        block('load', 'api', { url }),
        block('send', 'api', { url, method: 'POST', bodyType: 'file', file: '<load.data>' }),
        block('given', 'api', { url, method: 'POST', bodyType: 'file', file: '<start.docs>' }),
        block('end', 'response', { data: '<load.data>' }),
      ],
      edges: ['start > load', 'load > send', 'send > given', 'given > end'],
    }),
  )
  const { json, headers } = await run({ docs: [item()] }, made)
  expect(json).toMatchObject({ name: 'logo.png', size: 300_000, type: 'image/png' })
  expect(received).toEqual([bytes, new Uint8Array(Buffer.from('hello'))])
  expect(new Uint8Array(await (await fetch(json.url)).arrayBuffer())).toEqual(bytes)
  const query = `/api/v1/logs?workspaceId=${world.workspaceId}&executionId=${headers.get('x-execution-id')}`
  const list = await world.call(query)
  expect(list.json.data[0].files.map(({ name }: File) => name)).toEqual(['a.txt', 'logo.png'])
})

test('the sample that receives files works as described', async () => {
  const sample = await Bun.file(join(import.meta.dir, '../../../../samples/receive-files.json')).json()
  const { status, json } = await run(
    { documents: [item(), item({ name: 'b.txt' })], note: 'n' },
    await world.deploy(sample),
  )
  expect([status, json.summary, json.note]).toEqual([200, { count: 2, bytes: 10 }, 'n'])
  expect(await (await fetch(json.files[1].url)).text()).toBe('hello')
  expect((await run({}, await world.deploy(sample))).status).toBe(400)
})
