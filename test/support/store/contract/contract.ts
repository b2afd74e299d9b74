// Long because it is one list: the promises of every store.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import type { Store } from '../../../../src/store/store.ts'
import { temporaryFolder } from '../../executable.ts'
import { block, document } from '../../make.ts'
import { appendLogs } from '../append-logs.ts'
import { type Installed, install, logRow, newKey } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'
import { accountContract } from './account-contract.ts'
import { alertContract } from './alerts/alert-contract.ts'
import { chatContract } from './chat-contract.ts'
import { connectorContract } from './connector-contract.ts'
import { credentialContract } from './credential-contract.ts'
import { dashboardContract } from './dashboard-contract.ts'
import { deliveryContract } from './delivery-contract.ts'
import { entryContract } from './entries/entry-contract.ts'
import { environmentContract } from './environment-contract.ts'
import { fanOutContract } from './fan-out-contract.ts'
import { jobContract } from './job-contract.ts'
import { logContract } from './log-contract.ts'
import { oauthContract } from './oauth-contract.ts'
import { pauseContract } from './pause-contract.ts'
import { pauseCountContract } from './pause-count-contract.ts'
import { pauseEventContract } from './pause-event-contract.ts'
import { pinContract } from './pin-contract.ts'
import { pollContract } from './poll-contract.ts'
import { presenceContract } from './presence-contract.ts'
import { registrationContract } from './registration-contract.ts'
import { sealedDocumentContract } from './sealed-document-contract.ts'
import { sealedValueContract } from './sealed-value-contract.ts'
import { sessionContract } from './session-contract.ts'
import { subscriptionContract } from './subscription-contract.ts'
import { workflowPageContract } from './workflow-page-contract.ts'
import { workflowTestContract } from './workflow-test-contract.ts'

export type OpenStore = (directory: string) => Promise<Store>

