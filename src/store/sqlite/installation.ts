import type { NewInstallation } from '../store.ts'
import type { Sql } from './connection.ts'
import { deploy } from './deployments.ts'
import { createUser } from './users.ts'
import { createWorkflow } from './workflows.ts'

export function createInstallation(sql: Sql, first: NewInstallation): boolean {
  if (isInitialised(sql)) return false
  createUser(sql, { ...first, plan: null })
  if (first.signInTokenHash) {
    sql.run(
      'INSERT INTO sign_in_tokens (hash, user_id, created_at) VALUES (?, ?, ?)',
      first.signInTokenHash,
      first.userId,
      first.at,
    )
  }
  if (first.sample) {
    const { id, document } = createWorkflow(sql, { ...first.sample, workspaceId: first.workspaceId, at: first.at })
    deploy(sql, id, document, first.at, first.userId)
  }
  return true
}

export function isInitialised(sql: Sql): boolean {
  return sql.get('SELECT 1 FROM users LIMIT 1') !== undefined
}
