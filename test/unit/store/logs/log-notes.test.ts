import { expect, test } from 'bun:test'
import { retainLogs } from '../../../../src/store/sqlite/upkeep/retention.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { LogTable } from '../log-table.ts'

test('retention deletes the failures and labels of the entries that it deletes, and no others', () => {
  using folder = temporaryFolder()
  const table = new LogTable(folder.path)
  const { connection } = table
  const failure = { code: 'EXECUTION_FAILED', message: 'No', blockId: null, blockName: null } as const
  table.append([{ level: 'error', failure }, { labels: { customer: 'Acme' } }])
  const [kept] = table.append([{ labels: { customer: 'Kept' } }])
  const notes = () => connection.all<{ labels: string | null }>('SELECT labels FROM log_notes ORDER BY sequence')
  expect(notes()).toHaveLength(3)
  connection.write(() => retainLogs(connection, { before: kept!.sequence, bytesMax: 1e12, workMs: 1e6 }, () => 0))
  expect(notes()).toEqual([{ labels: '{"customer":"Kept"}' }])
  connection.close()
})
