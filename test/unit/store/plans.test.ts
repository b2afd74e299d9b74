import { expect, test } from 'bun:test'
import type { LogRow } from '../../../src/domain/run/log.ts'
import { sealedKinds } from '../../../src/store/account-store.ts'
import type { LogFilter } from '../../../src/store/log-query.ts'
import type { Connection, Sql, Value } from '../../../src/store/sqlite/connection.ts'
import { queryLogs } from '../../../src/store/sqlite/logs/log-page.ts'
import { deleteZoneMaps, ZoneMapMaker, zoneRows } from '../../../src/store/sqlite/logs/zone-maps.ts'
import { openConnection } from '../../../src/store/sqlite/open.ts'
import { createInstallation } from '../../../src/store/sqlite/tables/installation.ts'
import { listSealedDocuments, sampleSealedDocuments } from '../../../src/store/sqlite/tables/sealed-documents.ts'
import { listSealed } from '../../../src/store/sqlite/tables/sealed-values.ts'
import { pageWorkflows } from '../../../src/store/sqlite/tables/workflow-pages.ts'
import { createWorkflow, listActiveVersions } from '../../../src/store/sqlite/tables/workflows.ts'
import { claimInterruptedJobs, parkJobs } from '../../../src/store/sqlite/writes/jobs.ts'
import { appendLogs, getExecution, getLog, lastSequence } from '../../../src/store/sqlite/writes/logs.ts'
import { listOpenRuns } from '../../../src/store/sqlite/writes/open-runs.ts'
import { countPausesByBlock } from '../../../src/store/sqlite/writes/pause-counts.ts'
import { endDuePauses, listPauses } from '../../../src/store/sqlite/writes/pauses.ts'
import { workflowSorts } from '../../../src/store/workflow-store.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { type Installed, logRow, newKey } from '../../support/store/installed.ts'
import { logFilter, logQuery } from '../../support/store/log-model.ts'
import { LogTable } from './log-table.ts'

/** A connection that also records the query plan of each statement. */
class ExplainingSql implements Sql {
  readonly #connection: Connection
  readonly plans: string[] = []
  readonly workflows = new Map()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get<Row>(text: string, ...values: Value[]): Row | undefined {
    this.#explain(text, values)
    return this.#connection.get<Row>(text, ...values)
  }

  all<Row>(text: string, ...values: Value[]): Row[] {
    this.#explain(text, values)
    return this.#connection.all<Row>(text, ...values)
  }

  run(text: string, ...values: Value[]): number {
    this.#explain(text, values)
    return this.#connection.run(text, ...values)
  }

  #explain(text: string, values: Value[]): void {
    const steps = this.#connection.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values)
    this.plans.push(...steps.map(({ detail }) => detail))
  }
}

test('no query on log entries sorts or scans a table', () => {
  using folder = temporaryFolder()
  const connection = openConnection({ path: `${folder.path}/millrace.db`, sync: 'normal' })
  const userId = 'user'
  const workspaceId = 'workspace'
  const first = { userId, email: 'a@example.org', workspaceId, workspaceName: 'Main' }
  createInstallation(connection, { ...first, key: newKey({ userId }), signInTokenHash: null, at: 1 })
  const document = { name: 'A', blocks: {}, edges: [] }
  const { id: workflowId } = createWorkflow(connection, { id: null, workspaceId, document, at: 1 })
  const row: LogRow = logRow({ userId, workspaceId, workflowId } as Installed, 7, { costTotal: 1, models: ['a', 'b'] })

  const sql = new ExplainingSql(connection)
  appendLogs(sql, [row])
  lastSequence(sql)
  expect(queryLogs(sql, logQuery(workspaceId))).toMatchObject({ count: 1 })
  expect(queryLogs(sql, logQuery(workspaceId, { order: 'desc', after: [9] }))).toMatchObject({ count: 1 })
  expect(getLog(sql, 7)).toBeDefined()
  expect(getExecution(sql, row.executionId)).toBeDefined()
  connection.close()

  const slow = sql.plans.filter((detail) => /TEMP B-TREE|AUTOMATIC/.test(detail) || /^SCAN (?!log_chunks)/.test(detail))
  expect(slow).toEqual([])
  // The newest chunk is the first one that a scan from the end finds.
  expect(sql.plans.filter((detail) => detail.startsWith('SCAN'))).toEqual(['SCAN log_chunks', 'SCAN log_chunks'])
  expect(sql.plans).toContain('SEARCH logs USING PRIMARY KEY (workspace=? AND sequence>? AND sequence<?)')
})

