import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { logWrite } from '../../../src/domain/run/write.ts'
import { databasePath, openConnection } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { Thread } from '../../../src/store/sqlite/thread/thread.ts'
import { Checkpoints } from '../../../src/store/sqlite/upkeep/checkpoints.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { type Installed, install, logRow } from '../../support/store/installed.ts'

/** Threads on a real database, with a list of the calls to them. */
describe('checkpoints', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let home: Installed
  let writer: Thread
  let helper: Thread
  let checkpoints: Checkpoints
  let asked: string[]
  let sequence = 0

  beforeEach(async () => {
    folder = temporaryFolder()
    const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
    home = await install(store)
    await store.close()
    const options = { path: databasePath(folder.path), sync: 'normal', manualCheckpoints: true } as const
    writer = await Thread.start(options)
    helper = await Thread.start(options)
    asked = []
    checkpoints = new Checkpoints({
      writer: {
        compact: () => {
          asked.push('compact')
          return writer.compact()
        },
        checkpoint: async () => {
          const left = await writer.checkpoint()
          asked.push(`writer left ${sizeOf(left)}`)
          return left
        },
      },
      helper: async () => ({
        checkpoint: async () => {
          const left = await helper.checkpoint()
          asked.push(`helper left ${sizeOf(left)}`)
          return left
        },
      }),
      onFailure: () => asked.push('failure'),
    })
  })
  afterEach(async () => {
    await checkpoints.stop()
    await helper.close()
    await writer.close()
    folder[Symbol.dispose]()
  })

  const sizeOf = (left: number | undefined) => (left === 0 ? 'nothing' : 'some')
  const megabyte = 1_048_576
  /** Writes half a megabyte per commit. The compressed output takes three quarters of that. */
  const write = async (megabytes: number) => {
    for (let n = 0; n < megabytes * 2; n += 1) {
      sequence += 1
      const output = crypto
        .getRandomValues(new Uint8Array(megabyte / 2))
        .toBase64()
        .slice(0, megabyte / 2)
      const writes = [logWrite(logRow(home, sequence, { finalOutput: JSON.stringify(output) }))]
      await writer.call('append', [writes])
      checkpoints.count(writes)
    }
  }
  const sizes = () => {
    const path = databasePath(folder.path)
    return { database: statSync(path).size / megabyte, wal: statSync(`${path}-wal`).size / megabyte }
  }

  /** Waits for work that has begun. No further work begins while nothing is written. */
  const until = async (isOver: () => boolean) => {
    while (!isOver()) await Bun.sleep(1)
  }
  const writerIsDone = () => asked.some((each) => each.startsWith('writer'))

  test('start after some megabytes, run mostly outside the writer thread, and let the WAL be reused', async () => {
    await write(7)
    expect(asked).toEqual([])
    expect(sizes().database).toBeLessThan(1)
    while (asked.length === 0) await write(0.5)
    await until(writerIsDone)
    expect(asked).toEqual(['compact', 'helper left nothing', 'writer left nothing'])
    const { database, wal } = sizes()
    expect(database).toBeGreaterThan(6)
    await write(5)
    expect(sizes()).toEqual({ database, wal })
  })

  test('leave in the WAL what a reader needs, and do not occupy the writer thread meanwhile', async () => {
    const reader = openConnection({ path: databasePath(folder.path), sync: 'normal' })
    await write(1)
    reader.run('BEGIN')
    expect(reader.all('SELECT * FROM logs')).toHaveLength(2)
    await write(60)
    await until(() => asked.at(-1)?.startsWith('helper') ?? false)
    expect(asked.slice(0, 2)).toEqual(['compact', 'helper left some'])
    expect(writerIsDone()).toBe(false)
    expect(sizes().wal).toBeGreaterThan(40)
    expect(sizes().database).toBeLessThan(3)
    asked = []

    reader.run('COMMIT')
    reader.close()
    while (asked.length === 0) await write(0.5)
    await until(writerIsDone)
    expect(asked.slice(0, 2)).toEqual(['compact', 'helper left nothing'])
    expect(asked.at(-1)).toBe('writer left nothing')
    expect(sizes().database).toBeGreaterThan(50)
  }, 120_000)
})
