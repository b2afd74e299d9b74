import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FormatOutcome, FormatRequest } from '../../../src/domain/format/format-work.ts'
import { Formats, type FormatsOptions } from '../../../src/formats/formats.ts'

/** Workers that take as many milliseconds as their input says, and then answer with it. */
const folder = mkdtempSync(join(tmpdir(), 'millrace-workers-'))
const workerUrl = new URL(`file://${folder}/slow.ts`)
writeFileSync(
  workerUrl,
  `self.onmessage = ({ data: { input: { text } } }) => {
    if (text === 'broken') throw new Error('It broke')
    if (text === 'forever') for (;;);
    const until = performance.now() + Number(text)
    while (performance.now() < until);
    self.postMessage({ ok: true, json: text })
  }`,
)
afterAll(() => rmSync(folder, { recursive: true }))

class Shop implements AsyncDisposable {
  readonly formats: Formats
  readonly ended: string[] = []

  constructor(options: FormatsOptions = {}) {
    this.formats = new Formats({ workerUrl, ...options })
  }

  async do(text: string, workspaceId = 'a', more: Partial<FormatRequest> = {}): Promise<FormatOutcome> {
    const outcome = await this.formats.run({
      ...{ operation: 'hash', input: { kind: 'text', text }, options: {}, timeoutMs: 10_000, workspaceId },
      signal: new AbortController().signal,
      ...more,
    })
    this.ended.push(workspaceId)
    return outcome
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.formats.stop()
  }
}

describe('the workers for documents', () => {
  test('end a job that exceeds its time, and take the next one', async () => {
    await using shop = new Shop({ workersMax: 1 })
    const [late, next] = await Promise.all([shop.do('forever', 'a', { timeoutMs: 50 }), shop.do('1')])
    expect(late).toEqual({
      ok: false,
      code: 'TIMEOUT',
      message: 'The operation took longer than 50 ms, its time limit.',
    })
    expect(next).toMatchObject({ ok: true, data: 1 })
  })

  test('end a job whose run is cancelled, in a worker and in the queue', async () => {
    await using shop = new Shop({ workersMax: 1 })
    const working = new AbortController()
    const waiting = new AbortController()
    const first = shop.do('forever', 'a', { signal: working.signal })
    const second = shop.do('forever', 'a', { signal: waiting.signal })
    const third = shop.do('1')
    waiting.abort()
    expect(await second).toMatchObject({ ok: false, code: 'CANCELLED' })
    working.abort()
    expect(await first).toMatchObject({ ok: false, code: 'CANCELLED' })
    expect(await third).toMatchObject({ ok: true })
    const before = new AbortController()
    before.abort()
    expect(await shop.do('1', 'a', { signal: before.signal })).toMatchObject({ ok: false, code: 'CANCELLED' })
  })

  test('replace a worker that breaks', async () => {
    await using shop = new Shop({ workersMax: 1 })
    expect(await shop.do('broken')).toMatchObject({ ok: false, code: 'FORMAT_FAILED' })
    expect(await shop.do('1')).toMatchObject({ ok: true })
  })

  test('leave a worker for another workspace while one has long jobs', async () => {
    await using shop = new Shop()
    const long = Array.from({ length: 5 }, () => shop.do('300', 'busy'))
    await shop.do('1', 'other')
    expect(shop.ended).toEqual(['other'])
    await Promise.all(long)
  })

  test('take workspaces in turns', async () => {
    await using shop = new Shop({ workersMax: 1 })
    const jobs = ['a', 'a', 'a', 'b', 'c'].map((workspace) => shop.do('5', workspace))
    await Promise.all(jobs)
    expect(shop.ended.slice(0, 4).toSorted()).toEqual(['a', 'a', 'b', 'c'])
  })

  test('wait until there is memory for a result', async () => {
    await using shop = new Shop()
    let hasRoom = false
    const held = shop.do('1', 'a', { mayStart: () => hasRoom })
    await shop.do('1', 'b')
    expect(shop.ended).toEqual(['b'])
    hasRoom = true
    expect(await held).toMatchObject({ ok: true })
  })

  test('cancel everything when they stop', async () => {
    const shop = new Shop({ workersMax: 1 })
    const jobs = [shop.do('forever'), shop.do('1')]
    await shop[Symbol.asyncDispose]()
    for (const outcome of await Promise.all(jobs)) expect(outcome).toMatchObject({ ok: false, code: 'CANCELLED' })
    expect(await shop.do('1')).toMatchObject({ ok: false, code: 'CANCELLED' })
  })
})
