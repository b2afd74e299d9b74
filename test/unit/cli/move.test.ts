import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { planFiles } from '../../../src/cli/move/files.ts'
import { progressLines } from '../../../src/cli/move/progress.ts'
import { sideOf } from '../../../src/cli/move/sides.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { fillInstallation } from '../../support/store/full-installation.ts'
import { withStore } from '../../support/store/moving.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder[Symbol.dispose]())

const place = (name: string) => join(folder.path, name)
const secretKey = 'a secret key with more than 32 characters'
/** Nothing listens there. */
const nowhere = 'postgres://me:password@127.0.0.1:1/there'

async function move(words: readonly string[], environment: Record<string, string> = {}) {
  const terminal = new MemoryTerminal()
  const code = await runCommandLine(['move', ...words], { terminal, environment })
  return { code, out: terminal.out, words: terminal.words }
}

describe('millrace move', () => {
  test('exits with 2 when a side is missing, is not an address, or is the other one', async () => {
    const from = ['--from', place('a')]
    expect(await move(from)).toMatchObject({ code: 2, words: expect.stringContaining('--to is missing') })
    expect(await move([...from, '--to', 'postgres://h/d?x=1'])).toMatchObject({
      code: 2,
      words: expect.stringContaining('--to is not a valid PostgreSQL address. The parameter "x"'),
    })
    expect(await move([...from, '--to', `${place('b')}/../a/`])).toMatchObject({
      code: 2,
      words: expect.stringContaining('name the same place'),
    })
  })

  test('refuses before it writes when the target could not decrypt, and says how to set the key', async () => {
    await withStore(place('a'), (store) => fillInstallation(store))
    writeFileSync(join(place('a'), 'millrace.key'), `${Buffer.alloc(32, 1).toString('base64')}\n`, { mode: 0o600 })
    const there = ['--from', place('a'), '--to', nowhere]
    const advice = `MILLRACE_SECRET_KEY="$(paste -sd, '${join(place('a'), 'millrace.key')}')"`
    for (const environment of [{}, { MILLRACE_SECRET_KEY: secretKey }]) {
      expect(await move(there, environment)).toMatchObject({ code: 1, words: expect.stringContaining(advice) })
    }
    expect(await move(['--from', place('a'), '--to', place('b')])).toMatchObject({
      code: 1,
      words: expect.stringContaining('do not decrypt'),
    })
    expect(existsSync(place('b'))).toBe(false)
  })

  test('exits with 1 and names the side whose server cannot be reached, without its password', async () => {
    const from = await move(['--from', nowhere, '--to', place('b')])
    expect(from.code).toBe(1)
    expect(from.words).toContain('127.0.0.1:1 (--from) cannot be used')
    expect(from.words).not.toContain('password')
    expect(from.words).not.toContain('MILLRACE_STORE')
    expect(existsSync(place('b'))).toBe(false)
  })

  test('prints the rows of each table, and tells people how to continue', async () => {
    await withStore(place('a'), async (store) => {
      await fillInstallation(store)
      // Its sealed values are not those of a key.
      let heads = await store.sealHeads(5)
      while (heads.length > 0) {
        await store.discardSealed(heads)
        heads = await store.sealHeads(5)
      }
    })
    const { code, out, words } = await move(['--from', place('a'), '--to', place('b'), '--json'])
    expect({ code, words }).toMatchObject({ code: 0, words: expect.stringContaining(`--data ${place('b')}`) })
    expect(JSON.parse(out)).toMatchObject({ tables: { logs: 41, users: 2, environment: 0 }, ok: true })
    expect(await move(['--from', place('a'), '--to', place('b')])).toMatchObject({
      code: 1,
      words: expect.stringContaining('already holds an installation. Nothing was changed.'),
    })
  })
})

describe('the files of runs', () => {
  const plan = (from: string, to: string, more: { data?: string; s3Bucket?: string; hasChosenData?: boolean } = {}) =>
    planFiles({
      ...{ from: sideOf('--from', from), to: sideOf('--to', to) },
      config: { data: more.data ?? place('default'), ...(more.s3Bucket !== undefined && { s3Bucket: more.s3Bucket }) },
      hasChosenData: more.hasChosenData ?? false,
    })

  test('are copied when the sides use different data folders, and stay where both use the same or a bucket', async () => {
    await Bun.write(join(place('a'), 'files', 'w', 'f', 'r', 'x.txt'), 'x')
    const [here, there] = [place('a'), place('b')]
    expect(await plan(here, there)).toEqual({ from: here, to: there })
    expect(await plan(here, nowhere)).toEqual({ from: here, to: undefined })
    expect(await plan(here, nowhere, { data: there, hasChosenData: true })).toEqual({ from: here, to: there })
    expect(await plan(nowhere, there, { data: here })).toEqual({ from: here, to: there })
    expect(await plan(nowhere, here, { data: here })).toEqual({ from: here, to: undefined })
    expect(await plan(here, there, { s3Bucket: 'bucket' })).toEqual({ from: here, to: undefined })
    expect(await plan(there, here)).toBeUndefined()
  })
})

test('progress is shown every few seconds, with the time that is left', () => {
  let now = 0
  const lines: string[] = []
  const report = progressLines(
    (line) => lines.push(line),
    () => now,
  )
  for (; now <= 12_000; now += 1_000) {
    report({ kind: 'copy', table: 'logs', rows: now, count: 1_200_000 })
  }
  expect(lines).toEqual([
    'logs: 5,000 of 1,200,000 rows copied, 20 min left',
    'logs: 10,000 of 1,200,000 rows copied, 20 min left',
  ])
})
