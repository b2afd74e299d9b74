import { describe, expect, test } from 'bun:test'
import { credentialBounds } from '../../../../src/domain/credential/credential.ts'
import type { CredentialRow, NewCredential } from '../../../../src/store/credential-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { Installed } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

export function newCredential(
  { workspaceId, userId }: Installed,
  name: string,
  more: Partial<NewCredential> = {},
): NewCredential {
  const written = { kind: 'bearer', hosts: ['api.example.com'], fields: { prefix: 'Token' } }
  const row = { id: `id of ${name}`, workspaceId, name, ...written, at: 10, by: userId }
  return { ...row, sealed: Uint8Array.of(1, 2, 3), ...more }
}

const token = Uint8Array.of(7, 8, 9)
const signedIn = { token, state: 'ok', problem: null, expiresAt: 500 } as const

/** The contract of every store for credentials. */
export function credentialContract(world: () => { store: Store; home: Installed }): void {
  describe('a credential', () => {
    const create = (name: string, more: Partial<NewCredential> = {}) =>
      world().store.createCredential(newCredential(world().home, name, more))
    const find = (name: string) => world().store.getCredential(world().home.workspaceId, name)
    const changeOf = ({ name, kind, hosts, fields, sealed, updatedBy }: CredentialRow) => {
      return { name, kind, hosts, fields, sealed, at: 20, by: updatedBy, keepsToken: true }
    }

    test('is listed by name and found by name in its workspace', async () => {
      const { store, home } = world()
      const b = await create('b', { hosts: ['*.example.com', 'http://localhost:1'], fields: { list: [1] } })
      const a = await create('a')
      expect(b).toEqual({
        ...{ id: 'id of b', workspaceId: home.workspaceId, name: 'b', kind: 'bearer' },
        ...{ hosts: ['*.example.com', 'http://localhost:1'], fields: { list: [1] }, sealed: Uint8Array.of(1, 2, 3) },
        ...{ createdAt: 10, updatedAt: 10, updatedBy: home.userId, state: 'untested', problem: null },
        ...{ lastUsedAt: null, token: null, tokenVersion: 0, expiresAt: null },
      })
      expect(await store.listCredentials(home.workspaceId)).toEqual([a, b])
      expect(await find('b')).toEqual(b)
      expect(await find('B')).toBeUndefined()
      expect(await store.getCredential('nowhere', 'b')).toBeUndefined()
      expect(await store.listCredentials('nowhere')).toEqual([])
    })

    test('has a name that no other one of the workspace has', async () => {
      const { store, home } = world()
      const a = await create('a')
      const b = await create('b')
      expect(await rejectionOf(create('a', { id: 'other' }))).toMatchObject({ code: 'CONFLICT' })
      const renamed = store.updateCredential(b.id, { ...changeOf(b), name: 'a' })
      expect(await rejectionOf(renamed)).toMatchObject({ code: 'CONFLICT' })
      expect(await store.listCredentials(home.workspaceId)).toEqual([a, b])
      const elsewhere = create('c', { workspaceId: 'nowhere' })
      expect(await rejectionOf(elsewhere)).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('is one of a limited number', async () => {
      for (let number = 1; number <= credentialBounds.perWorkspaceMax; number += 1) await create(`n${number}`)
      expect(await rejectionOf(create('one-more'))).toMatchObject({ code: 'INVALID_INPUT' })
    })

    test('can be changed; it is untested then, and keeps its token only when the change does not concern it', async () => {
      const { store } = world()
      const a = await create('a')
      await store.saveCredentialToken(a.id, 'me', 0, { ...signedIn, state: 'failing', problem: 'It broke.' })
      const change = { ...changeOf(a), name: 'b', hosts: ['example.org'], by: 'somebody' }
      const changed = await store.updateCredential(a.id, change)
      expect(changed).toMatchObject({ name: 'b', hosts: ['example.org'], updatedAt: 20, updatedBy: 'somebody' })
      expect(changed).toMatchObject({ createdAt: 10, state: 'untested', problem: null, token, tokenVersion: 1 })
      expect(await find('b')).toEqual(changed)
      const other = await store.updateCredential(a.id, { ...change, kind: 'basic', keepsToken: false })
      expect(other).toMatchObject({ kind: 'basic', token: null, tokenVersion: 2, expiresAt: null })
      expect(await rejectionOf(store.updateCredential('nothing', change))).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('is deleted once, and its name is free again', async () => {
      const { store, home } = world()
      await create('a')
      expect(await store.deleteCredential('nowhere', 'a')).toBe(false)
      expect(await store.deleteCredential(home.workspaceId, 'a')).toBe(true)
      expect(await store.deleteCredential(home.workspaceId, 'a')).toBe(false)
      await create('a', { id: 'again' })
    })

    test('is refreshed by one owner at a time', async () => {
      const { store } = world()
      const { id } = await create('a')
      const take = (owner: string, now: number) => store.takeCredentialLease(id, owner, now, now + 100)
      expect(await take('one', 1_000)).toMatchObject({ id, tokenVersion: 0 })
      expect(await take('two', 1_099)).toBeUndefined()
      // The same owner may prolong it.
      expect(await take('one', 1_099)).toMatchObject({ id })
      expect(await take('two', 1_198)).toBeUndefined()
      expect(await take('two', 1_199)).toMatchObject({ id })
      await store.endCredentialLease(id, 'one')
      expect(await take('one', 1_200)).toBeUndefined()
      await store.endCredentialLease(id, 'two')
      expect(await take('one', 1_200)).toMatchObject({ id })
      expect(await store.takeCredentialLease('nothing', 'one', 1, 2)).toBeUndefined()
    })

    test('stores a token only over the one that it replaces, and ends the lease', async () => {
      const { store } = world()
      const { id } = await create('a')
      await store.takeCredentialLease(id, 'one', 1_000, 9_000)
      expect(await store.saveCredentialToken(id, 'one', 0, signedIn)).toBe(true)
      expect(await find('a')).toMatchObject({ ...signedIn, tokenVersion: 1 })
      expect(await store.takeCredentialLease(id, 'two', 1_001, 9_000)).toMatchObject({ tokenVersion: 1 })
      const late = { ...signedIn, token: Uint8Array.of(1) }
      expect(await store.saveCredentialToken(id, 'one', 0, late)).toBe(false)
      expect(await find('a')).toMatchObject({ token, tokenVersion: 1 })
      // A late owner does not end the lease of another one.
      expect(await store.takeCredentialLease(id, 'three', 1_002, 9_000)).toBeUndefined()
      const gone = { token: null, state: 'needs_sign_in', problem: 'It was revoked.', expiresAt: null } as const
      expect(await store.saveCredentialToken(id, 'two', 1, gone)).toBe(true)
      expect(await find('a')).toMatchObject({ ...gone, tokenVersion: 2 })
      expect(await store.saveCredentialToken('nothing', 'two', 0, gone)).toBe(false)
    })

    test('remembers its last use and what that has shown', async () => {
      const { store } = world()
      const [a, b] = [await create('a'), await create('b')]
      const failing = { state: 'failing', problem: 'The service responded with 401.' } as const
      await store.noteCredentialUses([
        { id: a.id, at: 50, state: failing },
        { id: b.id, at: 60, state: { state: 'ok', problem: null } },
        { id: 'nothing', at: 70 },
      ])
      await store.noteCredentialUses([{ id: a.id, at: 40 }])
      expect(await find('a')).toMatchObject({ lastUsedAt: 50, ...failing, updatedAt: 10 })
      expect(await find('b')).toMatchObject({ lastUsedAt: 60, state: 'ok', problem: null })
      await store.noteCredentialUses([])
    })
  })
}
