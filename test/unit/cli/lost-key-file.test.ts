import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { keyPath, makeKeyFile } from '../../../src/accounts/key-file.ts'
import { call, json } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(async () => {
  folder = temporaryFolder()
  path = folder.path
  await json(path, 'init')
})
afterEach(() => folder[Symbol.dispose]())

describe('a lost key file', () => {
  test('is reported with the possible remedies, and not replaced automatically', async () => {
    await call(path, 'env', 'set', 'A', 'value-one')
    const key = readFileSync(keyPath(path))
    rmSync(keyPath(path))
    const refused = await call(path, 'env', 'set', 'B', 'value-two')
    expect(refused).toMatchObject({ code: 1, out: '' })
    for (const word of ['MILLRACE_SECRET_KEY', keyPath(path), 'millrace env discard']) {
      expect(refused.words).toContain(word)
    }
    expect(existsSync(keyPath(path))).toBe(false)
    // Listing names and removing variables need no key.
    expect(await json<unknown[]>(path, 'env', 'list')).toHaveLength(1)
    writeFileSync(keyPath(path), key)
    expect((await call(path, 'env', 'set', 'B', 'value-two')).code).toBe(0)
  })

  test('costs only the data that it encrypted, and only when the operator discards that data', async () => {
    await call(path, 'env', 'set', 'A', 'value-one')
    rmSync(keyPath(path))
    makeKeyFile(path)
    expect((await call(path, 'env', 'set', 'B', 'value-two')).code).toBe(1)
    const none = { jobs: 0, outputs: 0, webhookSecrets: 0, credentials: 0, documentSecrets: 0 }
    expect(await json<object>(path, 'env', 'discard')).toEqual({ variables: 1, ...none })
    expect((await call(path, 'env', 'set', 'B', 'value-two')).code).toBe(0)
    expect((await call(path, 'env', 'discard')).out).toBe(
      '0 variables, 0 webhook secrets, the secrets of 0 credentials, 0 secrets in workflows, 0 asynchronous runs and ' +
        '0 outputs were removed.\n',
    )
    expect(await json<object[]>(path, 'env', 'list')).toMatchObject([{ name: 'B' }])
  })
})
