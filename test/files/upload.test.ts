import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { Spool } from '../../src/files/spool.ts'
import { Upload } from '../../src/files/upload.ts'
import { temporaryFolder } from '../executable.ts'
import { rejectionOf } from '../store/rejection.ts'

let folder: Disposable & { path: string }
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder[Symbol.dispose]())

const textBytesMax = 1_000

/** Receives a body of these portions; `read` says how many of them were asked for. */
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
    textBytesMax,
    spool: new Spool(folder.path, { isDurable: false }),
    store: () => Promise.reject(new Error('Nothing is stored here')),
    remove: () => Promise.resolve(),
  })
  return { upload, read: () => read }
}

const item = (data: string) => JSON.stringify({ type: 'file', name: 'a', data })
const content = `data:text/plain;base64,${btoa('x'.repeat(30_000))}`
const tooLarge = { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining(`${textBytesMax} bytes`) }

test('a body is refused as soon as its text has more bytes than it may, and no more of it is read', async () => {
  // Two bytes each.
  const portions = ['{"input":"', ...Array.from({ length: 100 }, () => 'é'.repeat(50))]
  const { upload, read } = receive([`{"files":[${item(content)}],`, ...portions])
  expect(await rejectionOf(upload)).toMatchObject(tooLarge)
  expect(read()).toBeLessThanOrEqual(12)
  expect(readdirSync(folder.path)).toEqual([])
})

test('a body may have as much text as is taken, and files beside it', async () => {
  // The quote at the end of what is cut out is not the body's any more.
  const around = `{"files":[${item('')}],"input":""}`.slice(1)
  const text = 'x'.repeat(textBytesMax - around.length - 'text/plain'.length)
  for (const [more, answer] of [
    ['', { text: expect.stringContaining(text) }],
    ['x', tooLarge],
  ] as const) {
    const { upload } = receive([`{"files":[${item(content)}],"input":"${text}${more}"}`])
    const received = await upload.catch((error: unknown) => error)
    expect(received).toMatchObject(answer)
    if (received instanceof Upload) await received.discard()
  }
})

test('addresses and media types of file items are text, too', async () => {
  const long = 'x'.repeat(200)
  for (const data of [`https://a.example/${long}`, `data:text/${long};base64,`]) {
    const { upload } = receive(['{"files":[', ...Array.from({ length: 6 }, () => `${item(data)},`)])
    expect(await rejectionOf(upload)).toMatchObject(tooLarge)
  }
})
