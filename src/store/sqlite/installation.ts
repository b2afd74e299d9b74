import type { NewInstallation } from '../store.ts'
import type { Sql } from './connection.ts'
import { createKey } from './keys.ts'

export function createInstallation(sql: Sql, first: NewInstallation): boolean {
  if (isInitialised(sql)) return false
  sql.run('INSERT INTO users (id, email, created_at) VALUES (?, ?, ?)', first.userId, first.email, first.at)
  sql.run(
    'INSERT INTO workspaces (id, name, owner_id, created_at) VALUES (?, ?, ?, ?)',
    first.workspaceId,
    first.workspaceName,
    first.userId,
    first.at,
  )
  sql.run(
    "INSERT INTO members (user_id, workspace, role) SELECT ?, number, 'owner' FROM workspaces WHERE id = ?",
    first.userId,
    first.workspaceId,
  )
  createKey(sql, first.key)
  if (first.signInTokenHash) {
    sql.run(
      'INSERT INTO sign_in_tokens (hash, user_id, created_at) VALUES (?, ?, ?)',
      first.signInTokenHash,
      first.userId,
      first.at,
    )
  }
  return true
}

export function isInitialised(sql: Sql): boolean {
  return sql.get('SELECT 1 FROM users LIMIT 1') !== undefined
}
