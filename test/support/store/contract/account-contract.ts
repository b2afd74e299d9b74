import { describe, expect, test } from 'bun:test'
import { newId } from '../../../../src/domain/ids.ts'
import { billingPeriodOf } from '../../../../src/domain/run/cost.ts'
import type { NewAccount } from '../../../../src/store/account-store.ts'
import type { Store } from '../../../../src/store/store.ts'
import { appendLogs } from '../append-logs.ts'
import { type Installed, logRow, newKey } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

/** A second account, as the port takes it. */
function newAccount(more: Partial<NewAccount> = {}): NewAccount {
  const userId = newId()
  return {
    userId,
    email: `${userId}@example.org`,
    plan: null,
    workspaceId: newId(),
    workspaceName: 'Theirs',
    key: newKey({ userId }),
    at: 2_000,
    ...more,
  }
}

/** The contract of every store for accounts, workspaces, the use of keys, and rate windows. */
export function accountContract(world: () => { store: Store; home: Installed }): void {
  describe('an account', () => {
    test('is created with a workspace and a key', async () => {
      const { store, home } = world()
      const account = newAccount({ email: 'Ada@example.org', plan: 'pro' })
      await store.createUser(account)
      const row = { id: account.userId, email: 'Ada@example.org', plan: 'pro', numbers: {}, hasPassword: false }
      expect(await store.findUser(account.userId)).toEqual({ ...row, plan: 'pro', createdAt: 2_000 })
      expect(await store.findUser('ada@EXAMPLE.org')).toMatchObject({ id: account.userId })
      expect(await store.findUser('nobody')).toBeUndefined()
      expect(await store.findKey(account.key.hash)).toMatchObject({ roles: { [account.workspaceId]: 'owner' } })
      expect((await store.listUsers()).map(({ id }) => id)).toEqual([home.userId, account.userId])
    })

    test('is not created when another account has its e-mail', async () => {
      const { store } = world()
      await store.createUser(newAccount({ email: 'a@example.org' }))
      const second = newAccount({ email: 'A@Example.org' })
      expect(await rejectionOf(store.createUser(second))).toMatchObject({ code: 'CONFLICT' })
      const keyOfNobody = newAccount({ key: newKey({ userId: 'nobody' }) })
      expect(await rejectionOf(store.createUser(keyOfNobody))).toMatchObject({ code: 'NOT_FOUND' })
      for (const { workspaceId, userId, key } of [second, keyOfNobody]) {
        expect(await store.getWorkspace(workspaceId)).toBeUndefined()
        expect(await store.findUser(userId)).toBeUndefined()
        expect(await store.findKey(key.hash)).toBeUndefined()
      }
    })

    test('can change its e-mail to one that no other account has', async () => {
      const { store, home } = world()
      await store.createUser(newAccount({ email: 'a@example.org' }))
      expect(await rejectionOf(store.setEmail(home.userId, 'A@example.org'))).toMatchObject({ code: 'CONFLICT' })
      expect(await store.setEmail(home.userId, 'ada@example.org')).toBe(true)
      expect(await store.setEmail(home.userId, 'Ada@example.org')).toBe(true)
      expect(await store.findUser('ada@example.org')).toMatchObject({ id: home.userId, email: 'Ada@example.org' })
      expect(await store.setEmail('nobody', 'b@example.org')).toBe(false)
    })

    test('can set a password, which is never shown', async () => {
      const { store, home } = world()
      expect(await store.setPassword(home.userId, 'a hash')).toBe(true)
      expect(await store.setPassword('nobody', 'a hash')).toBe(false)
      const user = await store.findUser(home.userId)
      expect(user).toMatchObject({ hasPassword: true })
      expect(JSON.stringify(user)).not.toContain('a hash')
    })

    test('can have a tier and its own limits, which the next tier replaces', async () => {
      const { store, home } = world()
      const numbers = { externalPerMinute: 5, usdPerMonth: 0.25 }
      expect(await store.setTier(home.userId, { plan: 'enterprise', numbers })).toBe(true)
      expect(await store.findUser(home.userId)).toMatchObject({ plan: 'enterprise', numbers })
      await store.setTier(home.userId, { plan: null, numbers: {} })
      expect(await store.findUser(home.userId)).toMatchObject({ plan: null })
      expect((await store.findUser(home.userId))?.numbers).toEqual({})
      expect(await store.setTier('nobody', { plan: 'free', numbers: {} })).toBe(false)
    })
  })

  describe('a workspace', () => {
    test('needs an existing account, and is listed', async () => {
      const { store, home } = world()
      await store.createWorkspace({ id: 'second', name: 'Second', ownerId: home.userId, at: 3_000 })
      const second = { id: 'second', name: 'Second', ownerId: home.userId, createdAt: 3_000 }
      const astray = { id: 'astray', name: 'Astray', ownerId: 'nobody', at: 3_000 }
      expect(await rejectionOf(store.createWorkspace(astray))).toMatchObject({ code: 'NOT_FOUND' })
      const account = newAccount()
      await store.createUser(account)
      const all = await store.listWorkspaces(null)
      expect(all.map(({ id, role }) => [id, role])).toEqual([
        [home.workspaceId, null],
        ['second', null],
        [account.workspaceId, null],
      ])
      expect(all[1]).toEqual({ ...second, role: null })
      expect(await store.listWorkspaces(home.userId)).toContainEqual({ ...second, role: 'owner' })
    })

    test('can be shared with a role that can be changed and removed', async () => {
      const { store, home } = world()
      const account = newAccount({ email: 'b@example.org' })
      await store.createUser(account)
      const { userId, key } = account
      const role = async () => (await store.findKey(key.hash))?.roles[home.workspaceId]
      await store.setMember(home.workspaceId, userId, 'viewer')
      expect(await role()).toBe('viewer')
      await store.setMember(home.workspaceId, userId, 'editor')
      expect(await role()).toBe('editor')
      expect(await store.listMembers(home.workspaceId)).toEqual([
        { userId: home.userId, email: `${home.userId}@example.org`, role: 'owner' },
        { userId, email: 'b@example.org', role: 'editor' },
      ])
      expect(await store.removeMember(home.workspaceId, userId)).toBe(true)
      expect(await store.removeMember(home.workspaceId, userId)).toBe(false)
      expect(await role()).toBeUndefined()
      expect(await store.listMembers('nowhere')).toEqual([])
    })

    test('keeps its owner, and refuses unknown accounts as members', async () => {
      const { store, home } = world()
      const { workspaceId, userId } = home
      expect(await rejectionOf(store.setMember(workspaceId, userId, 'viewer'))).toMatchObject({ code: 'CONFLICT' })
      expect(await rejectionOf(store.removeMember(workspaceId, userId))).toMatchObject({ code: 'CONFLICT' })
      expect(await rejectionOf(store.setMember(workspaceId, 'nobody', 'viewer'))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await rejectionOf(store.setMember('nowhere', userId, 'viewer'))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await rejectionOf(store.removeMember('nowhere', userId))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await store.listMembers(workspaceId)).toMatchObject([{ userId, role: 'owner' }])
    })

    test('refuses a key of an account that is not a member', async () => {
      const { store, home } = world()
      const account = newAccount()
      await store.createUser(account)
      const key = newKey({ userId: account.userId, workspaceId: home.workspaceId })
      expect(await rejectionOf(store.createKey(key))).toMatchObject({ code: 'NOT_FOUND' })
      await store.setMember(home.workspaceId, account.userId, 'viewer')
      await store.createKey(key)
      expect(await store.findKey(key.hash)).toMatchObject({ roles: { [home.workspaceId]: 'viewer' } })
    })
  })

  test('the last use of a key is recorded at most once a minute, and also after the clock was set back', async () => {
    const { store, home } = world()
    const lastUse = async () => (await store.findKey(home.key.hash))?.lastUsedAt
    const use = (at: number) => store.recordKeyUses([{ keyId: home.keyId, at }])
    await store.recordKeyUses([{ keyId: 'gone', at: 1 }])
    for (const [at, noted] of [
      [1_000_000, 1_000_000],
      [1_059_999, 1_000_000],
      [1_060_000, 1_060_000],
      [1_060_000, 1_060_000],
      [500_000, 500_000],
    ] as const) {
      await use(at)
      expect([at, await lastUse()]).toEqual([at, noted])
    }
  })

  test('the cost of an account includes every run that was appended before the query', async () => {
    const { store, home } = world()
    const at = Date.UTC(2025, 5, 20)
    for (let round = 0; round < 20; round += 1) {
      const rows = Array.from({ length: 1 + (round % 10) }, (_, n) =>
        logRow(home, round * 10 + n + 1, { costTotal: 1, endedAt: at }),
      )
      const before = await store.getUsage(home.userId, billingPeriodOf(at))
      const writing = appendLogs(store, rows)
      expect(await store.getUsage(home.userId, billingPeriodOf(at))).toBe(before + rows.length)
      await writing
    }
    expect(await store.getUsage(home.userId, billingPeriodOf(Date.UTC(2025, 6, 1)))).toBe(0)
  })

  test('rate windows are counted by kind and account, and deleted when they have ended', async () => {
    const { store } = world()
    const window = (kind: 'external' | 'sync', userId: string, used: number, resetAt: number) => {
      return { kind, userId, used, resetAt }
    }
    await store.saveRateWindows(
      [counted(window('sync', 'a', 1, 260), 1), counted(window('external', 'a', 2, 300), 2)],
      100,
    )
    await store.saveRateWindows([counted(window('sync', 'a', 3, 260), 2), counted(window('sync', 'b', 4, 250), 4)], 150)
    const rows = await store.listRateWindows(250)
    expect(rows).toHaveLength(2)
    expect(rows).toContainEqual(window('sync', 'a', 3, 260))
    expect(rows).toContainEqual(window('external', 'a', 2, 300))
    await store.saveRateWindows([], 260)
    expect(await store.listRateWindows(0)).toEqual([window('external', 'a', 2, 300)])
  })
}

const counted = <Window>(window: Window, added: number) => ({ ...window, added })
