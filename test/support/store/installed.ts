import { type GeneratedKey, generateKey } from '../../../src/accounts/keys.ts'
import { newExecutionId, newId } from '../../../src/domain/ids.ts'
import type { LogRow } from '../../../src/domain/run/log.ts'
import type { NewKey } from '../../../src/store/account-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { document } from '../make.ts'

/** An installation in a store: its owner, one workspace with one workflow, and a personal key. */
export type Installed = { userId: string; workspaceId: string; workflowId: string; key: GeneratedKey; keyId: string }

export async function install(store: Store): Promise<Installed> {
  const userId = newId()
  const workspaceId = newId()
  const key = generateKey()
  const row = newKey({ userId, key })
  const first = { userId, email: `${userId}@example.org`, workspaceId, workspaceName: 'Main' }
  await store.createInstallation({ ...first, key: row, signInTokenHash: new Uint8Array(32).fill(7), at: 1_000 })
  const workflow = await store.createWorkflow({ id: null, workspaceId, document: document({ blocks: [] }), at: 1_000 })
  return { userId, workspaceId, workflowId: workflow.id, key, keyId: row.id }
}

export function newKey(more: { userId: string; key?: GeneratedKey; workspaceId?: string; expiresAt?: number }): NewKey {
  const { hash, lastFour } = more.key ?? generateKey()
  return {
    id: newId(),
    hash,
    lastFour,
    name: 'Test key',
    userId: more.userId,
    workspaceId: more.workspaceId ?? null,
    createdAt: 1_000,
    expiresAt: more.expiresAt ?? null,
  }
}

/** A row of the installation's workflow. */
export function logRow(
  { workspaceId, workflowId }: Pick<Installed, 'workspaceId' | 'workflowId'>,
  sequence: number,
  more: Partial<LogRow> = {},
): LogRow {
  return {
    sequence,
    executionId: newExecutionId(),
    workflowId,
    workspaceId,
    version: 1,
    level: 'info',
    trigger: 'api',
    createdAt: null,
    startedAt: 1_700_000_000_000,
    endedAt: 1_700_000_000_012,
    durationMs: 11.75,
    costTotal: 0,
    models: [],
    cost: null,
    rawOutput: null,
    finalOutput: '{"answer":42}',
    traceSpans: '[{"id":"s1","children":[]}]',
    ...more,
  }
}
