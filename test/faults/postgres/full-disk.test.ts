import { expect, test } from 'bun:test'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PostgresServer } from '../../support/store/postgres.ts'
import { smallDisk } from '../../support/store/small-disk.ts'
import { Callers } from './callers.ts'

// The tests mount a small file system, which needs root. Without it, they fail and say why.

/** Leaves so much space free. Returns what frees the rest again. */
function fill(disk: string, freeBytes: number): () => void {
  const ballast = join(disk, 'ballast')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(ballast, new Uint8Array(bavail * bsize - freeBytes))
  return () => rmSync(ballast)
}

const megabyte = 1_048_576

test('while the disk with the tables of PostgreSQL is full, callers get 503, and no acknowledged run is missing', async () => {
  using disk = smallDisk('160m')
  await using server = await PostgresServer.start({ isDurable: true, disk: disk.path, isWalElsewhere: true })
  await using callers = await Callers.start(await server.createDatabase(), { outputChars: 20_000 })
  await callers.acknowledge(50)
  const empty = fill(disk.path, 4 * megabyte)
  await callers.refuse(50)
  expect(callers.service.errors()).toContain('The disk of the PostgreSQL server is full')
  empty()
  await callers.acknowledge(50)
  expect((await callers.ready()).status).toBe(200)
  await callers.expectNothingLost()
}, 120_000)

test('after the whole disk of PostgreSQL was full and the server went down, no acknowledged run is missing', async () => {
  using disk = smallDisk('200m')
  await using server = await PostgresServer.start({ isDurable: true, disk: disk.path })
  await using callers = await Callers.start(await server.createDatabase(), { outputChars: 20_000 })
  await callers.acknowledge(50)
  // The tables have room for as much as a segment of the write-ahead log holds. The next segment, of 16 MB, has none:
  // then the server goes down.
  const empty = fill(disk.path, 15 * megabyte)
  while (server.isRunning) await callers.refuse(10)
  await callers.refuse(50)
  expect((await callers.ready()).status).toBe(503)
  empty()
  // PostgreSQL cannot recover on a full disk, so it exits. A service manager starts it again.
  await server.run()
  await callers.acknowledge(50)
  await callers.expectNothingLost()
}, 120_000)
