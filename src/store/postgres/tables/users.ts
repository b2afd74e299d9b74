import type { NewAccount, OwnTier, UserRow } from '../../account-store.ts'
import { emailTaken } from '../../errors/account-errors.ts'
import { type OwnLimits, withNumbers } from '../../own-limits.ts'
import { type Sql, storable } from '../connection.ts'
import { createKey } from './keys.ts'
import { endSessions, isUser } from './sessions.ts'
import { createWorkspace } from './workspaces.ts'

export async function createUser(sql: Sql, account: NewAccount): Promise<void> {
  await assertFree(sql, account.email, account.userId)
  const { userId, email, plan, workspaceId, workspaceName, key, at } = account
  await sql.run(
    'INSERT INTO millrace.users (id, email, plan, created_at) VALUES ($1, $2, $3, $4)',
    ...[userId, storable(email), plan, at],
  )
  await createWorkspace(sql, { id: workspaceId, name: workspaceName, ownerId: userId, at })
  await createKey(sql, key)
}

const selectUsers = `
  SELECT id, email, password_hash IS NOT NULL AS "hasPassword", plan, external_per_minute AS "externalPerMinute",
    sync_per_minute AS "syncPerMinute", async_per_minute AS "asyncPerMinute", usd_per_month AS "usdPerMonth",
    created_at AS "createdAt"
  FROM millrace.users`

export async function listUsers(sql: Sql): Promise<UserRow[]> {
  return (await sql.all<SqlUser>(`${selectUsers} ORDER BY created_at, id`)).map(withNumbers)
}

export async function findUser(sql: Sql, idOrEmail: string): Promise<UserRow | undefined> {
  const row = await sql.get<SqlUser>(`${selectUsers} WHERE ${isUser}`, storable(idOrEmail))
  return row && withNumbers(row)
}

export async function setEmail(sql: Sql, userId: string, email: string): Promise<boolean> {
  await assertFree(sql, email, userId)
  return (await sql.run('UPDATE millrace.users SET email = $1 WHERE id = $2', storable(email), userId)) > 0
}

async function assertFree(sql: Sql, email: string, userId: string): Promise<void> {
  const found = await sql.get(
    'SELECT 1 FROM millrace.users WHERE lower(email) = lower($1 COLLATE "C") AND id <> $2',
    ...[storable(email), userId],
  )
  if (found) throw emailTaken(email)
}

export async function setPassword(
  sql: Sql,
  userId: string,
  passwordHash: string,
  keptSession?: Uint8Array,
): Promise<boolean> {
  await endSessions(sql, userId, keptSession)
  await sql.run('DELETE FROM millrace.sign_in_tokens WHERE user_id = $1', userId)
  return (await sql.run('UPDATE millrace.users SET password_hash = $1 WHERE id = $2', passwordHash, userId)) > 0
}

export async function setTier(sql: Sql, userId: string, { plan, numbers }: OwnTier): Promise<boolean> {
  const { externalPerMinute = null, syncPerMinute = null, asyncPerMinute = null, usdPerMonth = null } = numbers
  const changed = await sql.run(
    `UPDATE millrace.users
     SET plan = $1, external_per_minute = $2, sync_per_minute = $3, async_per_minute = $4, usd_per_month = $5
     WHERE id = $6`,
    ...[plan, externalPerMinute, syncPerMinute, asyncPerMinute, usdPerMonth, userId],
  )
  return changed > 0
}

type SqlUser = Omit<UserRow, 'numbers'> & OwnLimits
