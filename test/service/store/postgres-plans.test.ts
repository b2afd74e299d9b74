import { expect, test } from 'bun:test'
import { newExecutionId, sequenceAt } from '../../../src/domain/ids.ts'
import { logWrite } from '../../../src/domain/run/write.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { install, logRow } from '../../support/store/installed.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'

// Connections keep the plans of their statements, also those that PostgreSQL made for a table that was small.

const server = postgresServer()

test('entries of a new day are found by their index, even if somebody analyzed the log before', async () => {
  const fresh = await server().createDatabase()
  const busy = await openPostgresStore({ url: fresh })
  const owner = await install(busy)
  const now = Date.now()
  const [today, tomorrow] = [sequenceAt(now), sequenceAt(now + 86_400_000)]
  const partition = `logs_${new Date(now + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`
  const write = (first: number, groups: number) =>
    Array.fromAsync({ length: groups }, async (_, group) => {
      const rows = Array.from({ length: 16 }, (_, n) => logRow(owner, first + 16 * group + n))
      await appendLogs(busy, rows)
    })
  // PostgreSQL plans a statement a few times before it keeps a plan. These groups look into the next day as well.
  await write(today, 20)
  await queryPostgres(fresh, 'VACUUM ANALYZE')
  await write(tomorrow, 200)
  const indexUses = `
    SELECT 1 FROM pg_stat_user_indexes
    WHERE relname = '${partition}' AND indexrelname LIKE '%_execution_id_idx' AND idx_scan > ${20 * 16}`
  let found = 0
  for (let round = 0; found === 0 && round < 100; round += 1) {
    await write(tomorrow + 100_000 * (round + 1), 1)
    await Bun.sleep(50)
    found = (await queryPostgres(fresh, indexUses)).length
  }
  await busy.close()
  expect(found).toBe(1)
}, 60_000)

test('queued runs are found by their indexes, however few there were when PostgreSQL planned', async () => {
  const url = await server().createDatabase()
  const store = await openPostgresStore({ url, connectionsMax: 1 })
  const { workflowId, workspaceId } = await install(store)
  let sequence = sequenceAt(Date.now())
  const accept = async (count: number) => {
    const facts = { workflowId, workspaceId, version: 1, trigger: 'api', createdAt: 1, startedAt: null } as const
    const rows = Array.from({ length: count }, () => ({
      ...{ ...facts, executionId: newExecutionId(), input: new Uint8Array(10) },
    }))
    await store.append(rows.map((row) => ({ kind: 'job', row })))
  }
  /** Takes some runs from the queue, starts them and ends them. */
  const work = async (count: number) => {
    const jobs = await store.claimQueuedJobs({ perWorkflow: count, workflowsMax: 100, after: undefined })
    await store.append(jobs.map(({ executionId }) => ({ kind: 'job-start', executionId, at: 2 })))
    const entries = jobs.map((job) => {
      sequence += 1
      return logWrite(logRow(job, sequence, { executionId: job.executionId, createdAt: 1 }))
    })
    await store.append(entries)
    return jobs.length
  }
  /** The rows and index entries that scans have read, and the runs that were looked up. */
  const read = async () => {
    const [row] = await queryPostgres<{ scanned: string; found: string }>(
      url,
      `SELECT t.seq_tup_read + q.idx_tup_read AS scanned, e.idx_scan AS found
       FROM pg_stat_user_tables t JOIN pg_stat_user_indexes q ON q.indexrelname = 'jobs_queued'
         JOIN pg_stat_user_indexes e ON e.indexrelname = 'jobs_execution_id_key'
       WHERE t.relname = 'jobs'`,
    )
    return { scanned: Number(row!.scanned), found: Number(row!.found) }
  }
  for (let round = 0; round < 20; round += 1) {
    await accept(100)
    await work(5)
  }
  await accept(10_000)
  let worked = 100
  // PostgreSQL reports what was read with a delay. Each run is looked up when it starts and when it ends.
  for (let round = 0; (await read()).found < 400 && round < 100; round += 1) {
    worked += await work(10)
    await Bun.sleep(50)
  }
  const { scanned, found } = await read()
  expect(found).toBeGreaterThanOrEqual(400)
  // One scan of the queue reads more than this.
  expect(scanned).toBeLessThan(20 * worked)
  await store.close()
}, 60_000)
