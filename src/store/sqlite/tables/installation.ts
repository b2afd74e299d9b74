import { isDeepStrictEqual } from 'node:util'
import type { FirstKey, NewInstallation, UnseenInstallation } from '../../account-store.ts'
import type { Sql } from '../connection.ts'
import { deploy } from './deployments.ts'
import { createKey } from './keys.ts'
import { createSignInToken } from './sessions.ts'
import { createUser } from './users.ts'
import { createWorkflow, getWorkflow, updateWorkflow } from './workflows.ts'

export function createInstallation(sql: Sql, first: NewInstallation): boolean {
  if (isInitialised(sql)) return false
  const { userId, workspaceId, key, signInTokenHash, sample, at } = first
  createUser(sql, { ...first, plan: null })
  if (signInTokenHash) createSignInToken(sql, { hash: signInTokenHash, userId, createdAt: at })
  if (sample) {
    const { id, document } = createWorkflow(sql, { ...sample, workspaceId, at })
    deploy(sql, id, document, at, userId)
  }
  sql.run(
    'INSERT INTO unseen_installation (user_id, workspace_id, key_id, sign_in_hash, sample_id) VALUES (?, ?, ?, ?, ?)',
    ...[userId, workspaceId, key.id, signInTokenHash, sample?.id ?? null],
  )
  return true
}

export function isInitialised(sql: Sql): boolean {
  return sql.get('SELECT 1 FROM users LIMIT 1') !== undefined
}

export function renewInstallation(
  sql: Sql,
  { key, signInTokenHash, sample, at }: FirstKey,
): UnseenInstallation | undefined {
  const unseen = sql.get<Unseen>(
    `SELECT user_id AS userId, workspace_id AS workspaceId, key_id AS keyId, sign_in_hash AS signInHash,
       sample_id AS sampleId
     FROM unseen_installation`,
  )
  if (!unseen || isInUse(sql, unseen)) return undefined
  const { userId, workspaceId, keyId, sampleId } = unseen
  sql.run('DELETE FROM keys WHERE id = ?', keyId)
  createKey(sql, { ...key, userId })
  if (signInTokenHash) createSignInToken(sql, { hash: signInTokenHash, userId, createdAt: at })
  sql.run('UPDATE unseen_installation SET key_id = ?, sign_in_hash = ?', key.id, signInTokenHash)
  const row = sampleId === null ? undefined : getWorkflow(sql, sampleId)
  // The sample calls the service at the address that the service had when the sample was created.
  const document = row && sample && { ...sample, id: row.id }
  if (document && row.revision === 1 && !isDeepStrictEqual(row.document, document)) {
    updateWorkflow(sql, row.id, document, at)
    deploy(sql, row.id, document, at, userId)
  }
  return { userId, workspaceId, sampleId: row?.id ?? null }
}

export function isUnseen(sql: Sql): boolean {
  return sql.get('SELECT 1 FROM unseen_installation') !== undefined
}

export function markInstallationSeen(sql: Sql): void {
  sql.run('DELETE FROM unseen_installation')
}

type Unseen = UnseenInstallation & { keyId: string; signInHash: Uint8Array | null }

/** A key or link that was used has been seen, even if it is not marked as seen. */
function isInUse(sql: Sql, { keyId, signInHash }: Unseen): boolean {
  const key = sql.get<{ isUnused: number }>(
    'SELECT last_used_at IS NULL AND revoked_at IS NULL AS isUnused FROM keys WHERE id = ?',
    keyId,
  )
  if (key?.isUnused !== 1) return true
  return signInHash !== null && !sql.get('SELECT 1 FROM sign_in_tokens WHERE hash = ?', signInHash)
}
