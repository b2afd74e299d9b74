import { isDeepStrictEqual } from 'node:util'
import type { FirstKey, NewInstallation, UnseenInstallation } from '../../account-store.ts'
import type { Sql } from '../connection.ts'
import { deploy } from './deployments.ts'
import { createKey } from './keys.ts'
import { createSignInToken } from './sessions.ts'
import { createUser } from './users.ts'
import { createWorkflow, getWorkflow, updateWorkflow } from './workflows.ts'

export async function createInstallation(sql: Sql, first: NewInstallation): Promise<boolean> {
  if (await isInitialised(sql)) return false
  const { userId, workspaceId, key, signInTokenHash, sample, at } = first
  await createUser(sql, { ...first, plan: null })
  if (signInTokenHash) await createSignInToken(sql, { hash: signInTokenHash, userId, createdAt: at })
  if (sample) {
    const { id, document } = await createWorkflow(sql, { ...sample, workspaceId, at })
    await deploy(sql, id, document, at, userId)
  }
  await sql.run(
    `INSERT INTO millrace.unseen_installation (user_id, workspace_id, key_id, sign_in_hash, sample_id)
     VALUES ($1, $2, $3, $4, $5)`,
    ...[userId, workspaceId, key.id, signInTokenHash, sample?.id ?? null],
  )
  return true
}

export async function isInitialised(sql: Sql): Promise<boolean> {
  return (await sql.get('SELECT 1 FROM millrace.users LIMIT 1')) !== undefined
}

export async function renewInstallation(
  sql: Sql,
  { key, signInTokenHash, sample, at }: FirstKey,
): Promise<UnseenInstallation | undefined> {
  // A key or link that was used has been seen, even if it is not marked as seen.
  const unseen = await sql.get<UnseenInstallation & { keyId: string }>(
    `SELECT u.user_id AS "userId", u.workspace_id AS "workspaceId", u.key_id AS "keyId", u.sample_id AS "sampleId"
     FROM millrace.unseen_installation u JOIN millrace.keys k ON k.id = u.key_id
     WHERE k.last_used_at IS NULL AND k.revoked_at IS NULL AND (
       u.sign_in_hash IS NULL OR EXISTS (SELECT FROM millrace.sign_in_tokens t WHERE t.hash = u.sign_in_hash))`,
  )
  if (!unseen) return undefined
  const { userId, workspaceId, keyId, sampleId } = unseen
  await sql.run('DELETE FROM millrace.keys WHERE id = $1', keyId)
  await createKey(sql, { ...key, userId })
  if (signInTokenHash) await createSignInToken(sql, { hash: signInTokenHash, userId, createdAt: at })
  await sql.run('UPDATE millrace.unseen_installation SET key_id = $1, sign_in_hash = $2', key.id, signInTokenHash)
  const row = sampleId === null ? undefined : await getWorkflow(sql, sampleId)
  // The sample calls the service at the address that the service had when the sample was created.
  const document = row && sample && { ...sample, id: row.id }
  if (document && row.revision === 1 && !isDeepStrictEqual(row.document, document)) {
    await updateWorkflow(sql, row.id, document, at)
    await deploy(sql, row.id, document, at, userId)
  }
  return { userId, workspaceId, sampleId: row?.id ?? null }
}

export async function isUnseen(sql: Sql): Promise<boolean> {
  return (await sql.get('SELECT 1 FROM millrace.unseen_installation')) !== undefined
}

export async function markInstallationSeen(sql: Sql): Promise<void> {
  await sql.run('DELETE FROM millrace.unseen_installation')
}
