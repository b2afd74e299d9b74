import type { NewAccount, OwnTier, UserRow } from '../../account-store.ts'
import { emailTaken } from '../../errors/account-errors.ts'
import { type OwnLimits, withNumbers } from '../../own-limits.ts'
import type { Sql } from '../connection.ts'
import { createKey } from './keys.ts'
import { endSessions } from './sessions.ts'
import { createWorkspace } from './workspaces.ts'

export function createUser(sql: Sql, account: NewAccount): void {
  assertFree(sql, account.email, account.userId)
  const { userId, email, plan, workspaceId, workspaceName, key, at } = account
  sql.run('INSERT INTO users (id, email, plan, created_at) VALUES (?, ?, ?, ?)', userId, email, plan, at)
  createWorkspace(sql, { id: workspaceId, name: workspaceName, ownerId: userId, at })
  createKey(sql, key)
}

const selectUsers = `
  SELECT id, email, password_hash IS NOT NULL AS hasPassword, plan, external_per_minute AS externalPerMinute,
    sync_per_minute AS syncPerMinute, async_per_minute AS asyncPerMinute, usd_per_month AS usdPerMonth,
    created_at AS createdAt
  FROM users`

export function listUsers(sql: Sql): UserRow[] {
  return sql.all<SqlUser>(`${selectUsers} ORDER BY created_at, id`).map(userOf)
}

export function findUser(sql: Sql, idOrEmail: string): UserRow | undefined {
  const row = sql.get<SqlUser>(`${selectUsers} WHERE id = ?1 OR email = ?1`, idOrEmail)
  return row && userOf(row)
}

export function setEmail(sql: Sql, userId: string, email: string): boolean {
  assertFree(sql, email, userId)
  return sql.run('UPDATE users SET email = ? WHERE id = ?', email, userId) > 0
}

function assertFree(sql: Sql, email: string, userId: string): void {
  if (sql.get('SELECT 1 FROM users WHERE email = ? AND id <> ?', email, userId)) {
    throw emailTaken(email)
  }
}

export function setPassword(sql: Sql, userId: string, passwordHash: string, keptSession?: Uint8Array): boolean {
  endSessions(sql, userId, keptSession)
  sql.run('DELETE FROM sign_in_tokens WHERE user_id = ?', userId)
  return sql.run('UPDATE users SET password_hash = ? WHERE id = ?', passwordHash, userId) > 0
}

export function setTier(sql: Sql, userId: string, { plan, numbers }: OwnTier): boolean {
  const changed = sql.run(
    `UPDATE users SET plan = ?, external_per_minute = ?, sync_per_minute = ?, async_per_minute = ?, usd_per_month = ?
     WHERE id = ?`,
    plan,
    numbers.externalPerMinute ?? null,
    numbers.syncPerMinute ?? null,
    numbers.asyncPerMinute ?? null,
    numbers.usdPerMonth ?? null,
    userId,
  )
  return changed > 0
}

type SqlUser = Omit<UserRow, 'hasPassword' | 'numbers'> & OwnLimits & { hasPassword: number }

function userOf(row: SqlUser): UserRow {
  return { ...withNumbers(row), hasPassword: row.hasPassword === 1 }
}
