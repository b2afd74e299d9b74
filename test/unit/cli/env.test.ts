import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { Environments } from '../../../src/accounts/environment.ts'
import { openSecretBox, sealHeadBytes } from '../../../src/accounts/secret-box.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { call, json, type Made, withStore } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { storedBytes } from '../../support/store/stored-bytes.ts'
import { secretKey } from '../../support/store/test-store.ts'

type Listed = { name: string; plain: boolean; updatedAt: string }

let folder: ReturnType<typeof temporaryFolder>
let path: string
let owner: Made
beforeEach(async () => {
  folder = temporaryFolder()
  path = folder.path
  owner = await json<Made>(path, 'init')
})
afterEach(() => folder[Symbol.dispose]())

/** The values as the service reads them. */
async function valuesOf(workspaceId = owner.workspaceId): Promise<Record<string, string>> {
  return await withStore(path, async (store) => {
    const sealHeads = () => store.sealHeads(sealHeadBytes)
    const box = await openSecretBox({ directory: path, secretKey, sealHeads })
    const { values } = await new Environments({ store, box, clock: systemClock }).of(workspaceId)
    return Object.fromEntries(values)
  })
}

const list = (...more: string[]) => json<Listed[]>(path, 'env', 'list', ...more)

describe('env', () => {
  test('sets a value from the command line or from standard input, and never prints it', async () => {
    expect(await call(path, 'env', 'set', 'A', 'value-one')).toEqual({ code: 0, out: '', words: 'A is set.\n' })
    const piped = await call(path, 'env', 'set', 'B', { input: ' value "two"\nin two lines \r\n' })
    expect(piped).toEqual({ code: 0, out: '', words: 'B is set.\n' })
    expect((await call(path, 'env', 'set', 'A', 'value-three', '--plain')).words).toBe('A is changed.\n')
    expect((await call(path, 'env', 'set', 'C', '')).code).toBe(0)
    expect(await valuesOf()).toEqual({ A: 'value-three', B: ' value "two"\nin two lines ', C: '' })
  })

  test('lists the current state of each variable, as text and as JSON', async () => {
    expect(await call(path, 'env', 'list')).toMatchObject({ out: '', words: 'No variable is set.\n' })
    await call(path, 'env', 'set', 'TOKEN', 'value-one')
    await call(path, 'env', 'set', 'REGION', 'eu-west-1', '--plain')
    const updatedAt = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(await list()).toEqual([
      { name: 'REGION', plain: true, updatedAt },
      { name: 'TOKEN', plain: false, updatedAt },
    ])
    const { out } = await call(path, 'env', 'list')
    expect(out).toMatch(/^ *REGION +plain {3}.*Z\n *TOKEN +secret {2}.*Z\n$/)
    expect(out).not.toMatch(/value-one|eu-west-1/)
  })

  test('warns that a value is too short for redaction', async () => {
    expect((await call(path, 'env', 'set', 'A', '12345')).words).toContain('fewer than 6 characters')
    expect((await call(path, 'env', 'set', 'A', '12345', '--plain')).words).not.toContain('fewer')
    expect((await call(path, 'env', 'set', 'A', '123456')).words).not.toContain('fewer')
  })

  test('removes a variable once', async () => {
    await call(path, 'env', 'set', 'A', 'value-one')
    expect(await call(path, 'env', 'unset', 'A')).toEqual({ code: 0, out: '', words: 'A is gone.\n' })
    expect(await call(path, 'env', 'unset', 'A')).toMatchObject({ code: 1, words: expect.stringContaining('env list') })
    expect(await list()).toEqual([])
  })

  test('requires --workspace if there are several', async () => {
    const other = await json<{ id: string }>(path, 'workspaces', 'create', '--name', 'Other')
    for (const words of [['set', 'A', 'value-one'], ['list'], ['unset', 'A']]) {
      const refused = await call(path, 'env', ...words)
      expect(refused).toMatchObject({ code: 2, out: '' })
      expect(refused.words).toContain('--workspace ID')
    }
    await call(path, 'env', 'set', 'A', 'value-one', '--workspace', other.id)
    expect(await list('--workspace', other.id)).toHaveLength(1)
    expect(await list('--workspace', owner.workspaceId)).toEqual([])
    expect(await valuesOf(other.id)).toEqual({ A: 'value-one' })
    expect(await call(path, 'env', 'list', '--workspace', 'nowhere')).toMatchObject({
      code: 1,
      words: expect.stringContaining('Unknown workspace nowhere'),
    })
  })

  test.each([
    [['set'], 2, 'NAME is missing'],
    [['set', '1A', 'value-one'], 2, 'is not a valid variable name'],
    [['set', 'A-B', 'value-one'], 2, 'is not a valid variable name'],
    [['set', 'A', 'x'.repeat(65_537)], 1, 'The limit is 65536 bytes'],
    [['set', 'A', 'value-one', 'value-two'], 2, 'Too many arguments'],
  ])('%j is rejected, and changes nothing', async (words, code, message) => {
    const refused = await call(path, 'env', ...words)
    expect(refused).toMatchObject({ code, out: '' })
    expect(refused.words).toContain(message)
    expect(await list()).toEqual([])
  })

  test('requires an installation', async () => {
    using empty = temporaryFolder()
    expect(await call(empty.path, 'env', 'set', 'A', 'x')).toMatchObject({
      code: 1,
      words: expect.stringMatching(/There is no installation|is empty/),
    })
    expect(readdirSync(empty.path)).toEqual([])
  })

  test('never stores a value in plain text', async () => {
    await call(path, 'env', 'set', 'A', 'a-value-nobody-may-read')
    for (const { name, bytes } of await storedBytes(path)) {
      expect([name, Buffer.from(bytes).includes('a-value-nobody')]).toEqual([name, false])
    }
  })
})