test('no search with a filter sorts or scans a table, in either order', () => {
  using folder = temporaryFolder()
  const table = new LogTable(folder.path)
  const many = Array.from({ length: zoneRows + 10 }, (_, index) => ({ models: [`m${index % 3}`] }))
  table.append(many)
  const sql = new ExplainingSql(table.connection)
  expect(new ZoneMapMaker().step(sql, 'home')).toBe(true)
  deleteZoneMaps(sql, 1, 10)
  // A search may sort the rows of one zone.
  expect(sql.plans.filter((detail) => /^SCAN/.test(detail) && !/^SCAN (found|CONSTANT)/.test(detail))).toEqual([])
  sql.plans.length = 0

  const filters: Partial<LogFilter>[] = [
    { level: 'info', triggers: ['api'] },
    { startDate: 0, maxDurationMs: 50 },
    { minCost: 0 },
    { workflowIds: ['w0', 'w1'] },
    { folderIds: LogTable.folderIds.get('w3')! },
    { model: 'm1' },
    { model: 'm1', workflowIds: ['w0'], level: 'info', endDate: 1e15 },
    { executionId: 'x', model: 'm1' },
  ]
  for (const filter of filters) {
    for (const order of ['asc', 'desc'] as const) {
      const query = { filter: logFilter(filter), order, limit: 5 }
      const { count } = queryLogs(sql, logQuery('home', query))
      expect(count).toBe(filter.folderIds || filter.executionId ? 0 : 5)
    }
  }
  table.connection.close()
  const slow = sql.plans.filter((detail) => /TEMP B-TREE|AUTOMATIC|^SCAN/.test(detail))
  expect(slow.filter((detail) => !/^SCAN \w+ VIRTUAL TABLE/.test(detail))).toEqual([])
})

test('a start finds documents with sealed secrets without reading the others', () => {
  using folder = temporaryFolder()
  const table = new LogTable(folder.path)
  const sql = new ExplainingSql(table.connection)
  sampleSealedDocuments(sql)
  listSealedDocuments(sql)
  table.connection.close()
  const scans = sql.plans.filter((detail) => /^SCAN \w+/.test(detail) && !detail.startsWith('SCAN (subquery'))
  expect(scans.length).toBeGreaterThan(0)
  expect(scans.filter((detail) => !/USING (COVERING )?INDEX \w+_sealed$/.test(detail))).toEqual([])
})

test('values of another key are listed in portions that begin where the last one ended', () => {
  using folder = temporaryFolder()
  const table = new LogTable(folder.path)
  const sql = new ExplainingSql(table.connection)
  const head = new Uint8Array(5)
  for (const kind of sealedKinds) {
    const key = { chatTurn: [1, 1, 'c', 1], jobStep: [1, 1], variable: [1, 'A'], heldResponse: [1, 'k'] }[
      kind as string
    ] ?? [1]
    listSealed(sql, kind, head, 10, { kind, key, owner: [] })
  }
  table.connection.close()
  expect(sql.plans.filter((detail) => /TEMP B-TREE|AUTOMATIC|^SCAN/.test(detail))).toEqual([])
})

