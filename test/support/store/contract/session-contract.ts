import { describe, expect, test } from 'bun:test'
import { sessionsMax } from '../../../../src/store/session-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import { appendLogs } from '../append-logs.ts'
import { type Installed, logRow } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

const hash = (n: number) => new Uint8Array(32).fill(n)

/** The contract of every store for sessions. */
export function sessionContract(world: () => { store: Store; home: Installed }): void {
  const create = (n: number, createdAt = 1_000, expiresAt = 9_000) =>
    world().store.createSession({ hash: hash(n), userId: world().home.userId, createdAt, expiresAt })

  describe('a session', () => {
    test('is found with the roles of its account, renewed, and ended', async () => {
      const { store, home } = world()
      await create(1)
      const row = { userId: home.userId, roles: { [home.workspaceId]: 'owner' }, createdAt: 1_000, expiresAt: 9_000 }
      expect(await store.findSession(hash(1))).toEqual(row as never)
      expect(await store.findSession(hash(2))).toBeUndefined()
      expect(await store.renewSession(hash(1), 12_000)).toBe(true)
      expect(await store.findSession(hash(1))).toMatchObject({ expiresAt: 12_000 })
      expect(await store.endSession(hash(1))).toBe(true)
      expect(await store.endSession(hash(1))).toBe(false)
      expect(await store.renewSession(hash(1), 13_000)).toBe(false)
      expect(await store.findSession(hash(1))).toBeUndefined()
    })

    test('is refused without an account', async () => {
      const session = { hash: hash(1), userId: 'nobody', createdAt: 1, expiresAt: 2 }
      expect(await rejectionOf(world().store.createSession(session))).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('is deleted at the next sign-in if it has expired or is the oldest of too many', async () => {
      const { store } = world()
      await create(1, 1_000, 2_000)
      await create(2, 2_000, 9_000)
      expect(await store.findSession(hash(1))).toBeUndefined()
      for (let n = 3; n <= sessionsMax + 2; n += 1) await create(n, 2_000, 10_000 + n)
      expect(await store.findSession(hash(2))).toBeUndefined()
      expect(await store.findSession(hash(3))).toBeDefined()
      expect(await store.findSession(hash(sessionsMax + 2))).toBeDefined()
    })

    test('ends with all sessions of its account except one', async () => {
      const { store, home } = world()
      for (const n of [1, 2, 3]) await create(n)
      await store.endSessions(home.userId, hash(2))
      expect(await store.findSession(hash(1))).toBeUndefined()
      expect(await store.findSession(hash(2))).toBeDefined()
      await store.endSessions('nobody', undefined)
      expect(await store.findSession(hash(2))).toBeDefined()
      await store.endSessions(home.userId, undefined)
      expect(await store.findSession(hash(2))).toBeUndefined()
    })

    test('is refused when the password has changed since it was checked', async () => {
      const { store, home } = world()
      await store.setPassword(home.userId, 'a hash')
      const session = { hash: hash(1), userId: home.userId, createdAt: 1_000, expiresAt: 9_000 }
      const late = store.createSession({ ...session, passwordHash: 'an older hash' })
      expect(await rejectionOf(late)).toMatchObject({ code: 'INVALID_CREDENTIALS' })
      expect(await store.findSession(hash(1))).toBeUndefined()
      await store.createSession({ ...session, passwordHash: 'a hash' })
      expect(await store.findSession(hash(1))).toBeDefined()
    })

    test('ends when the password changes, except the session that changed it', async () => {
      const { store, home } = world()
      await create(1)
      await create(2)
      await store.setPassword(home.userId, 'a hash', hash(2))
      expect(await store.findSession(hash(1))).toBeUndefined()
      expect(await store.findSession(hash(2))).toBeDefined()
      await store.setPassword(home.userId, 'another hash')
      expect(await store.findSession(hash(2))).toBeUndefined()
    })
  })

  test('a password is found by e-mail and by ID if the account has one', async () => {
    const { store, home } = world()
    const email = `${home.userId}@example.org`
    expect(await store.findPassword(email)).toBeUndefined()
    await store.setPassword(home.userId, 'a hash')
    const found = { userId: home.userId, passwordHash: 'a hash' }
    expect([await store.findPassword(email.toUpperCase()), await store.findPassword(home.userId)]).toEqual([
      found,
      found,
    ])
    expect(await store.findPassword('nobody')).toBeUndefined()
  })

  test('the owner is the account that was created with the installation', async () => {
    const { store, home } = world()
    await appendLogs(store, [logRow(home, 1)])
    expect(await store.findOwner()).toEqual({ userId: home.userId, roles: { [home.workspaceId]: 'owner' } })
  })

  describe('a sign-in token', () => {
    const redeem = (token: Uint8Array, n: number, madeAfter = 0) =>
      world().store.redeemSignInToken(token, madeAfter, { hash: hash(n), createdAt: 1_500, expiresAt: 9_000 })

    test('becomes a session once', async () => {
      const { store, home } = world()
      // Created with the installation.
      expect(await redeem(hash(7), 1)).toBe(home.userId)
      expect(await store.findSession(hash(1))).toMatchObject({ userId: home.userId, createdAt: 1_500 })
      expect(await redeem(hash(7), 2)).toBeUndefined()
      expect(await store.findSession(hash(2))).toBeUndefined()
    })

    test('is valid only if it is the newest, not too old, and the password has not changed', async () => {
      const { store, home } = world()
      await store.createSignInToken({ hash: hash(8), userId: home.userId, createdAt: 2_000 })
      expect(await redeem(hash(7), 1)).toBeUndefined()
      expect(await redeem(hash(8), 1, 2_001)).toBeUndefined()
      expect(await redeem(hash(8), 1)).toBeUndefined()
      await store.createSignInToken({ hash: hash(8), userId: home.userId, createdAt: 2_000 })
      await store.setPassword(home.userId, 'a hash')
      expect(await redeem(hash(8), 1)).toBeUndefined()
      const astray = { hash: hash(9), userId: 'nobody', createdAt: 1 }
      expect(await rejectionOf(store.createSignInToken(astray))).toMatchObject({ code: 'NOT_FOUND' })
    })
  })
}
