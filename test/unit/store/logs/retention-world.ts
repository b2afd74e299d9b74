import { sequenceAt, sequenceOf } from '../../../../src/domain/ids.ts'
import type { LogRow } from '../../../../src/domain/run/log.ts'
import type { Connection } from '../../../../src/store/sqlite/connection.ts'
import { queryLogs } from '../../../../src/store/sqlite/logs/log-page.ts'
import { openConnection } from '../../../../src/store/sqlite/open.ts'
import { createInstallation } from '../../../../src/store/sqlite/tables/installation.ts'
import { createWorkflow } from '../../../../src/store/sqlite/tables/workflows.ts'
import { compactChunks } from '../../../../src/store/sqlite/upkeep/compaction.ts'
import { retainLogs } from '../../../../src/store/sqlite/upkeep/retention.ts'
import { endJob } from '../../../../src/store/sqlite/writes/jobs.ts'
import { appendLogs } from '../../../../src/store/sqlite/writes/logs.ts'
import { logRow, newKey } from '../../../support/store/installed.ts'
import { entriesOf, logQuery } from '../../../support/store/log-model.ts'

/**
 * More workspaces than retention queries one by one. With this many, it reads the workspace of each entry from the
 * chunks.
 */
export const workspaceCount = 20
export const start = Date.UTC(2025, 5, 1)

/** A database with some workspaces, and entries that are recorded at times chosen by a test. */
export function world(path: string) {
  const connection = openConnection({ path: `${path}/millrace.db`, sync: 'normal' })
  const userId = 'user'
  const key = newKey({ userId })
  const first = { userId, email: 'a@example.org', workspaceId: 'w0', workspaceName: 'Main' }
  createInstallation(connection, { ...first, key, signInTokenHash: null, at: 1 })
  const homes = Array.from({ length: workspaceCount }, (_, index) => {
    const workspaceId = `w${index}`
    if (index > 0) {
      connection.run(
        'INSERT INTO workspaces (id, name, owner_id, created_at) VALUES (?, ?, ?, 1)',
        workspaceId,
        'W',
        userId,
      )
    }
    const document = { name: 'A', blocks: {}, edges: [] }
    const { id: workflowId } = createWorkflow(connection, { id: null, workspaceId, document, at: 1 })
    return { userId, workspaceId, workflowId, key: { text: '', hash: key.hash, lastFour: '' }, keyId: key.id }
  })
  let nowMs = start
  let sequence = 0
  return {
    connection,
    pass: (ms: number) => {
      nowMs += ms
    },
    record(entries: readonly { workspace: number; chars: number }[]): LogRow[] {
      const rows = entries.map(({ workspace, chars }) => {
        sequence = Math.max(sequence + 1, sequenceAt(nowMs))
        const createdAt = chars % 3 === 0 ? nowMs : null
        return logRow(homes[workspace]!, sequence, { createdAt, traceSpans: JSON.stringify([noise(chars)]) })
      })
      connection.write(() => {
        appendLogs(connection, rows)
        for (const { executionId } of rows.filter(isJob)) endJob(connection, executionId, new Uint8Array(9), nowMs)
      })
      return rows
    },
    compact: () => connection.write(() => compactChunks(connection)),
    step: (before: number, bytesMax = Number.MAX_SAFE_INTEGER) =>
      connection.write(() => retainLogs(connection, { before, bytesMax, workMs: 0 }, () => 0)),
  }
}

/** Whether a run is asynchronous. Each asynchronous run has a stored output. */
export const isJob = ({ createdAt }: LogRow) => createdAt !== null

/** Runs steps until nothing is left to do. Each step deletes at least one chunk or frees some pages. */
export function sweep({ step }: ReturnType<typeof world>, before: number, bytesMax?: number): number {
  let entries = 0
  for (let steps = 0; steps < 10_000; steps += 1) {
    const swept = step(before, bytesMax)
    entries += swept.entries
    if (swept.done) return entries
  }
  throw new Error('It never ends')
}

export const chunksIn = (connection: Connection) =>
  connection.all<{ first_sequence: number; last_sequence: number }>(
    'SELECT first_sequence, last_sequence FROM log_chunks ORDER BY 1',
  )
export const listed = (connection: Connection) =>
  Array.from({ length: workspaceCount }, (_, index) =>
    entriesOf(queryLogs(connection, logQuery(`w${index}`, { limit: 100_000 }))),
  )
    .flat()
    .map(({ id }) => sequenceOf(id)!)
    .toSorted((a, b) => a - b)

/** Text that cannot be compressed. */
function noise(chars: number): string {
  return crypto.getRandomValues(new Uint8Array(Math.ceil(chars * 0.75))).toBase64()
}
