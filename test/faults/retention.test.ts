import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { sequenceAt } from '../../src/domain/ids.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { allExecutions, deploy, init, keepCalling, serve } from '../support/running-service.ts'
import { appendLogs } from '../support/store/append-logs.ts'
import { logRow } from '../support/store/installed.ts'

const dayMs = 86_400_000
const oldEntries = 60_000

/** Records old entries in an installation whose service does not run. */
async function seed(data: string, workspaceId: string, workflowId: string): Promise<void> {
  const store = await openSqliteStore({ directory: data, sync: 'normal', mode: 'direct' })
  const home = {
    workspaceId,
    workflowId,
    userId: '',
    key: { text: '', hash: new Uint8Array(), lastFour: '' },
    keyId: '',
  }
  const first = sequenceAt(Date.now() - 40 * dayMs)
  for (let n = 0; n < oldEntries; n += 500) {
    // Random bytes, so that compression does not save space.
    const traceSpans = () => JSON.stringify([crypto.getRandomValues(new Uint8Array(240)).toBase64()])
    const rows = Array.from({ length: 500 }, (_, index) =>
      logRow(home, first + n + index, { traceSpans: traceSpans() }),
    )
    await appendLogs(store, rows)
  }
  await store.close()
}

function read<Row>(data: string, text: string): Row {
  const database = new Database(databasePath(data), { readonly: true })
  try {
    database.run('PRAGMA busy_timeout = 5000')
    return database.query(text).get() as Row
  } finally {
    database.close()
  }
}

const oldLeft = (data: string) =>
  read<{ count: number }>(
    data,
    `SELECT count(*) AS count FROM logs WHERE sequence < ${sequenceAt(Date.now() - 30 * dayMs)}`,
  ).count

test('retention deletes old entries during runs, survives kill -9 and makes the file smaller', async () => {
  using folder = temporaryFolder()
  const data = folder.path
  const { apiKey, workspaceId } = await init(data)
  const workflow = document({ blocks: [block('start', 'api_trigger')] })
  let service = await serve(data)
  const path = new URL(await deploy(service.url, apiKey, workflow)).pathname
  await service.kill('SIGTERM')
  await seed(data, workspaceId, path.split('/')[3]!)
  const bytesBefore = statSync(databasePath(data)).size

  const acknowledged = new Set<string>()
  service = await serve(data)
  const callers = Array.from({ length: 4 }, () => keepCalling(service.url + path, apiKey, acknowledged))
  while (oldLeft(data) === oldEntries) await Bun.sleep(5)
  await service.kill('SIGKILL')
  await Promise.all(callers)
  expect(read<{ integrity_check: string }>(data, 'PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' })
  const left = oldLeft(data)
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(oldEntries)

  service = await serve(data)
  while (oldLeft(data) > 0) await Bun.sleep(20)
  const seen = new Set<string>()
  for await (const executionId of allExecutions(service.url, apiKey, workspaceId)) seen.add(executionId)
  expect([...acknowledged].filter((executionId) => !seen.has(executionId))).toEqual([])
  // The log also has the runs whose responses were lost in the kill.
  expect(seen.size - acknowledged.size).toBeLessThanOrEqual(callers.length)
  expect(await service.kill('SIGTERM')).toBe(0)
  expect(read<{ integrity_check: string }>(data, 'PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' })
  const { chunks } = read<{ chunks: number }>(
    data,
    'SELECT count(*) AS chunks FROM log_chunks c WHERE NOT EXISTS (SELECT 1 FROM logs WHERE sequence BETWEEN c.first_sequence AND c.last_sequence)',
  )
  expect(chunks).toBe(0)
  expect(statSync(databasePath(data)).size).toBeLessThan(bytesBefore / 2)
}, 120_000)
