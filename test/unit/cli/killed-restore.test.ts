import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeKeyFile } from '../../../src/accounts/key-file.ts'
import { putInPlace } from '../../../src/cli/backups/placing.ts'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../support/executable.ts'

async function call(...words: string[]) {
  const terminal = new MemoryTerminal()
  const code = await runCommandLine(words, { terminal, environment: {} })
  return { code, words: terminal.words }
}

/** An installation in the subfolder `data`, with its backup in `backup.tar`. */
async function backedUp() {
  const folder = temporaryFolder()
  const at = (...names: string[]) => join(folder.path, ...names)
  expect((await call('init', '--data', at('data'))).code).toBe(0)
  makeKeyFile(at('data'))
  mkdirSync(at('data', 'files'))
  writeFileSync(at('data', 'files', 'a'), 'now')
  expect((await call('backup', at('backup.tar'), '--data', at('data'))).code).toBe(0)
  return { at, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^millrace\.(lock|db-wal|db-shm)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()

/** What `putInPlace` leaves when the process is killed after it moved these parts. */
async function killedRestore(data: string, placed: readonly string[]): Promise<void> {
  const draft = join(data, '.restore-abc')
  mkdirSync(join(draft, 'files'), { recursive: true })
  writeFileSync(join(draft, 'files', 'old'), 'x')
  for (const name of ['millrace.key', 'millrace.db']) writeFileSync(join(draft, name), name)
  // The database cannot replace a folder, so this stops just before the database.
  mkdirSync(join(data, 'millrace.db'))
  await expect(putInPlace(draft, data)).rejects.toThrow()
  rmdirSync(join(data, 'millrace.db'))
  if (!placed.includes('millrace.key')) renameSync(join(data, 'millrace.key'), join(draft, 'millrace.key'))
}

test.each([
  ['the files', ['files']],
  ['the files and the key', ['files', 'millrace.key']],
])('restoring starts again after a restore that was killed when only %s were in place', async (_, placed) => {
  using here = await backedUp()
  const { at } = here
  await killedRestore(at('new'), placed)
  expect(existsSync(at('new', 'files', 'old'))).toBe(true)
  const again = await call('restore', at('backup.tar'), '--data', at('new'))
  expect(again).toMatchObject({ code: 0 })
  expect(filesIn(at('new'))).toEqual(['files/a', 'millrace.db', 'millrace.key'])
  expect(readFileSync(at('new', 'millrace.key'))).toEqual(readFileSync(at('data', 'millrace.key')))
})

test('restoring after a killed restore keeps what the restore did not put there', async () => {
  using here = await backedUp()
  const { at } = here
  await killedRestore(at('new'), ['files'])
  makeKeyFile(at('new'))
  const key = readFileSync(at('new', 'millrace.key'))
  const refused = await call('restore', at('backup.tar'), '--data', at('new'))
  expect(refused).toMatchObject({ code: 1, words: expect.stringContaining('(millrace.key)') })
  expect(readFileSync(at('new', 'millrace.key'))).toEqual(key)
})

test('restoring after a killed restore changes nothing when a service created an installation there', async () => {
  using here = await backedUp()
  const { at } = here
  await killedRestore(at('new'), ['files', 'millrace.key'])
  writeFileSync(at('new', 'millrace.db'), readFileSync(at('data', 'millrace.db')))
  const before = filesIn(at('new'))
  const refused = await call('restore', at('backup.tar'), '--data', at('new'))
  expect(refused).toMatchObject({ code: 1, words: expect.stringContaining('already contains an installation') })
  expect(filesIn(at('new'))).toEqual(before)
})
