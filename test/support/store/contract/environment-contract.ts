import { describe, expect, test } from 'bun:test'
import { environmentBounds } from '../../../../src/domain/account/environment.ts'
import { newId } from '../../../../src/domain/ids.ts'
import type { Store } from '../../../../src/store/store.ts'
import { type Installed, logRow } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'
import { newCredential } from './credential-contract.ts'
import { newSubscription } from './subscription-contract.ts'

/** The contract of every store for environment variables. */
export function environmentContract(world: () => { store: Store; home: Installed }): void {
  describe('an environment', () => {
    const variable = (name: string, more: { sealed?: Uint8Array; plain?: boolean; at?: number } = {}) => ({
      workspaceId: world().home.workspaceId,
      name,
      sealed: more.sealed ?? Uint8Array.of(1, 2, 3),
      plain: more.plain ?? false,
      at: more.at ?? 10,
    })

    test('lists its variables by name with their latest values', async () => {
      const { store, home } = world()
      expect(await store.listEnvironment(home.workspaceId)).toEqual([])
      expect(await store.setVariable(variable('B', { plain: true, at: 11 }))).toBe(true)
      expect(await store.setVariable(variable('A'))).toBe(true)
      const sealed = Uint8Array.of(0, 255, 7)
      expect(await store.setVariable(variable('A', { sealed, at: 12 }))).toBe(false)
      expect(await store.listEnvironment(home.workspaceId)).toEqual([
        { name: 'A', sealed, plain: false, updatedAt: 12 },
        { name: 'B', sealed: Uint8Array.of(1, 2, 3), plain: true, updatedAt: 11 },
      ])
      expect(await store.listEnvironment('nowhere')).toEqual([])
    })

    test('distinguishes names by case', async () => {
      const { store, home } = world()
      await store.setVariable(variable('name'))
      await store.setVariable(variable('NAME'))
      expect((await store.listEnvironment(home.workspaceId)).map(({ name }) => name)).toEqual(['NAME', 'name'])
    })

    test('removes a variable once', async () => {
      const { store, home } = world()
      await store.setVariable(variable('A'))
      expect(await store.unsetVariable('nowhere', 'A')).toBe(false)
      expect(await store.unsetVariable(home.workspaceId, 'B')).toBe(false)
      expect(await store.unsetVariable(home.workspaceId, 'A')).toBe(true)
      expect(await store.unsetVariable(home.workspaceId, 'A')).toBe(false)
      expect(await store.listEnvironment(home.workspaceId)).toEqual([])
    })

    test('is refused without a workspace', async () => {
      const { store } = world()
      const astray = { ...variable('A'), workspaceId: newId() }
      expect(await rejectionOf(store.setVariable(astray))).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('has limits, and a refused change leaves it unchanged', async () => {
      const { store, home } = world()
      const half = new Uint8Array(environmentBounds.bytesMax / 2)
      await store.setVariable(variable('A', { sealed: half }))
      await store.setVariable(variable('B', { sealed: half }))
      const tooLarge = store.setVariable(variable('C', { sealed: Uint8Array.of(1) }))
      expect(await rejectionOf(tooLarge)).toMatchObject({ code: 'INVALID_INPUT' })
      expect((await store.listEnvironment(home.workspaceId)).map(({ name }) => name)).toEqual(['A', 'B'])
      await store.unsetVariable(home.workspaceId, 'A')

      for (let number = 2; number <= environmentBounds.variablesMax; number += 1) {
        await store.setVariable(variable(`N${number}`))
      }
      const tooMany = store.setVariable(variable('ONE_MORE'))
      expect(await rejectionOf(tooMany)).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await store.setVariable(variable('N2', { at: 99 }))).toBe(false)
      expect(await store.listEnvironment(home.workspaceId)).toHaveLength(environmentBounds.variablesMax)
    })

    test('loses only data sealed with a lost key', async () => {
      const { store, home } = world()
      const lost = Uint8Array.of(1, 2, 3)
      const kept = Uint8Array.of(1, 2, 4)
      await store.setVariable(variable('A', { sealed: Uint8Array.of(1, 2, 3, 4) }))
      await store.setVariable(variable('B', { sealed: Uint8Array.of(1, 2, 4, 4) }))
      const job = { workflowId: home.workflowId, workspaceId: home.workspaceId, version: 1, trigger: 'api' } as const
      const times = { createdAt: 5, startedAt: null }
      for (const [executionId, input] of [
        ['lost', lost],
        ['kept', kept],
      ] as const) {
        await store.append([{ kind: 'job', row: { ...job, ...times, executionId, input } }])
        await store.append([{ kind: 'job-step', executionId, number: 1, content: input }])
      }
      await store.append([
        { kind: 'log', row: logRow(home, 1, { executionId: 'x', createdAt: 5 }), output: lost },
        { kind: 'log', row: logRow(home, 2, { executionId: 'y', createdAt: 5 }), output: kept },
      ])
      const hook = (id: string, secret: Uint8Array) => newSubscription(id, { secret })
      await store.createSubscription(home.workflowId, hook('a', lost), 10)
      await store.changeSubscription(home.workflowId, 'a', { secret: lost, keepSecretUntil: 99 }, 11)
      await store.createSubscription(home.workflowId, hook('b', lost), 12)
      await store.changeSubscription(home.workflowId, 'b', { secret: kept, keepSecretUntil: 99 }, 13)
      const crm = await store.createCredential(newCredential(home, 'crm', { sealed: lost }))
      await store.saveCredentialToken(crm.id, 'me', 0, { token: lost, state: 'ok', problem: null, expiresAt: 9 })
      await store.createCredential(newCredential(home, 'erp', { sealed: kept }))
      const gone = { variables: 1, jobs: 1, outputs: 1, webhookSecrets: 1, credentials: 1 }
      expect(await store.discardSealed([lost])).toEqual(gone)
      expect(await store.listSubscriptions(home.workflowId)).toMatchObject([
        { secret: new Uint8Array(), previousSecret: null },
        { secret: kept, previousSecret: null },
      ])
      const empty = new Uint8Array()
      expect(await store.getCredential(home.workspaceId, 'crm')).toMatchObject({ sealed: empty, token: empty })
      expect(await store.getCredential(home.workspaceId, 'erp')).toMatchObject({ sealed: kept, token: null })
      expect(await store.sealHeads(3)).toEqual([kept])
      expect((await store.listEnvironment(home.workspaceId)).map(({ name }) => name)).toEqual(['B'])
      expect(await store.getJob('lost')).toBeUndefined()
      expect(await store.getJobSteps('kept')).toHaveLength(1)
      expect(await store.getJobOutput('x')).toBeUndefined()
      expect(await store.getJobOutput('y')).toEqual(kept)
      const none = { variables: 0, jobs: 0, outputs: 0, webhookSecrets: 0, credentials: 0 }
      expect(await store.discardSealed([lost])).toEqual(none)
    })

    test('lists each key that its values need once', async () => {
      const { store, home } = world()
      expect(await store.sealHeads(3)).toEqual([])
      await store.setVariable(variable('A', { sealed: Uint8Array.of(1, 2, 3, 4) }))
      await store.setVariable(variable('B', { sealed: Uint8Array.of(1, 2, 3, 5) }))
      await store.setVariable(variable('C', { sealed: Uint8Array.of(9, 2, 3, 4) }))
      await store.createSubscription(home.workflowId, newSubscription('a', { secret: Uint8Array.of(7, 2, 3, 4) }), 10)
      await store.changeSubscription(
        home.workflowId,
        'a',
        { secret: Uint8Array.of(8, 2, 3, 4), keepSecretUntil: 99 },
        11,
      )
      const { id } = await store.createCredential(newCredential(home, 'crm', { sealed: Uint8Array.of(5, 2, 3, 4) }))
      const token = Uint8Array.of(6, 2, 3, 4)
      await store.saveCredentialToken(id, 'me', 0, { token, state: 'ok', problem: null, expiresAt: null })
      const heads = (await store.sealHeads(3)).toSorted(Buffer.compare)
      expect(heads).toEqual([1, 5, 6, 7, 8, 9].map((first) => Uint8Array.of(first, 2, 3)))
    })
  })
}
