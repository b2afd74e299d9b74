import { expect, test } from 'bun:test'
import type { Sql } from '../../../../src/store/sqlite/connection.ts'
import { queryLogs } from '../../../../src/store/sqlite/logs/log-page.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { logFilter, logQuery } from '../../../support/store/log-model.ts'
import { LogTable } from '../log-table.ts'

const orders = ['asc', 'desc'] as const
const hasFiles = (index: number) => index % 7 === 0 || (index > 40 && index < 60)
const textOf = (index: number) => JSON.stringify([{ key: null, file: { name: `${index}` } }])
const drafts = Array.from({ length: 200 }, (_, index) => ({
  durationMs: index,
  ...(hasFiles(index) && { files: { text: textOf(index), folder: null } }),
}))

test('the files of entries are returned with each entry, in both orders, with any gaps', () => {
  using folder = temporaryFolder()
  const { connection } = filledTable(folder.path, drafts)
  for (const order of orders) {
    for (const filter of [{}, { minDurationMs: 45, maxDurationMs: 150 }]) {
      const { entries, files } = queryLogs(connection, logQuery('home', { order, filter: logFilter(filter) }))
      const parsed = JSON.parse(`[${entries}]`) as { totalDurationMs: number; files: { name: string }[] | null }[]
      expect(parsed.length).toBe('minDurationMs' in filter ? 106 : 200)
      for (const { totalDurationMs: index, files: own } of parsed) {
        expect(own).toEqual(hasFiles(index) ? [{ name: `${index}` }] : null)
      }
      expect(files.length).toBe(parsed.filter((entry) => entry.files).length)
    }
  }
  connection.close()
})

test('a page without files needs one look-up, however far apart its entries are', () => {
  using folder = temporaryFolder()
  const { connection } = filledTable(
    folder.path,
    Array.from({ length: 200 }, (_, index) => ({ durationMs: index })),
  )
  for (const order of orders) {
    let looks = 0
    const counting: Sql = {
      workflows: connection.workflows,
      all: (text, ...values) => connection.all(text, ...values),
      run: (text, ...values) => connection.run(text, ...values),
      get(text, ...values) {
        if (text.includes('run_files')) looks += 1
        return connection.get(text, ...values)
      },
    }
    expect(queryLogs(counting, logQuery('home', { order, filter: logFilter({ minDurationMs: 100 }) })).count).toBe(100)
    expect(looks).toBe(1)
  }
  connection.close()
})

function filledTable(directory: string, rows: Parameters<LogTable['append']>[0]): LogTable {
  const table = new LogTable(directory)
  table.append(rows)
  return table
}