test('lists read neither a whole table nor the paused runs of other workspaces or workflows', () => {
  using folder = temporaryFolder()
  const connection = openConnection({ path: `${folder.path}/millrace.db`, sync: 'normal' })
  const sql = new ExplainingSql(connection)
  const page = { workspaceId: 'workspace', limit: 10 }
  for (const workflowId of [undefined, 'workflow']) {
    for (const kind of [undefined, 'approval'] as const) listPauses(sql, { ...page, workflowId, kind, after: 0 })
    listOpenRuns(sql, { ...page, workflowId, states: ['queued', 'paused'], before: 9 })
  }
  endDuePauses(sql, 1, 10)
  parkJobs(sql, true)
  claimInterruptedJobs(sql, 10)
  connection.close()
  const slow = sql.plans.filter((detail) => /TEMP B-TREE|AUTOMATIC|^SCAN (?!json_each)/.test(detail))
  // This index has the queued jobs only.
  expect(slow).toEqual(['SCAN jobs USING COVERING INDEX jobs_queued'])
  const uses = (alias: string) =>
    sql.plans.flatMap((detail) => new RegExp(`SEARCH ${alias} USING.* INDEX (.*)`).exec(detail)?.[1] ?? [])
  expect(new Set(uses('p'))).toEqual(
    new Set([
      'pauses_by_kind (workspace=? AND kind=? AND number>?)',
      'pauses_by_workflow (workflow=? AND kind=? AND number>?)',
    ]),
  )
  expect(new Set(uses('j'))).toEqual(
    new Set([
      'jobs_not_paused (workspace=? AND number<?)',
      'jobs_paused (workspace=? AND number<?)',
      'jobs_paused_by_workflow (workflow=? AND number<?)',
      'jobs_started (state=?)',
    ]),
  )
})

test('pauses are counted with the indexes of their lists', () => {
  using folder = temporaryFolder()
  const connection = openConnection({ path: `${folder.path}/millrace.db`, sync: 'normal' })
  const sql = new ExplainingSql(connection)
  for (const workflowId of [undefined, 'workflow'])
    countPausesByBlock(sql, { workspaceId: 'workspace', workflowId, max: 10 })
  connection.close()
  const uses = sql.plans.flatMap((detail) => /SEARCH p USING(?: COVERING)? INDEX (.*)/.exec(detail)?.[1] ?? [])
  expect(new Set(uses)).toEqual(
    new Set(['pauses_by_kind (workspace=? AND kind=?)', 'pauses_by_workflow (workflow=? AND kind=?)']),
  )
  // Only the pauses that were found are sorted by block.
  expect(sql.plans.filter((detail) => /^SCAN (?!\(subquery)|AUTOMATIC|FOR ORDER BY/.test(detail))).toEqual([])
})

test('a page of workflows is read from the index of its order, without a sort', () => {
  using folder = temporaryFolder()
  const connection = openConnection({ path: `${folder.path}/millrace.db`, sync: 'normal' })
  const first = { userId: 'user', email: 'a@example.org', workspaceId: 'workspace', workspaceName: 'Main' }
  createInstallation(connection, { ...first, key: newKey({ userId: 'user' }), signInTokenHash: null, at: 1 })
  const sql = new ExplainingSql(connection)
  for (const sort of workflowSorts) {
    for (const order of ['asc', 'desc'] as const) {
      for (const after of [undefined, { key: sort === 'name' ? 'a' : 1, number: 1 }]) {
        pageWorkflows(sql, { workspaceId: 'workspace', sort, order, after, search: 'a', deployedOnly: true, limit: 10 })
      }
    }
  }
  listActiveVersions(sql, 'workspace')
  const pages = sql.plans.filter((step) => step.includes(' f '))
  expect(pages).toHaveLength(13)
  expect(pages.filter((step) => !/^SEARCH f USING INDEX workflows_by_/.test(step))).toEqual([])
  expect(sql.plans.filter((step) => step.includes('TEMP B-TREE'))).toEqual([])
  connection.close()
})