/** The contract of every implementation of the port. */
export function storeContract(name: string, open: OpenStore): void {
  describe(name, () => {
    let folder: ReturnType<typeof temporaryFolder>
    let store: Store
    let home: Installed

    beforeEach(async () => {
      folder = temporaryFolder()
      store = await open(folder.path)
      home = await install(store)
    })
    afterEach(async () => {
      await store.close()
      folder[Symbol.dispose]()
    })

    describe('an installation', () => {
      test('is created once', async () => {
        expect(await store.isInitialised()).toBe(true)
        const key = newKey({ userId: 'other' })
        const first = { userId: 'other', email: 'other@example.org', workspaceId: 'other', workspaceName: 'Other' }
        expect(await store.createInstallation({ ...first, key, signInTokenHash: null, at: 2 })).toBe(false)
        expect(await store.findKey(key.hash)).toBeUndefined()
        expect(await store.getWorkspace('other')).toBeUndefined()
      })

      test('comes with its sample deployed, or not at all', async () => {
        using other = temporaryFolder()
        const empty = await open(other.path)
        try {
          const first = { userId: 'u', email: 'u@example.org', workspaceId: 'w', workspaceName: 'W', at: 2 }
          const rest = { ...first, key: newKey({ userId: 'u' }), signInTokenHash: null }
          const unnamed = { id: 'sample', document: { name: null } as unknown as WorkflowDocument }
          expect(await rejectionOf(empty.createInstallation({ ...rest, sample: unnamed }))).toBeDefined()
          expect(await empty.isInitialised()).toBe(false)
          const sample = { id: 'sample', document: document({ name: 'Sample', blocks: [] }) }
          expect(await empty.createInstallation({ ...rest, sample })).toBe(true)
          expect(await empty.getActive('sample')).toMatchObject({ workspaceId: 'w', deployment: { version: 1 } })
        } finally {
          await empty.close()
        }
      })

      test('replaces its key and link until it is marked as seen', async () => {
        const sample = document({ name: 'Sample', blocks: [] })
        using other = temporaryFolder()
        const cut = await open(other.path)
        try {
          const first = { userId: 'u', email: 'u@example.org', workspaceId: 'w', workspaceName: 'W', at: 2 }
          const [key, second, third] = [newKey({ userId: 'u' }), newKey({ userId: '' }), newKey({ userId: '' })]
          const [link, anotherLink] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
          const made = { ...first, key, signInTokenHash: link, sample: { id: 'sample', document: sample } }
          expect(await cut.createInstallation(made)).toBe(true)
          expect(await cut.isUnseen()).toBe(true)
          const moved = { ...sample, description: 'At another address' }
          const again = { key: second, signInTokenHash: anotherLink, sample: moved, at: 3 }
          const unseen = { userId: 'u', workspaceId: 'w', sampleId: 'sample' }
          expect(await cut.renewInstallation(again)).toEqual(unseen)
          expect(await cut.findKey(key.hash)).toBeUndefined()
          expect(await cut.findKey(second.hash)).toMatchObject({ userId: 'u', roles: { w: 'owner' } })
          expect((await cut.getActive('sample'))?.deployment).toMatchObject({ version: 2, document: moved })
          const session = { hash: new Uint8Array(32), createdAt: 4, expiresAt: 9 }
          expect(await cut.redeemSignInToken(link, 0, session)).toBeUndefined()
          await cut.markInstallationSeen()
          expect(await cut.isUnseen()).toBe(false)
          expect(await cut.renewInstallation({ ...again, key: third })).toBeUndefined()
          expect(await cut.redeemSignInToken(anotherLink, 0, session)).toBe('u')
        } finally {
          await cut.close()
        }
      })

      test('keeps a key or link that is in use, even if it is not marked as seen', async () => {
        const renewed = () =>
          store.renewInstallation({ key: newKey({ userId: '' }), signInTokenHash: null, sample: undefined, at: 3 })
        await store.recordKeyUses([{ keyId: home.keyId, at: 2_000 }])
        expect(await renewed()).toBeUndefined()
        expect(await store.findKey(home.key.hash)).toBeDefined()
      })

      test('has its owner as a member of its workspace', async () => {
        const workspace = { id: home.workspaceId, name: 'Main', ownerId: home.userId, createdAt: 1_000 }
        expect(await store.listWorkspaces(home.userId)).toEqual([{ ...workspace, role: 'owner' }])
        expect(await store.getWorkspace(home.workspaceId)).toEqual({ ...workspace, role: null })
        expect(await store.listWorkspaces('nobody')).toEqual([])
      })
    })

    describe('a key', () => {
      test('is found by its hash, with its workspaces', async () => {
        expect(await store.findKey(home.key.hash)).toEqual({
          id: home.keyId,
          lastFour: home.key.text.slice(-4),
          name: 'Test key',
          userId: home.userId,
          workspaceId: null,
          createdAt: 1_000,
          expiresAt: null,
          revokedAt: null,
          lastUsedAt: null,
          roles: { [home.workspaceId]: 'owner' },
        })
        expect(await store.findKey(new Uint8Array(32))).toBeUndefined()
      })

      test('of a workspace gives access to that workspace only', async () => {
        const key = newKey({ userId: home.userId, workspaceId: home.workspaceId, expiresAt: 99 })
        await store.createKey(key)
        expect(await store.findKey(key.hash)).toMatchObject({
          workspaceId: home.workspaceId,
          expiresAt: 99,
          roles: { [home.workspaceId]: 'owner' },
        })
      })

      test('is revoked once, and stays listed', async () => {
        expect(await store.revokeKey(home.keyId, 5)).toBe(true)
        expect(await store.revokeKey(home.keyId, 6)).toBe(false)
        expect(await store.revokeKey('none', 6)).toBe(false)
        expect(await store.listKeys()).toMatchObject([{ id: home.keyId, revokedAt: 5 }])
      })

      test('is refused without an account or workspace', async () => {
        expect(await rejectionOf(store.createKey(newKey({ userId: 'nobody' })))).toMatchObject({ code: 'NOT_FOUND' })
        const astray = newKey({ userId: home.userId, workspaceId: 'nowhere' })
        expect(await rejectionOf(store.createKey(astray))).toMatchObject({ code: 'NOT_FOUND' })
        expect(await store.listKeys()).toHaveLength(1)
      })
    })

    describe('a workflow', () => {
      const draft = (name: string) => document({ name, description: 'Says hello', blocks: [block('b1', 'wait')] })
      const create = (name: string, id: string | null = null) =>
        store.createWorkflow({ id, workspaceId: home.workspaceId, document: draft(name), at: 10 })

      test('keeps its id while that is free', async () => {
        expect((await create('A', 'mine')).id).toBe('mine')
        const second = await create('B', 'mine')
        expect(second.id).not.toBe('mine')
        expect(second.document.id).toBe(second.id)
        await store.deleteWorkflow('mine', 20)
        expect((await create('C', 'mine')).id).not.toBe('mine')
      })

      test('has a unique name in its workspace until it is deleted', async () => {
        const { id } = await create('A')
        const other = await create('B')
        expect(await rejectionOf(create('A'))).toMatchObject({ code: 'CONFLICT' })
        expect(await rejectionOf(store.updateWorkflow(other.id, draft('A'), 20))).toMatchObject({ code: 'CONFLICT' })
        expect(await store.deleteWorkflow(id, 20)).toBe(true)
        expect(await store.deleteWorkflow(id, 21)).toBe(false)
        expect((await create('A')).id).not.toBe(id)
      })

      test('is read as it was written', async () => {
        const { id } = await create('A')
        const row = { id, workspaceId: home.workspaceId, createdAt: 10, activeVersion: null, deployedAt: null }
        const saved = { updatedBy: null, revision: 1, hasChanges: false }
        expect(await store.getWorkflow(id)).toEqual({
          ...row,
          ...saved,
          document: { id, ...draft('A') },
          updatedAt: 10,
        })
        const { document } = await store.updateWorkflow(id, { ...draft('Z'), id: 'ignored' }, 20)
        expect(document).toEqual({ id, ...draft('Z') })
        const names = (await store.listWorkflows(home.workspaceId)).map((each) => each.document.name)
        expect(names).toEqual(['Test workflow', 'Z'])
        expect(await store.listWorkflows('nowhere')).toEqual([])
      })

      test('is not overwritten by a save that names an older revision', async () => {
        const { id, revision } = await create('A')
        const first = await store.updateWorkflow(id, draft('B'), 20, undefined, {
          by: home.userId,
          ifRevision: revision,
        })
        expect(first).toMatchObject({ revision: 2, updatedBy: home.userId })
        const refused = await rejectionOf(store.updateWorkflow(id, draft('C'), 30, undefined, { ifRevision: revision }))
        expect(refused).toMatchObject({ code: 'CONFLICT', details: [{ path: 'revision' }] })
        expect(String(refused)).toContain(`${home.userId}@example.org at 1970-01-01T00:00:00.020Z`)
        expect((await store.getWorkflow(id))?.document.name).toBe('B')
        expect(await store.updateWorkflow(id, draft('D'), 40)).toMatchObject({ revision: 3, updatedBy: null })
      })

      test('shows whether it would run differently from its deployed version', async () => {
        const { id } = await create('A')
        const changes = async () => (await store.getWorkflow(id))?.hasChanges
        const other = document({ name: 'A', blocks: [block('b1', 'wait', { ms: 5 })] })
        expect(await changes()).toBe(false)
        await store.deploy(id, draft('A'), 20, home.userId)
        expect(await changes()).toBe(false)
        await store.updateWorkflow(id, { ...draft('Another name'), description: 'Moved' }, 30)
        expect(await changes()).toBe(false)
        await store.updateWorkflow(id, other, 40)
        expect(await changes()).toBe(true)
        await store.deploy(id, other, 50, home.userId)
        expect(await changes()).toBe(false)
        await store.activate(id, 1, 60)
        expect(await changes()).toBe(true)
        await store.undeploy(id)
        expect(await changes()).toBe(false)
      })

      test('is not found after it was deleted', async () => {
        const { id } = await create('A')
        await store.deleteWorkflow(id, 20)
        expect(await store.getWorkflow(id)).toBeUndefined()
        expect(await store.getActive(id)).toBeUndefined()
        expect(await rejectionOf(store.updateWorkflow(id, draft('A'), 30))).toMatchObject({ code: 'NOT_FOUND' })
        expect(await rejectionOf(store.deploy(id, draft('A'), 30, home.userId))).toMatchObject({ code: 'NOT_FOUND' })
        const astray = { id: null, workspaceId: 'nowhere', document: draft('A'), at: 1 }
        expect(await rejectionOf(store.createWorkflow(astray))).toMatchObject({ code: 'NOT_FOUND' })
      })

      test('keeps every JSON value of its document, awkward names included', async () => {
        const { id } = await create('A')
        await fc.assert(
          fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (params) => {
            const hostile = JSON.parse(`{"__proto__":${JSON.stringify(params)},"constructor":1}`)
            const written = document({ name: 'A', blocks: [block('b', 'x', params), block('c', 'x', hostile)] })
            const { document: read } = await store.updateWorkflow(id, written, 20)
            expect(JSON.stringify(read)).toBe(JSON.stringify({ id, ...written }))
          }),
          { numRuns: 30 },
        )
      })
    })

    describe('a deployment', () => {
      const version = (name: string) => document({ name, blocks: [block(name, 'wait')] })
      const deploy = (name: string, at: number) => store.deploy(home.workflowId, version(name), at, home.userId)

      test('is the next version and becomes the active one', async () => {
        expect(await deploy('one', 10)).toMatchObject({ version: 1, active: true, createdBy: home.userId })
        expect(await deploy('two', 20)).toMatchObject({ version: 2, active: true })
        expect(await store.getActive(home.workflowId)).toEqual({
          workflowId: home.workflowId,
          workspaceId: home.workspaceId,
          ownerId: home.userId,
          deployment: { version: 2, document: { id: home.workflowId, ...version('two') } },
        })
        expect(await store.listDeployments(home.workflowId)).toMatchObject([
          { version: 2, active: true },
          { version: 1, active: false },
        ])
        expect(await store.getWorkflow(home.workflowId)).toMatchObject({ activeVersion: 2, deployedAt: 20 })
      })

      test('has an author, and may have a name and a description from its start', async () => {
        const texts = { name: 'First', description: 'As agreed' }
        const at = [version('one'), 10, home.userId, undefined] as const
        expect(await store.deploy(home.workflowId, ...at, texts)).toMatchObject(texts)
        expect(await store.deploy(home.workflowId, ...at)).toMatchObject({ name: null, description: null })
        const unknown = await store.deploy(home.workflowId, version('two'), 20, 'nobody')
        const { email } = (await store.findUser(home.userId))!
        expect([email.includes('@'), unknown.author]).toEqual([true, null])
        expect(await store.listDeployments(home.workflowId)).toMatchObject([
          { version: 3, createdBy: 'nobody', author: null },
          { version: 2, author: email },
          { ...texts, version: 1, author: email },
        ])
      })

      test('can be made active again later, or undeployed', async () => {
        await deploy('one', 10)
        await deploy('two', 20)
        expect(await store.activate(home.workflowId, 1, 30)).toBe(true)
        expect(await store.getWorkflow(home.workflowId)).toMatchObject({ activeVersion: 1, deployedAt: 30 })
        expect(await store.activate(home.workflowId, 3, 40)).toBe(false)
        expect(await store.activate('nothing', 1, 40)).toBe(false)
        await store.undeploy(home.workflowId)
        expect((await store.getActive(home.workflowId))?.deployment).toBeNull()
        expect(await deploy('three', 50)).toMatchObject({ version: 3, active: true })
      })

      test('can change its name and its description separately', async () => {
        await deploy('one', 10)
        const describe = (texts: { name?: string | null; description?: string | null }) =>
          store.describeDeployment(home.workflowId, 1, texts)
        expect(await describe({ name: 'First', description: 'The first one' })).toBe(true)
        expect(await describe({ name: null })).toBe(true)
        expect(await store.getDeployment(home.workflowId, 1)).toMatchObject({
          name: null,
          description: 'The first one',
        })
        expect(await store.describeDeployment(home.workflowId, 2, { name: 'x' })).toBe(false)
      })

      test('stays readable after its workflow was deleted, for its log entries', async () => {
        await deploy('one', 10)
        await store.deleteWorkflow(home.workflowId, 20)
        expect(await store.getDeployment(home.workflowId, 1)).toMatchObject({ version: 1, active: false })
        expect(await store.activate(home.workflowId, 1, 30)).toBe(false)
      })
    })

    describe('a draft that is run', () => {
      const draft = (name: string) => document({ name, blocks: [block(name, 'wait')] })

      test('has a version below 0, which stays the same while the draft does not change', async () => {
        const first = await store.keepDraft(home.workflowId, draft('one'))
        expect(first).toBeLessThan(0)
        expect(await store.keepDraft(home.workflowId, draft('one'))).toBe(first)
        const second = await store.keepDraft(home.workflowId, draft('two'))
        expect(second).toBeLessThan(first)
        await store.deploy(home.workflowId, draft('three'), 10, home.userId)
        const found = (version: number) => store.getDocument(home.workflowId, version)
        expect(await found(first)).toEqual({ id: home.workflowId, ...draft('one') })
        expect(await found(second)).toEqual({ id: home.workflowId, ...draft('two') })
        expect(await found(1)).toEqual({ id: home.workflowId, ...draft('three') })
        expect(await found(2)).toBeUndefined()
        expect(await rejectionOf(store.keepDraft('nothing', draft('one')))).toMatchObject({ code: 'NOT_FOUND' })
      })

      test('is deleted after a hundred newer drafts', async () => {
        const first = await store.keepDraft(home.workflowId, draft('first'))
        for (let number = 1; number < 100; number += 1) await store.keepDraft(home.workflowId, draft(`b${number}`))
        expect(await store.getDocument(home.workflowId, first)).toBeDefined()
        await store.keepDraft(home.workflowId, draft('last'))
        expect(await store.getDocument(home.workflowId, first)).toBeUndefined()
      })
    })

    environmentContract(() => ({ store, home }))
    connectorContract(() => ({ store, home }))
    entryContract(() => ({ store, home }))
    pauseContract(() => ({ store, home }))
    pauseCountContract(() => ({ store, home }))
    pauseEventContract(() => ({ store, home }))
    credentialContract(() => ({ store, home }))
    accountContract(() => ({ store, home }))
    presenceContract(() => ({ store }))
    sessionContract(() => ({ store, home }))
    oauthContract(() => ({ store, home }))
    dashboardContract(() => ({ store, home }))
    jobContract(() => ({ store, home }))
    pinContract(() => ({ store, home }))
    workflowTestContract(() => ({ store, home }))
    alertContract(() => ({ store, home }))
    sealedDocumentContract(() => ({ store, home }))
    sealedValueContract(() => ({ store, home }))
    chatContract(() => ({ store, home }))
    registrationContract(() => ({ store, home }))
    pollContract(() => ({ store, home }))
    logContract(() => ({ store, home }))
    deliveryContract(() => ({ store, home }))
    fanOutContract(() => ({ store, home }))
    subscriptionContract(() => ({ store, home }))
    workflowPageContract(() => ({ store, home }))

    test('a healthy store reports that commits work', async () => {
      expect(await store.probe()).toBe(true)
      expect(await store.probe()).toBe(true)
    })

    test('reports the sizes of its files, and the free disk space if it can know it', async () => {
      const before = await store.measure()
      await appendLogs(store, [logRow(home, 1, { finalOutput: JSON.stringify('x'.repeat(100_000)) })])
      const after = await store.measure()
      expect(before.databaseBytes % 4_096).toBe(0)
      expect(after.databaseBytes + after.walBytes).toBeGreaterThanOrEqual(before.databaseBytes + before.walBytes)
      expect(after.freeBytes).toBeGreaterThanOrEqual(0)
      if (after.diskFreeBytes !== null) expect(after.diskFreeBytes).toBeGreaterThan(0)
      for (const waiting of Object.values(after.callsWaiting)) expect(waiting).toBe(0)
    })

    test('all data is still there after the store was closed and opened again', async () => {
      await appendLogs(store, [logRow(home, 1)])
      await store.close()
      store = await open(folder.path)
      expect(await store.lastSequence()).toBe(1)
      expect(await store.findKey(home.key.hash)).toBeDefined()
    })
  })
}
