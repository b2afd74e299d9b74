import { expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deriveKey } from '../../../src/accounts/key-file.ts'
import { call, diagnose, json } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'

const key = 'new-'.repeat(8)

test('env rotate moves from the key file to the setting, and to a new line of the key file', async () => {
  using folder = temporaryFolder()
  const { path } = folder
  await json(path, 'init')
  const variables = { variables: 1 }
  const rotated = (...words: string[]) => json(path, 'env', 'rotate', ...words)
  await call(path, 'env', 'set', 'A', 'value-one')
  const file = join(path, 'millrace.key')
  expect(await rotated('--secret-key', key)).toMatchObject(variables)
  rmSync(file)
  expect((await diagnose(path, '--secret-key', key)).of('key')).toMatchObject({ state: 'ok' })
  const inFile = Buffer.alloc(32, 7).toString('base64')
  writeFileSync(file, `${inFile}\n${Buffer.from(deriveKey(key)).toString('base64')}\n`, { mode: 0o600 })
  expect(await rotated()).toMatchObject(variables)
  writeFileSync(file, `${inFile}\n`)
  expect((await diagnose(path)).of('key')).toMatchObject({ state: 'ok' })
})
