import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../src/domain/clock.ts'
import { LogSequence, newExecutionId } from '../../../src/domain/ids.ts'
import { LogWriter } from '../../../src/events/writer.ts'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { runRecord } from '../../support/events/run-record.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { programPath } from '../../support/programs.ts'
import { install } from '../../support/store/installed.ts'
import { logQuery } from '../../support/store/log-model.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

/** Overwrites some bytes of a table's first page from another process, because this one must not close the file. */
function damage(path: string, table: string): void {
  const database = new Database(path, { readwrite: true })
  const { pageno } = database.query('SELECT pageno FROM dbstat WHERE name = ?').get(table) as { pageno: number }
  database.close()
  const nonsense = `${path}-nonsense`
  writeFileSync(nonsense, 'Z'.repeat(36))
  overwrite(path, nonsense, 'bs=1', `seek=${(pageno - 1) * 4_096 + 4}`)
}

function overwrite(path: string, from: string, ...how: string[]): void {
  const { exitCode } = Bun.spawnSync([programPath('dd'), `if=${from}`, `of=${path}`, 'conv=notrunc', ...how], {
    stderr: 'ignore',
  })
  expect(exitCode).toBe(0)
}

test.each(['workers', 'direct'] as const)(
  'a damaged database refuses runs and stays unhealthy until it is repaired (%s)',
  async (mode) => {
    using folder = temporaryFolder()
    const path = databasePath(folder.path)
    const first = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
    const { workflowId, workspaceId } = await install(first)
    await first.close()
    const good = join(folder.path, 'good')
    copyFileSync(path, good)
    damage(path, 'logs')

    const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode })
    const health: boolean[] = []
    const change = Promise.withResolvers<void>()
    const writer = new LogWriter({
      store,
      clock: systemClock,
      sequence: new LogSequence(Date.now),
      rowsWaitingMax: 100,
      onHealth(healthy) {
        health.push(healthy)
        if (healthy) change.resolve()
      },
    })
    const record = () => writer.append(runRecord({ executionId: newExecutionId(), workflowId, workspaceId }))
    expect(await rejectionOf(record())).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringContaining('millrace doctor'),
    })
    for (let n = 0; n < 5; n += 1) expect(await store.probe()).toBe(false)
    expect(health).toEqual([false])

    overwrite(path, good)
    await change.promise
    await record()
    await writer.stop()
    expect(health).toEqual([false, true])
    expect(await store.queryLogs(logQuery(workspaceId))).toMatchObject({ count: 1 })
    await store.close()
  },
)
