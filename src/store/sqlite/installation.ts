import type { NewInstallation } from '../store.ts'
import type { Sql } from './connection.ts'
import { deploy } from './deployments.ts'
import { createSignInToken } from './sessions.ts'
import { createUser } from './users.ts'
import { createWorkflow } from './workflows.ts'

export function createInstallation(sql: Sql, first: NewInstallation): boolean {
  if (isInitialised(sql)) return false
  createUser(sql, { ...first, plan: null })
  if (first.signInTokenHash) {
    createSignInToken(sql, { hash: first.signInTokenHash, userId: first.userId, createdAt: first.at })
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
