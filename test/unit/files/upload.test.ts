import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { AppError } from '../../../src/domain/errors.ts'
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
  const upload = Upload.receive({
    chunks: chunksOf(portions, () => {
      read += 1
    }),
    ...options(),
    store: () => Promise.reject(new Error('Nothing is stored here')),
    remove: () => Promise.resolve(),
    removeEach: () => Promise.resolve(),
  })
  return { upload, read: () => read }
}

async function* chunksOf(portions: readonly string[], onRead = () => {}) {
  for (const portion of portions) {
    onRead()
    yield new TextEncoder().encode(portion)
  }
}

const disposition = (name: string) => `Content-Disposition: form-data; name="files"; filename="${name}"`

const options = () => ({
  fields: ['files'],
  limits: {
    text: { max: textBytesMax, setting: 'TEXT_MAX' },
    files: { max: 1_000, setting: 'FILES_MAX' },
    fields: { max: 1_000, setting: 'FIELDS_MAX' },
  },
  spool: new Spool(folder.path, { isDurable: false }),
})

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

describe('files that were added to a run', () => {
  const owner = { workspaceId: 'w', workflowId: 'f', executionId: 'e' }
  /** An upload of two files. Storing the file named `bad` fails. `log`: what was stored and removed. */
  async function uploadOf(names: readonly string[]) {
    const log: string[] = []
    const parts = names.map((name) => `--b\r\n${disposition(name)}\r\n\r\nx\r\n`)
    const { upload, entries } = await Upload.ofForm({
      ...options(),
      boundary: 'b',
      chunks: chunksOf([...parts, '--b--']),
      store: (_, { name, type }) => {
        if (name === 'bad') return Promise.reject(new AppError('PAYLOAD_TOO_LARGE', 'The workspace is full.'))
        log.push(`store ${name}`)
        return Promise.resolve({ key: `w/f/e/${name}`, file: { url: '', name, size: 1, type } })
      },
      remove: () => {
        log.push('remove all')
        return Promise.resolve()
      },
      removeEach: (_, files) => {
        log.push(`remove ${files.map(({ file }) => file.name).join(' ')}`)
        return Promise.resolve()
      },
    })
    const files = entries.map(([, item]) => item)
    const input = { input: { files }, fields: { files } }
    upload.check(input)
    return { upload, input, log }
  }

  test('are deleted without the other files of the run', async () => {
    const { upload, input, log } = await uploadOf(['a', 'b'])
    await upload.addTo(input, owner)
    // After a failure of the store, the answer may be on disk.
    await upload.takeBack(new AppError('STORAGE_UNAVAILABLE', 'The disk is full.'))
    expect(log).toEqual(['store a', 'store b'])
    await upload.withdraw(owner)
    await upload.withdraw(owner)
    expect(log).toEqual(['store a', 'store b', 'remove a b', 'remove '])
  })

  test('are deleted when one of them cannot be stored', async () => {
    const { upload, input, log } = await uploadOf(['a', 'bad', 'c'])
    expect(await rejectionOf(upload.addTo(input, owner))).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    expect(log).toEqual(['store a', 'remove a'])
  })

  test('are all deleted when the run that they would start is refused', async () => {
    const { upload, input, log } = await uploadOf(['a'])
    await upload.store(input, owner)
    await upload.takeBack(new AppError('INVALID_INPUT', 'The run has failed.'))
    expect(log).toEqual(['store a'])
    await upload.takeBack(new AppError('OVERLOADED', 'Too many runs.'))
    expect(log).toEqual(['store a', 'remove all'])
  })
})

test('URLs and media types of file items count as text', async () => {
  const long = 'x'.repeat(200)
  for (const data of [`https://a.example/${long}`, `data:text/${long};base64,`]) {
    const { upload } = receive(['{"files":[', ...Array.from({ length: 6 }, () => `${item(data)},`)])
    expect(await rejectionOf(upload)).toMatchObject(tooLarge)
  }
})
