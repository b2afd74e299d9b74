import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../src/domain/clock.ts'
import { LogSequence, newExecutionId } from '../../../src/domain/ids.ts'
import { LogWriter } from '../../../src/events/writer.ts'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { runRecord, span } from '../../support/events/run-record.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { programPath, tracerPath } from '../../support/programs.ts'
import { recordedIn, startAppending } from '../../support/store/appending-process.ts'
import { install } from '../../support/store/installed.ts'
import { rejectionOf } from '../../support/store/rejection.ts'
import { smallDisk } from '../../support/store/small-disk.ts'

describe('a full disk', () => {
  test.each(['workers', 'direct'] as const)(
    'refuses runs, still reads, and accepts runs again when there is space (%s)',
    async (mode) => {
      using disk = smallDisk('80m')
      const folder = join(disk.path, 'data')
      const store = await openSqliteStore({ directory: folder, sync: 'full', mode })
      const { workflowId, workspaceId } = await install(store)
      const health: boolean[] = []
      let change = Promise.withResolvers<void>()
      const writer = new LogWriter({
        store,
        clock: systemClock,
        sequence: new LogSequence(Date.now),
        rowsWaitingMax: 1_000,
        onHealth: (healthy) => {
          health.push(healthy)
          change.resolve()
          change = Promise.withResolvers()
        },
      })
      const acknowledged = new Set<string>()
      const record = async () => {
        const executionId = newExecutionId()
        // Random bytes, which cannot be compressed.
        const output = crypto.getRandomValues(new Uint8Array(20_000)).toBase64()
        await writer.append(runRecord({ executionId, workflowId, workspaceId, output, root: span({ output }) }))
        acknowledged.add(executionId)
      }

      await record()
      const ballast = join(disk.path, 'ballast')
      writeFileSync(ballast, new Uint8Array(68_000_000))
      let refusal: unknown
      for (let n = 0; n < 1_000 && refusal === undefined; n += 1) {
        const outcomes = await Promise.allSettled(Array.from({ length: n % 7 }, record))
        refusal = outcomes.find((outcome) => outcome.status === 'rejected')?.reason
      }
      expect(refusal).toMatchObject({ code: 'STORAGE_UNAVAILABLE', retryAfterS: 1 })
      expect((refusal as Error).message).toContain('full')
      expect(writer.healthy).toBe(false)
      expect(await rejectionOf(record())).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
      // Larger than the free space of the disk. The WAL may still have room for smaller writes.
      const document = { name: 'y'.repeat(20_000_000), blocks: {}, edges: [] }
      const other = store.createWorkflow({ id: null, workspaceId, document, at: 1 })
      expect(await rejectionOf(other)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
      expect(await recordedIn(store)).toEqual(acknowledged)

      rmSync(ballast)
      while (!writer.healthy) await change.promise
      await record()
      await writer.stop()
      expect(health).toEqual([false, true])
      expect(await recordedIn(store)).toEqual(acknowledged)
      await store.close()
      expect(integrityOf(folder)).toBe('ok')
    },
    120_000,
  )
})

describe('a disk that fails to flush', () => {
  test.each(['workers', 'direct'] as const)(
    'loses no acknowledged run, records no refused one, and recovers when flushing works again (%s)',
    async (mode) => {
      using folder = temporaryFolder()
      // In each thread, the flushes 40 to 52 fail: first those of commits, then those of the attempts to recover.
      const inject = 'inject=fsync,fdatasync:error=EIO:when=40..52'
      const traced = ['-e', 'trace=fsync,fdatasync', '-e', 'signal=none', '-o', '/dev/null']
      const under = [tracerPath(), '-f', '-qq', ...traced, '-e', inject]
      const child = startAppending({ directory: folder.path, mode, wanted: 1_000_000, atOnce: 6, under })
      await child.until(() => child.health.includes('!true'))
      const recoveredAt = child.acknowledged.size
      await child.until(() => child.acknowledged.size > recoveredAt + 20)
      // strace does not forward signals, so the test signals its only child.
      Bun.spawnSync([programPath('pkill'), '-KILL', '-P', `${child.pid}`])
      await child.exited

      expect(child.health[0]).toBe('!false')
      expect(new Set(child.refused.values())).toEqual(new Set(['STORAGE_UNAVAILABLE']))
      const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
      const recorded = await recordedIn(store)
      await store.close()
      expect([...child.acknowledged].filter((id) => !recorded.has(id))).toEqual([])
      expect([...child.refused.keys()].filter((id) => recorded.has(id))).toEqual([])
      expect(integrityOf(folder.path)).toBe('ok')
    },
    120_000,
  )
})

function integrityOf(directory: string): unknown {
  const database = new Database(databasePath(directory), { readonly: true })
  const row = database.query('PRAGMA integrity_check').get() as { integrity_check: string }
  database.close()
  return row.integrity_check
}
