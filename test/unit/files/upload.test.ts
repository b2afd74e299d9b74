import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { Spool } from '../../../src/files/spool.ts'
import { Upload } from '../../../src/files/upload.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

let folder: Disposable & { path: string }
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder[Symbol.dispose]())

const textBytesMax = 1_000

/** Receives a body in these portions; `read` says how many of them were requested. */
function receive(portions: readonly string[]): { upload: Promise<Upload>; read: () => number } {
  let read = 0
  async function* chunks() {
    for (const portion of portions) {
      read += 1
      yield new TextEncoder().encode(portion)
    }
  }
  const upload = Upload.receive({
    chunks: chunks(),
    fields: ['files'],
    limits: { text: { max: textBytesMax, setting: 'TEXT_MAX' }, files: { max: 1_000, setting: 'FILES_MAX' } },
    spool: new Spool(folder.path, { isDurable: false }),
    store: () => Promise.reject(new Error('Nothing is stored here')),
    remove: () => Promise.resolve(),
    removeEach: () => Promise.resolve(),
  })
  return { upload, read: () => read }
}

const item = (data: string) => JSON.stringify({ type: 'file', name: 'a', data })
const content = `data:text/plain;base64,${btoa('x'.repeat(30_000))}`
const tooLarge = { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining(`${textBytesMax} bytes`) }

test('a body is rejected as soon as its text is too long, and is read no further', async () => {
  // Two bytes each.
  const portions = ['{"input":"', ...Array.from({ length: 100 }, () => 'é'.repeat(50))]
  const { upload, read } = receive([`{"files":[${item(content)}],`, ...portions])
  expect(await rejectionOf(upload)).toMatchObject(tooLarge)
  expect(read()).toBeLessThanOrEqual(12)
  expect(readdirSync(folder.path)).toEqual([])
})

test('a body may contain text up to the maximum, and files in addition', async () => {
  // The closing quote of a cut string no longer counts as body text.
  const around = `{"files":[${item('')}],"input":""}`.slice(1)
  const text = 'x'.repeat(textBytesMax - around.length - 'text/plain'.length)
  for (const [more, response] of [
    ['', { text: expect.stringContaining(text) }],
    ['x', tooLarge],
  ] as const) {
    const { upload } = receive([`{"files":[${item(content)}],"input":"${text}${more}"}`])
    const received = await upload.catch((error: unknown) => error)
    expect(received).toMatchObject(response)
    if (received instanceof Upload) await received.discard()
  }
})

test('URLs and media types of file items count as text', async () => {
  const long = 'x'.repeat(200)
  for (const data of [`https://a.example/${long}`, `data:text/${long};base64,`]) {
    const { upload } = receive(['{"files":[', ...Array.from({ length: 6 }, () => `${item(data)},`)])
    expect(await rejectionOf(upload)).toMatchObject(tooLarge)
  }
})
