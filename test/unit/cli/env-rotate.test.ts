import { afterEach, beforeEach, expect, test } from 'bun:test'
import { deriveKey } from '../../../src/accounts/key-file.ts'
import { openSecretBox, SecretBox } from '../../../src/accounts/secret-box.ts'
import { sealHeadsOf } from '../../../src/assembly/seal-heads.ts'
import { encryptAgain } from '../../../src/cli/support/encrypt-again.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { type SealedKind, sealedKinds } from '../../../src/store/account-store.ts'
import { takeLock } from '../../../src/store/lock.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { call, diagnose, json, withStore } from '../../support/cli/folder.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { storeSealedValues } from '../../support/store/contract/sealed-value-contract.ts'
import { type Installed, install } from '../../support/store/installed.ts'
import { rejectionOf } from '../../support/store/rejection.ts'
import { databaseOf, postgresAddress } from '../../support/store/test-store.ts'

const oldKey = 'old-'.repeat(8)
const newKey = 'new-'.repeat(8)
const both = `${newKey},${oldKey}`

let folder: ReturnType<typeof temporaryFolder>
let path: string
let home: Installed
beforeEach(async () => {
  folder = temporaryFolder()
  path = folder.path
  home = await withStore(path, install)
})
afterEach(() => folder[Symbol.dispose]())

const boxOf = (key: string) => new SecretBox([deriveKey(key)], { directory: path, secretKey: key })

/** Independent of the code that makes the contexts. */
const contexts: Readonly<Record<SealedKind, string>> = {
  ...{ variable: 'environment', webhookSecret: 'webhook', previousWebhookSecret: 'webhook', pin: 'pin' },
  ...{ credential: 'credentials', credentialToken: 'credential-tokens' },
  ...{ jobInput: 'job', jobStep: 'job', jobOutput: 'job', heldResponse: 'job', chatTurn: 'chat' },
  ...{ pauseContent: 'job', pauseAnswer: 'job', alertSecret: 'webhook' },
}

const talk = (password: unknown): WorkflowDocument => ({
  ...document({ blocks: [block('talk', 'chat_trigger', { identifier: 'help', access: 'password', password })] }),
  name: 'Talk',
})

/** Stores a value of each kind, and a workflow, its version and a draft of a manual run with a password. */
async function fill(key: string): Promise<string> {
  const box = boxOf(key)
  return await withStore(path, async (store) => {
    await storeSealedValues(store, home, (kind, owner) =>
      box.seal(`value of ${kind}`, [contexts[kind], ...owner].join('/')),
    )
    const password = { $sealed: box.sealAlike('"hunter2"', `document/${home.workspaceId}`).toBase64() }
    const { workspaceId } = home
    const { id } = await store.createWorkflow({ id: null, workspaceId, document: talk(password), at: 1 })
    await store.deploy(id, talk(password), 2, home.userId)
    await store.keepDraft(id, talk(password))
    return id
  })
}

/** Everything that is stored, decrypted with one key. */
async function readWith(key: string): Promise<string[]> {
  const box = boxOf(key)
  // A head that no value has, so that all are listed.
  const none = new Uint8Array(5)
  return await withStore(path, async (store) => {
    const values: string[] = []
    for (const kind of sealedKinds) {
      for (const place of await store.listSealed(kind, none, 1_000)) {
        const sealed = (await store.readSealed(place))!
        expect(box.openText(sealed, [contexts[kind], ...place.owner].join('/'))).toBe(`value of ${kind}`)
        values.push(kind)
      }
    }
    for (const place of await store.listSealedDocuments()) {
      const text = (await store.readDocument(place))!
      const sealed = Uint8Array.fromBase64(/"\$sealed":"(.*?)"/.exec(text)![1]!)
      expect(box.openText(sealed, `document/${home.workspaceId}`)).toBe('"hunter2"')
      values.push(place.table)
    }
    return values
  })
}

const everything = [
  ...[
    'chatTurn',
    'chatTurn',
    'chatTurn',
    'jobOutput',
    'heldResponse',
    'pin',
    'jobStep',
    'jobStep',
    'jobInput',
    'pauseContent',
    'pauseAnswer',
    'webhookSecret',
  ],
  ...[
    'previousWebhookSecret',
    'alertSecret',
    'variable',
    'variable',
    'credential',
    'credentialToken',
    'workflows',
    'deployments',
    'drafts',
  ],
]
const counts = {
  ...{ variables: 2, webhookSecrets: 3, credentials: 2, documents: 3, jobs: 5, outputs: 2, pins: 1, conversations: 3 },
  unreadable: 0,
}
const nothing = Object.fromEntries(Object.keys(counts).map((name) => [name, 0]))

const rotate = (key: string) => json<Record<string, number>>(path, 'env', 'rotate', '--secret-key', key)
const keyCheck = async (key: string) => (await diagnose(path, '--secret-key', key)).of('key')

