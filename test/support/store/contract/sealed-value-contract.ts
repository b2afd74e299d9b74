import { describe, expect, test } from 'bun:test'
import { type SealedKind, type SealedPlace, sealedKinds } from '../../../../src/store/account-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import { type Installed, logRow } from '../installed.ts'
import { newCredential } from './credential-contract.ts'
import { newSubscription } from './subscription-contract.ts'

const executionId = '01890a5d-ac96-774b-bcce-b302099a8057'

/** Stores a value of each kind, and several of some kinds: eighteen in all. */
export async function storeSealedValues(store: Store, home: Installed, sealed: SealValue): Promise<void> {
  const { workspaceId, workflowId } = home
  for (const name of ['A', 'B']) {
    const value = sealed('variable', [workspaceId, name])
    await store.setVariable({ workspaceId, name, sealed: value, plain: false, at: 1 })
  }
  const previous = sealed('previousWebhookSecret', [workspaceId, 'hook'])
  await store.createSubscription(workflowId, newSubscription('hook', { secret: previous }), 10)
  const secret = sealed('webhookSecret', [workspaceId, 'hook'])
  await store.changeSubscription(workflowId, 'hook', { secret, keepSecretUntil: 99 }, 11)
  const alertSecret = sealed('alertSecret', [workspaceId, 'alert'])
  await store.createAlert({
    ...{ id: 'alert', workspaceId, name: 'Failed', at: 10, by: home.userId, quietMs: 60_000, active: true },
    ...{ events: ['run.failed'], workflows: 'all', rule: null },
    channel: { type: 'webhook', url: 'https://example.com/', secret: alertSecret },
  })
  const credential = newCredential(home, 'crm', { sealed: sealed('credential', [workspaceId, 'id of crm']) })
  await store.createCredential(credential)
  const token = sealed('credentialToken', [workspaceId, credential.id])
  await store.saveCredentialToken(credential.id, 'owner', 0, { token, state: 'ok', problem: null, expiresAt: 99 })
  const job = { workflowId, workspaceId, version: 1, trigger: 'api', createdAt: 5, startedAt: null } as const
  await store.append([{ kind: 'job', row: { ...job, executionId, input: sealed('jobInput', [executionId]) } }])
  for (const number of [1, 2]) {
    const content = sealed('jobStep', [executionId])
    await store.append([{ kind: 'job-step', executionId, number, content }])
  }
  await store.append([{ kind: 'job-start', executionId, at: 6 }])
  const pause = {
    ...({ contextId: 'context', place: 'b1', blockId: 'b1', blockName: 'Ask', kind: 'approval' } as const),
    ...{ since: 6, until: null, content: sealed('pauseContent', [executionId]) },
  }
  await store.append([{ kind: 'job-pause', executionId, at: 6, pauses: [pause], goesOn: true }])
  const answer = sealed('pauseAnswer', [executionId])
  await store.endPause({ contextId: 'context', state: 'answered', at: 7, answer })
  const row = logRow(home, 1, { executionId: 'own-name', createdAt: 5 })
  const response = sealed('heldResponse', ['own-name'])
  const claim = { kind: 'request', key: 'k', at: 5, request: 'digest', response } as const
  await store.append([{ kind: 'log', row, output: sealed('jobOutput', ['own-name']), claim }])
  for (const [conversationId, at] of [
    ['c1', 1],
    ['c2', 2],
    ['c1', 3],
  ] as const) {
    const content = sealed('chatTurn', [workflowId, conversationId])
    await store.append([{ kind: 'chat', workflowId, conversationId, at, kept: 9, content }])
  }
  await store.setPin(workflowId, { blockId: 'start', content: sealed('pin', [workspaceId, 'start']), bytes: 1, at: 1 })
}

export type SealValue = (kind: SealedKind, owner: readonly string[]) => Uint8Array

/** The contract of every store for encrypting its values with another key. */
export function sealedValueContract(here: () => { store: Store; home: Installed }): void {
  const old = Uint8Array.of(1, 1, 9)
  const head = Uint8Array.of(2, 2)
  const renewed = Uint8Array.of(2, 2, 9)
  const places = async (limit = 100, after?: SealedPlace) => {
    const { store } = here()
    return (await Promise.all(sealedKinds.map((kind) => store.listSealed(kind, head, limit, after)))).flat()
  }

  describe('a sealed value', () => {
    test('is listed with its owner while it does not begin with the head, whatever its kind is', async () => {
      const { store, home } = here()
      const { workspaceId, workflowId } = home
      expect(await places()).toEqual([])
      await storeSealedValues(store, home, () => old)
      expect((await places()).map(({ kind, owner }) => [kind, ...owner])).toEqual([
        ['chatTurn', workflowId, 'c1'],
        ['chatTurn', workflowId, 'c2'],
        ['chatTurn', workflowId, 'c1'],
        ['jobOutput', 'own-name'],
        ['heldResponse', 'own-name'],
        ['pin', workspaceId, 'start'],
        ['jobStep', executionId],
        ['jobStep', executionId],
        ['jobInput', executionId],
        ['pauseContent', executionId],
        ['pauseAnswer', executionId],
        ['webhookSecret', workspaceId, 'hook'],
        ['previousWebhookSecret', workspaceId, 'hook'],
        ['alertSecret', workspaceId, 'alert'],
        ['variable', workspaceId, 'B'],
        ['variable', workspaceId, 'A'],
        ['credential', workspaceId, 'id of crm'],
        ['credentialToken', workspaceId, 'id of crm'],
      ])
      const [first] = await store.listSealed('chatTurn', head, 1)
      const [second] = await store.listSealed('chatTurn', head, 1, first)
      expect([first, second].map((place) => place?.owner[1])).toEqual(['c1', 'c2'])
      const [variable] = await store.listSealed('variable', head, 5, (await store.listSealed('variable', head, 1))[0])
      expect(variable?.owner).toEqual([workspaceId, 'A'])
    })

    test('is replaced in its place, and only if it is still the same', async () => {
      const { store, home } = here()
      await storeSealedValues(store, home, () => old)
      const all = await places()
      expect(await store.replaceSealed(all.map((place) => ({ place, before: head, after: renewed })))).toBe(0)
      const changes = all.map((place) => ({ place, before: old, after: renewed }))
      expect(await store.replaceSealed(changes)).toBe(18)
      expect(await places()).toEqual([])
      expect(await store.sealHeads(3)).toEqual([renewed])
      expect(await Promise.all(all.map((place) => store.readSealed(place)))).toEqual(all.map(() => renewed))
      expect(await store.getJobSteps(executionId)).toEqual([renewed, renewed])
      expect(await store.getJobOutput('own-name')).toEqual(renewed)
      const gone = all.find(({ kind }) => kind === 'pin')!
      await store.deletePin(home.workflowId, 'start')
      expect(await store.readSealed(gone)).toBeUndefined()
    })
  })
}
