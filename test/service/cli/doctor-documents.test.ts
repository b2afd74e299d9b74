import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSecretBox, sealHeadBytes } from '../../../src/accounts/secret-box.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import '../../support/built.ts'
import { diagnose, json, type Made } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'

test('doctor reports a key that cannot decrypt the secrets in a workflow', async () => {
  using folder = temporaryFolder()
  const { workspaceId } = await json<Made>(folder.path, 'init')
  const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
  const sealHeads = () => store.sealHeads(sealHeadBytes)
  const box = await openSecretBox({ directory: folder.path, secretKey: undefined, sealHeads })
  const sealed = { $sealed: box.seal('"hunter2"', `document/${workspaceId}`).toBase64() }
  // The second place holds no secret: a user's own data of the same shape is no reason to report a key.
  const forged = { $sealed: Buffer.alloc(40, 1).toString('base64') }
  const talk = block('talk', 'chat_trigger', { identifier: 'help', access: 'password', password: sealed })
  const answer = block('answer', 'response', { data: forged })
  const draft = document({ name: 'Chat', blocks: [talk, answer], edges: ['talk > answer'] })
  await store.createWorkflow({ id: null, workspaceId, document: draft, at: 1 })
  await store.close()
  expect((await diagnose(folder.path)).of('key')).toMatchObject({ state: 'ok' })

  writeFileSync(join(folder.path, 'millrace.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`)
  expect((await diagnose(folder.path)).of('key')).toMatchObject({
    state: 'broken',
    message: expect.stringContaining('Workflows contain secrets that were encrypted with a different key'),
  })
})

test('doctor examines the keys of a database of an earlier version', async () => {
  using folder = temporaryFolder()
  const { workspaceId } = await json<Made>(folder.path, 'init')
  const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
  const sealHeads = () => store.sealHeads(sealHeadBytes)
  const box = await openSecretBox({ directory: folder.path, secretKey: undefined, sealHeads })
  await store.setVariable({ workspaceId, name: 'A', sealed: box.seal('value', 'x'), plain: false, at: 1 })
  await store.close()
  const database = new Database(join(folder.path, 'millrace.db'))
  for (const name of ['workflows', 'deployments', 'drafts']) database.run(`DROP INDEX ${name}_sealed`)
  database.run('DROP TABLE pins')
  database.run('PRAGMA user_version = 3')
  database.close()
  const known = await diagnose(folder.path)
  expect(known.of('key')).toMatchObject({ state: 'ok', message: expect.stringContaining('can be decrypted') })
  expect(known.found.filter(({ state }) => state === 'broken')).toEqual([])

  writeFileSync(join(folder.path, 'millrace.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`)
  expect((await diagnose(folder.path)).of('key')).toMatchObject({
    state: 'broken',
    message: expect.stringContaining('encrypted with a different key'),
  })
})
