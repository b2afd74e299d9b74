import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { newExecutionId } from '../../../../src/domain/ids.ts'
import type { LogRow } from '../../../../src/domain/run/log.ts'
import type { Connection } from '../../../../src/store/sqlite/connection.ts'
import { openConnection } from '../../../../src/store/sqlite/open.ts'
import { createInstallation } from '../../../../src/store/sqlite/tables/installation.ts'
import { createWorkflow } from '../../../../src/store/sqlite/tables/workflows.ts'
import { compactChunks } from '../../../../src/store/sqlite/upkeep/compaction.ts'
import { appendLogs, getExecution, getLog, lastSequence } from '../../../../src/store/sqlite/writes/logs.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { logRow, newKey } from '../../../support/store/installed.ts'

function world(path: string) {
  const connection = openConnection({ path: `${path}/millrace.db`, sync: 'normal' })
  const userId = 'user'
  const workspaceId = 'workspace'
  const first = { userId, email: 'a@example.org', workspaceId, workspaceName: 'Main' }
  const key = newKey({ userId })
  createInstallation(connection, { ...first, key, signInTokenHash: null, at: 1 })
  const document = { name: 'A', blocks: {}, edges: [] }
  const { id: workflowId } = createWorkflow(connection, { id: null, workspaceId, document, at: 1 })
  const home = { userId, workspaceId, workflowId, key: { text: '', hash: key.hash, lastFour: '' }, keyId: key.id }
  let sequence = 0
  return {
    connection,
    append(sizes: readonly number[]): LogRow[] {
      const rows = sizes.map((size) => {
        sequence += 1 + (size % 3)
        const traceSpans = JSON.stringify([{ id: newExecutionId(), output: 'y'.repeat(size) }])
        return logRow(home, sequence, { traceSpans, cost: size % 2 ? null : '{"total":0}' })
      })
      connection.write(() => appendLogs(connection, rows))
      return rows
    },
    compact: () => connection.write(() => compactChunks(connection)),
  }
}

const chunksIn = (connection: Connection) =>
  connection.all<{ first_sequence: number; last_sequence: number; encoding: number; bytes: number }>(
    'SELECT first_sequence, last_sequence, encoding, length(CAST(content AS BLOB)) AS bytes FROM log_chunks ORDER BY 1',
  )

test('compaction changes no entry, at any time, and chunks never overlap', () => {
  const size = fc.oneof({ weight: 8, arbitrary: fc.nat(3_000) }, { weight: 1, arbitrary: fc.nat(60_000) })
  const group = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(size) },
    { weight: 1, arbitrary: fc.array(size, { minLength: 1, maxLength: 30 }) },
  )
  const step = fc.oneof({ weight: 9, arbitrary: group }, { weight: 1, arbitrary: fc.constant('compact' as const) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      using folder = temporaryFolder()
      const { connection, append, compact } = world(folder.path)
      const rows: LogRow[] = []
      for (const each of steps) {
        if (each === 'compact') compact()
        else rows.push(...append(each))
      }
      compact()
      for (const { models: _, rawOutput: __, ...row } of rows) {
        expect(getLog(connection, row.sequence)).toMatchObject(row)
        expect(getExecution(connection, row.executionId)).toMatchObject(row)
      }
      expect(lastSequence(connection)).toBe(rows.at(-1)?.sequence ?? 0)
      let last = 0
      for (const { first_sequence, last_sequence } of chunksIn(connection)) {
        expect(first_sequence).toBeGreaterThan(last)
        expect(last_sequence).toBeGreaterThanOrEqual(first_sequence)
        last = last_sequence
      }
      connection.close()
    }),
    { numRuns: 25 },
  )
})

test('compaction reduces the space of runs that ended alone to a fraction', () => {
  using folder = temporaryFolder()
  const { connection, append, compact } = world(folder.path)
  for (let n = 0; n < 1_500; n += 1) append([1_000])
  const bytes = () => chunksIn(connection).reduce((sum, chunk) => sum + chunk.bytes, 0)
  const before = bytes()
  compact()
  compact()
  expect(bytes()).toBeLessThan(before / 8)
  expect(chunksIn(connection).length).toBeLessThan(100)
  const after = chunksIn(connection)
  compact()
  expect(chunksIn(connection)).toEqual(after)
  connection.close()
})