test('encrypts every kind of value with the first key, so that the old key can be removed', async () => {
  const id = await fill(oldKey)
  const before = await withStore(path, (store) => store.getWorkflow(id))
  expect(await keyCheck(oldKey)).toMatchObject({ state: 'ok' })
  expect(await keyCheck(both)).toMatchObject({
    state: 'warning',
    message: 'Stored secrets can be decrypted, but an older key encrypted 21 of them.',
    advice: expect.stringContaining('millrace env rotate'),
  })
  expect(await rotate(both)).toEqual(counts)
  expect(await readWith(newKey)).toEqual(everything)
  expect(await keyCheck(newKey)).toMatchObject({ state: 'ok' })
  expect(await keyCheck(both)).toMatchObject({ state: 'ok' })
  expect(await keyCheck(oldKey)).toMatchObject({ state: 'broken' })
  // Nobody edited the workflow, and its version still equals its draft.
  const { revision, updatedAt, hasChanges } = (await withStore(path, (store) => store.getWorkflow(id)))!
  expect({ revision, updatedAt, hasChanges }).toMatchObject({
    ...{ revision: before!.revision, updatedAt: before!.updatedAt, hasChanges: false },
  })
  expect(await rotate(both)).toEqual(nothing)
  expect((await call(path, 'env', 'rotate', '--secret-key', both)).out).toBe('Nothing had to be encrypted again.\n')
})

/** Fails after a number of changes, as a process that is killed. */
function dying(store: Store, changesMax: number): Store {
  let changes = 0
  const count = () => {
    if (changes === changesMax) throw new Error('killed')
    changes += 1
  }
  return {
    ...store,
    replaceSealed: async (portion) => {
      // A portion as small as possible, so that the end may be between any two values.
      count()
      return await store.replaceSealed(portion.slice(0, 1))
    },
    replaceDocument: async (...args) => {
      count()
      return await store.replaceDocument(...args)
    },
  }
}

test('can be interrupted anywhere: a start then needs the old key, and the next call does the rest', async () => {
  await fill(oldKey)
  for (let interruptions = 0; ; interruptions += 1) {
    const done = await withStore(path, async (store) => {
      const sealHeads = () => sealHeadsOf(store)
      const box = await openSecretBox({ directory: path, secretKey: both, sealHeads })
      const none = () => undefined
      return await encryptAgain({ store: dying(store, 2), box, onFirst: none, onProgress: none }).catch(() => undefined)
    })
    const opening = withStore(path, (store) =>
      openSecretBox({ directory: path, secretKey: newKey, sealHeads: () => sealHeadsOf(store) }),
    )
    if (done) {
      await opening
      expect(interruptions).toBeGreaterThan(5)
      break
    }
    expect(await rejectionOf(opening)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  }
  expect(await readWith(newKey)).toEqual(everything)
})

test('leaves values that no key decrypts as they are, and says how many', async () => {
  await fill(oldKey)
  const box = boxOf(oldKey)
  await withStore(path, (store) =>
    store.setVariable({
      ...{ workspaceId: home.workspaceId, name: 'COPIED', plain: false, at: 1 },
      sealed: box.seal('x', 'environment/elsewhere/COPIED'),
    }),
  )
  const refused = await call(path, 'env', 'rotate', '--secret-key', both, '--json')
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.out)).toEqual({ ...counts, unreadable: 1 })
  expect(refused.words).toContain('No known key decrypts 1 value. Nothing was changed there.')
  expect(await keyCheck(both)).toMatchObject({ state: 'warning' })
})

/** A service that has announced the key that it encrypts with; undefined: not yet. */
async function serving(head: Uint8Array | undefined): Promise<AsyncDisposable & { pattern: RegExp }> {
  if (postgresAddress === undefined) {
    const lock = takeLock(path)
    if (head) lock.noteKey(head.toHex())
    const pattern = new RegExp(`process ${process.pid}\\) does not encrypt with the first key. Nothing was changed.`)
    return { pattern, [Symbol.asyncDispose]: async () => lock.release() }
  }
  const serves = { version: '1', url: 'http://127.0.0.1:1', usesFolder: false, clock: new ManualClock(0) }
  const store = await openPostgresStore({ url: await databaseOf(path), serves })
  if (head) await store.announceKeys([head])
  const pattern = new RegExp(`Process ${process.pid} on .* does not encrypt with the first key. Nothing was changed.`)
  return { pattern, [Symbol.asyncDispose]: () => store.close() }
}

test('changes nothing while a service encrypts with another key, or when a needed key is missing', async () => {
  await fill(oldKey)
  for (const head of [undefined, boxOf(oldKey).currentHead]) {
    await using service = await serving(head)
    const refused = await call(path, 'env', 'rotate', '--secret-key', both)
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.words).toMatch(service.pattern)
    expect(await readWith(oldKey)).toEqual(everything)
  }
  {
    await using _ = await serving(boxOf(newKey).currentHead)
    const wrong = await call(path, 'env', 'rotate', '--secret-key', `${newKey},${'x'.repeat(32)}`)
    expect(wrong).toMatchObject({ code: 1, out: '' })
    expect(wrong.words).toContain('encrypted with another key')
    expect(await rotate(both)).toEqual(counts)
  }
  const back = await call(path, 'env', 'rotate', '--secret-key', `${oldKey},${newKey}`)
  expect(back.out).toBe(
    'Encrypted again with the first key: 2 variables, 3 webhook secrets, 2 values of credentials, ' +
      '3 drafts and versions of workflows, 5 values of asynchronous runs, 2 outputs, 1 pinned output, 3 exchanges of chats.\n',
  )
})

test('doctor and every command with secrets refuse a short key among several, and show no part of it', async () => {
  await fill(oldKey)
  const wrong = `${newKey},tiny-secret`
  const { words } = await call(path, 'env', 'rotate', '--secret-key', wrong)
  const diagnosis = await keyCheck(wrong)
  expect(diagnosis).toMatchObject({ state: 'broken', advice: 'Correct MILLRACE_SECRET_KEY.' })
  for (const text of [words, String(diagnosis?.message)]) {
    expect(text).toContain('key 2 has 11 characters')
    expect(text).not.toMatch(/tiny|new-/)
  }
})
