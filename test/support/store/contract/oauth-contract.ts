import { describe, expect, test } from 'bun:test'
import {
  grantsMax,
  type NewOAuthGrant,
  type OAuthExchange,
  staleOAuthMax,
  unusedClientsMax,
} from '../../../../src/store/oauth-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { Installed } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

/** A hash for a name. */
const hash = (name: string) => Bun.SHA256.hash(name) as Uint8Array

/** The contract of every store for MCP clients that people signed in. */
export function oauthContract(world: () => { store: Store; home: Installed }): void {
  const client = (id: string, createdAt = 1_000) =>
    world().store.createOAuthClient({ id, name: `Client ${id}`, redirectUris: ['https://a.example/'], createdAt })

  const grantOf = (id: string, more: Partial<NewOAuthGrant> = {}): NewOAuthGrant => ({
    ...{ id, family: hash(`family ${id}`), current: hash(`code ${id}`), clientId: 'desk' },
    ...{ userId: world().home.userId, workspaceId: world().home.workspaceId },
    ...{ redirectUri: 'https://a.example/', challenge: 'challenge', resource: 'https://m.example/mcp' },
    ...{ createdAt: 2_000, expiresAt: 3_000, ...more },
  })
  const grant = (id: string, more?: Partial<NewOAuthGrant>) => world().store.createOAuthGrant(grantOf(id, more))

  /** Exchanges the code or token that `presented` names for the tokens with the number `n`. */
  const exchange = (id: string, presented: string, n: number, more: Partial<OAuthExchange> = {}) =>
    world().store.exchangeOAuthToken({
      ...{ family: hash(`family ${id}`), presented: hash(presented), clientId: 'desk', resource: undefined },
      next: { current: hash(`refresh ${n}`), access: hash(`access ${n}`), accessExpiresAt: 5_000, expiresAt: 90_000 },
      ...{ at: 2_500, repeatableAfter: 2_400, ...more },
    })
  const code = { redirectUri: 'https://a.example/', challenge: 'challenge' }
  const given = { outcome: 'given', accessExpiresAt: 5_000 } as const

  describe('a client', () => {
    test('is found as it was registered', async () => {
      const { store } = world()
      await client('desk')
      const row = { id: 'desk', name: 'Client desk', redirectUris: ['https://a.example/'], createdAt: 1_000 }
      expect(await store.findOAuthClient('desk')).toEqual(row)
      expect(await store.findOAuthClient('other')).toBeUndefined()
    })

    test('is deleted when it is old and has no grant, sooner if nobody ever signed it in', async () => {
      const { store } = world()
      for (const id of ['desk', 'unused', 'used']) await client(id)
      await client('later', 10_000)
      await grant('g', { expiresAt: 99_000 })
      await grant('h', { clientId: 'used' })
      const found = async () => {
        const ids = ['desk', 'unused', 'used', 'later']
        const rows = await Promise.all(ids.map((id) => store.findOAuthClient(id)))
        return rows.flatMap((row) => row?.id ?? [])
      }
      // The grant of "used" has expired by now.
      expect(await store.deleteStaleOAuth(10_000, { unusedSince: 5_000, usedSince: 2_000 })).toBe(2)
      expect([await found(), await store.findOAuthGrant('h')]).toEqual([['desk', 'used', 'later'], undefined])
      expect(await store.deleteStaleOAuth(10_000, { unusedSince: 5_000, usedSince: 5_000 })).toBe(1)
      expect([await found(), (await store.findOAuthGrant('g'))?.grantId]).toEqual([['desk', 'later'], 'g'])
      expect(await store.deleteStaleOAuth(10_000, { unusedSince: 5_000, usedSince: 5_000 })).toBe(0)
    })

    test('is deleted with many others in small steps', async () => {
      const { store } = world()
      for (let n = 0; n <= staleOAuthMax; n += 1) await client(`c${n}`)
      const steps = [1, 2, 3].map(() => store.deleteStaleOAuth(9_000, { unusedSince: 5_000, usedSince: 0 }))
      expect((await Promise.all(steps)).toSorted((one, other) => other - one)).toEqual([staleOAuthMax, 1, 0])
    }, 60_000)

    test('replaces the oldest one that nobody signed in, when there are too many', async () => {
      const { store } = world()
      await client('desk', 1)
      await grant('g')
      for (let n = 0; n < unusedClientsMax; n += 1) await client(`c${n}`, 1_000 + n)
      expect(await store.findOAuthClient('c0')).toBeDefined()
      await client('one more', 9_000)
      expect(await store.findOAuthClient('c0')).toBeUndefined()
      for (const id of ['c1', 'desk', 'one more']) expect(await store.findOAuthClient(id)).toBeDefined()
    }, 60_000)
  })

  describe('a grant', () => {
    test('gives tokens for its code, then for each refresh token', async () => {
      const { store, home } = world()
      await client('desk')
      await grant('g')
      expect(await store.listOAuthGrants(home.userId, 2_500)).toEqual([])
      expect(await exchange('g', 'code g', 1, { code })).toEqual(given)
      const row = {
        ...{ grantId: 'g', clientName: 'Client desk', userId: home.userId, workspaceId: home.workspaceId },
        ...{ role: 'owner', createdAt: 2_000, accessExpiresAt: 5_000 },
      }
      expect(await store.findOAuthToken(hash('access 1'))).toEqual(row as never)
      expect(await store.findOAuthGrant('g')).toEqual(row as never)
      expect(await exchange('g', 'refresh 1', 2)).toEqual(given)
      expect(await store.findOAuthToken(hash('access 1'))).toBeUndefined()
      expect(await store.findOAuthToken(hash('access 2'))).toEqual(row as never)
      await store.recordOAuthUses([{ keyId: 'g', at: 70_000 }])
      await store.recordOAuthUses([{ keyId: 'g', at: 80_000 }])
      expect(await store.listOAuthGrants(home.userId, 80_000)).toMatchObject([
        { id: 'g', clientName: 'Client desk', workspaceName: 'Main', role: 'owner', lastUsedAt: 70_000 },
      ])
      expect(await store.listOAuthGrants(home.userId, 90_000)).toEqual([])
    })

    test('ends when a code or an old refresh token is used again', async () => {
      await client('desk')
      for (const [id, presented, more] of [
        ['by code', 'code by code', { code }],
        ['by refresh token', 'refresh 1', { repeatableAfter: 2_500 }],
      ] as const) {
        await grant(id)
        await exchange(id, `code ${id}`, 1, { code })
        await exchange(id, 'refresh 1', 2)
        expect(await exchange(id, presented, 3, more)).toEqual({ outcome: 'reused' })
        expect(await exchange(id, 'refresh 2', 3)).toEqual({ outcome: 'unknown' })
        expect(await world().store.findOAuthToken(hash('access 2'))).toBeUndefined()
      }
    })

    test('gives the same tokens again to a client that sends a refresh token twice at once', async () => {
      await client('desk')
      await grant('g')
      await exchange('g', 'code g', 1, { code })
      const both = await Promise.all([exchange('g', 'refresh 1', 2), exchange('g', 'refresh 1', 2)])
      expect(both).toEqual([given, given])
      expect(await exchange('g', 'refresh 1', 9)).toEqual({ outcome: 'reused' })
    })

    test('gives nothing to other requests', async () => {
      await client('desk')
      await client('other')
      const cases = {
        'another client': [{ code, clientId: 'other' }, 'unknown', 'given'],
        'another resource': [{ code, resource: 'https://m.example/mcp/x' }, 'elsewhere', 'given'],
        'another address': [{ code: { ...code, redirectUri: 'https://b.example/' } }, 'refused', 'unknown'],
        'another verifier': [{ code: { ...code, challenge: 'other' } }, 'refused', 'unknown'],
        'a code as a refresh token': [{}, 'unknown', 'given'],
        'a code that has expired': [{ code, at: 3_000 }, 'unknown', 'unknown'],
        'another code': [{ code, presented: hash('guessed') }, 'unknown', 'given'],
        'another family': [{ code, family: hash('guessed') }, 'unknown', 'given'],
      } as const
      for (const [id, [more, outcome, then]] of Object.entries(cases)) {
        await grant(id)
        expect([id, await exchange(id, `code ${id}`, 1, more)]).toEqual([id, { outcome }])
        expect([id, await exchange(id, `code ${id}`, 1, { code })]).toMatchObject([id, { outcome: then }])
        await world().store.endOAuthGrant(world().home.userId, id)
      }
    })

    test('has the role of its account now, and ends with the password', async () => {
      const { store, home } = world()
      await client('desk')
      const user = { userId: 'guest', email: 'guest@example.org', plan: null, workspaceId: 'w2', workspaceName: 'Two' }
      const key = { id: 'k', hash: hash('k'), lastFour: 'abcd', name: 'k', userId: 'guest', workspaceId: null }
      await store.createUser({ ...user, key: { ...key, createdAt: 1, expiresAt: null }, at: 1 })
      expect(await rejectionOf(grant('g', { userId: 'guest' }))).toMatchObject({ code: 'NOT_FOUND' })
      await store.setMember(home.workspaceId, 'guest', 'editor')
      await grant('g', { userId: 'guest' })
      await exchange('g', 'code g', 1, { code })
      expect(await store.findOAuthToken(hash('access 1'))).toMatchObject({ role: 'editor' })
      await store.setMember(home.workspaceId, 'guest', 'viewer')
      expect(await store.findOAuthToken(hash('access 1'))).toMatchObject({ role: 'viewer' })
      await store.removeMember(home.workspaceId, 'guest')
      expect(await store.findOAuthToken(hash('access 1'))).toMatchObject({ role: null })
      expect(await exchange('g', 'refresh 1', 2)).toEqual({ outcome: 'unknown' })
      expect(await store.findOAuthToken(hash('access 1'))).toBeUndefined()

      await grant('h')
      await exchange('h', 'code h', 3, { code })
      await store.setPassword(home.userId, 'a hash')
      expect(await store.findOAuthToken(hash('access 3'))).toBeUndefined()
    })

    test('ends with the sessions of its account, and with no others', async () => {
      const { store, home } = world()
      await client('desk')
      await grant('g')
      await exchange('g', 'code g', 1, { code })
      await store.endSessions('nobody', undefined)
      expect(await store.findOAuthToken(hash('access 1'))).toBeDefined()
      await store.endSessions(home.userId, hash('the session that stays'))
      expect(await store.findOAuthToken(hash('access 1'))).toBeUndefined()
    })

    test('is ended by its account, or by its client with any of its tokens', async () => {
      const { store, home } = world()
      await client('desk')
      for (const [id, n] of [
        ['g', 1],
        ['h', 2],
        ['i', 3],
      ] as const) {
        await grant(id)
        await exchange(id, `code ${id}`, n, { code })
      }
      expect(await store.endOAuthGrant('nobody', 'g')).toBe(false)
      expect(await store.endOAuthGrant(home.userId, 'g')).toBe(true)
      expect(await store.endOAuthGrant(home.userId, 'g')).toBe(false)
      expect(await store.revokeOAuthToken('other', hash('access 2'))).toBe(false)
      expect(await store.revokeOAuthToken('desk', hash('access 2'))).toBe(true)
      expect(await store.revokeOAuthToken('desk', hash('family i'))).toBe(true)
      for (const n of [1, 2, 3]) expect(await store.findOAuthToken(hash(`access ${n}`))).toBeUndefined()
    })

    test('replaces the oldest one of its account when there are too many, and expired ones', async () => {
      const { store } = world()
      await client('desk')
      expect(await rejectionOf(grant('x', { clientId: 'other' }))).toMatchObject({ code: 'NOT_FOUND' })
      await grant('expired', { createdAt: 100, expiresAt: 200 })
      for (let n = 0; n <= grantsMax; n += 1) await grant(`g${n}`, { createdAt: 2_000 + n, expiresAt: 9_000 })
      for (const id of ['expired', 'g0']) expect(await store.findOAuthGrant(id)).toBeUndefined()
      for (const id of ['g1', `g${grantsMax}`]) expect(await store.findOAuthGrant(id)).toBeDefined()
    })
  })
}
