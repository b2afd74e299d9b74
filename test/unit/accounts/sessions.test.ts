import { beforeEach, expect, test } from 'bun:test'
import { hashToken, newToken, Sessions, type SessionsOptions } from '../../../src/accounts/sessions.ts'
import type { NewSession, SessionRow } from '../../../src/store/session-store.ts'
import { ManualClock } from '../../support/clock.ts'

const day = 86_400_000

/** Sessions in memory, with a record of the queries. */
class Rows {
  readonly rows = new Map<string, SessionRow>()
  readonly renewals: number[] = []
  finds = 0

  readonly store: SessionsOptions['store'] = {
    findPassword: async () => undefined,
    setPassword: async () => true,
    findOwner: async () => ({ userId: 'owner', roles: { w: 'owner' } }),
    createSession: async ({ hash, ...session }: NewSession) => {
      this.rows.set(hash.toBase64(), { ...session, roles: {} })
    },
    findSession: async (hash) => {
      this.finds += 1
      const row = this.rows.get(hash.toBase64())
      return row && { ...row }
    },
    renewSession: async (hash, expiresAt) => {
      this.renewals.push(expiresAt)
      const row = this.rows.get(hash.toBase64())
      if (row) row.expiresAt = expiresAt
      return row !== undefined
    },
    endSession: async (hash) => this.rows.delete(hash.toBase64()),
    endSessions: async () => this.rows.clear(),
    redeemSignInToken: async () => undefined,
  }
}

let clock: ManualClock
let rows: Rows
let sessions: Sessions
let token: string
beforeEach(async () => {
  clock = new ManualClock()
  rows = new Rows()
  sessions = new Sessions({ store: rows.store, clock, idleDays: 30, open: false })
  token = newToken()
  const createdAt = clock.now()
  await rows.store.createSession({ hash: hashToken(token), userId: 'ada', createdAt, expiresAt: createdAt + 30 * day })
})

test('a session in use never ends; an unused one ends after its days', async () => {
  for (let n = 0; n < 10; n += 1) {
    await clock.advance(29 * day)
    expect(await sessions.find(token)).toMatchObject({ userId: 'ada' })
    expect(sessions.renew(token)).toBe(clock.now() + 30 * day)
  }
  await clock.advance(30 * day)
  expect(await sessions.find(token)).toBeUndefined()
  expect(await sessions.find(newToken())).toBeUndefined()
})

test('a use is written at most once a minute', async () => {
  for (let second = 0; second < 180; second += 1) {
    await sessions.find(token)
    sessions.renew(token)
    await clock.advance(1_000)
  }
  await sessions.stop()
  expect(rows.renewals).toHaveLength(2)
})

test('a session in use queries the store only every few seconds', async () => {
  for (let n = 0; n < 1_000; n += 1) await sessions.find(token)
  expect(rows.finds).toBe(1)
})

test('a session ended by another process stops within 5 seconds, one ended here immediately', async () => {
  expect(await sessions.find(token)).toBeDefined()
  rows.rows.clear()
  await clock.advance(5_000)
  expect(await sessions.find(token)).toBeUndefined()

  const second = newToken()
  const session = { hash: hashToken(second), userId: 'ada', createdAt: clock.now(), expiresAt: clock.now() + day }
  await rows.store.createSession(session)
  expect(await sessions.find(second)).toBeDefined()
  await sessions.end(second)
  expect(await sessions.find(second)).toBeUndefined()
})

test('text that is not a token causes no query', async () => {
  for (const text of ['', 'x', `${token}x`, token.replace(/./, '%'), '__proto__']) {
    expect(await sessions.find(text)).toBeUndefined()
    expect(await sessions.redeem(text)).toBeUndefined()
  }
  expect(rows.finds).toBe(0)
})

test('when sign-in is off, every visitor is the owner; otherwise nobody is', async () => {
  expect(await sessions.visitor()).toBeUndefined()
  const open = new Sessions({ store: rows.store, clock, idleDays: 30, open: true })
  expect(await open.visitor()).toEqual({ userId: 'owner', roles: { w: 'owner' } })
})
