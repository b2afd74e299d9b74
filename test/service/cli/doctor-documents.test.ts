import { expect, test } from 'bun:test'
import { deriveKey } from '../../../src/accounts/key-file.ts'
import { SecretBox } from '../../../src/accounts/secret-box.ts'
import '../../support/built.ts'
import { diagnose, json, type Made } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { openStoreOf } from '../../support/store/test-store.ts'

const key = 'a-key-'.repeat(8)

test('doctor reports a key that cannot decrypt the secrets in a workflow', async () => {
  using folder = temporaryFolder()
  const { workspaceId } = await json<Made>(folder.path, 'init')
  const store = await openStoreOf(folder.path)
  const box = new SecretBox([deriveKey(key)], { directory: folder.path, secretKey: key })
  const sealed = { $sealed: box.seal('"hunter2"', `document/${workspaceId}`).toBase64() }
  // The second place holds no secret: a user's own data of the same shape is no reason to report a key.
  const forged = { $sealed: Buffer.alloc(40, 1).toString('base64') }
  const talk = block('talk', 'chat_trigger', { identifier: 'help', access: 'password', password: sealed })
  const answer = block('answer', 'response', { data: forged })
  const draft = document({ name: 'Chat', blocks: [talk, answer], edges: ['talk > answer'] })
  await store.createWorkflow({ id: null, workspaceId, document: draft, at: 1 })
  await store.close()
  expect((await diagnose(folder.path, '--secret-key', key)).of('key')).toMatchObject({ state: 'ok' })
  expect((await diagnose(folder.path, '--secret-key', 'other-'.repeat(8))).of('key')).toMatchObject({
    state: 'broken',
    message: expect.stringContaining('Workflows contain secrets that were encrypted with a different key'),
  })
})
