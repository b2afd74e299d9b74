import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sequenceAt } from '../../../src/domain/ids.ts'
import type { LogPage } from '../../../src/store/log-query.ts'
import { movedTables, type Row } from '../../../src/store/move/tables.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { document } from '../../support/make.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { fillInstallation, jobIds } from '../../support/store/full-installation.ts'
import { logRow } from '../../support/store/installed.ts'
import { entriesOf, logQuery } from '../../support/store/log-model.ts'
import { move, withSource, withStore } from '../../support/store/moving.ts'
import { PgBouncer } from '../../support/store/pgbouncer.ts'
import { dumpStore } from '../../support/store/port-dump.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'

const server = postgresServer()

describe('a move', () => {
  test('from SQLite to PostgreSQL and back copies rows of every kind', async () => {
    using folder = temporaryFolder()
    const [first, back] = [join(folder.path, 'first'), join(folder.path, 'back')]
    const url = await server().createDatabase()
    await withStore(first, (store) => fillInstallation(store, 400))
    const there = await move(first, url)
    expect(there.different).toEqual([])
    expect(Object.entries(there.tables).filter(([, rows]) => rows === 0)).toEqual([])
    const before = await withStore(first, portableDump)
    expect(await withStore(url, portableDump)).toEqual(before)
    expect(await move(url, back)).toEqual(there)
    expect(await withStore(back, portableDump)).toEqual(before)
    expect((await everything(back)).rows).toEqual((await everything(url)).rows)
    expect((await everything(back)).highest).toEqual((await everything(first)).highest)
  }, 120_000)

  test('from one PostgreSQL database to another keeps the order of commits', async () => {
    const [from, to] = [await server().createDatabase(), await server().createDatabase()]
    await withStore(from, (store) => fillInstallation(store))
    expect((await move(from, to)).different).toEqual([])
    const orders = 'SELECT sequence, commit_order FROM millrace.logs ORDER BY sequence'
    expect(await queryPostgres(to, orders)).toEqual(await queryPostgres(from, orders))
    expect(await withStore(to, dumpStore)).toEqual(await withStore(from, dumpStore))
  }, 60_000)

  test('works through PgBouncer in transaction mode, on both sides', async () => {
    await using pooler = await PgBouncer.start(server())
    const [from, to] = [await server().createDatabase(), await server().createDatabase()]
    await withStore(from, (store) => fillInstallation(store))
    const [source, target] = [from, to].map((url) => `${pooler.url(url)}?prepare=false`)
    expect((await move(source!, target!)).different).toEqual([])
    expect(await withStore(to, dumpStore)).toEqual(await withStore(from, dumpStore))
  }, 60_000)

  test('leaves out what belonged to entries that retention is deleting, except their stored files', async () => {
    using folder = temporaryFolder()
    const url = await server().createDatabase()
    const [first, back] = [join(folder.path, 'first'), join(folder.path, 'back')]
    await withStore(first, (store) => fillInstallation(store))
    await move(first, url)
    const before = await everything(url)
    await queryPostgres(url, 'ALTER TABLE millrace.logs DETACH PARTITION millrace.logs_20260117')
    expect((await move(url, back)).different).toEqual([])
    const after = await everything(back)
    const [from, to] = [Date.UTC(2026, 0, 17), Date.UTC(2026, 0, 18)].map(sequenceAt)
    const isGone = ([sequence]: Row) => (sequence as number) >= from! && (sequence as number) < to!
    for (const name of ['logs', 'deliveries', 'delivery_attempts', 'run_webhooks', 'job_outputs']) {
      expect(after.rows[name]).toEqual(before.rows[name]!.filter((row) => !isGone(row)))
    }
    const filesOf = ({ rows }: typeof before) => rows['run_files']!.filter(isGone).map((row) => row.slice(2))
    expect(filesOf(before).some(([folder]) => folder === null)).toBe(true)
    expect(filesOf(after)).toEqual(
      filesOf(before).flatMap(([folder, files]) => (folder === null ? [] : [[folder!, files!, true]])),
    )
  }, 60_000)
})

describe('after a move to PostgreSQL', () => {
  test('a job of a service that was killed is interrupted', async () => {
    using folder = temporaryFolder()
    const url = await server().createDatabase()
    const interrupted = await withStore(folder.path, async (store) => {
      await fillInstallation(store)
      await store.append([{ kind: 'job-start', executionId: jobIds[1], at: 1 }])
      return await store.getJob(jobIds[1])
    })
    await move(folder.path, url)
    const job = await withStore(url, (store) => store.getJob(jobIds[1]))
    expect(job).toEqual({ ...interrupted!, state: 'interrupted', interruptions: interrupted!.interruptions + 1 })
  }, 60_000)

  test('a reader of the log continues at its cursor, and sees new entries', async () => {
    using folder = temporaryFolder()
    const url = await server().createDatabase()
    const home = await withStore(folder.path, (store) => fillInstallation(store))
    const first = logQuery(home.workspaceId, { order: 'asc', limit: 7 })
    const { position } = await withStore(folder.path, (store) => store.queryLogs(first))
    const next = { ...first, limit: 100, after: position! }
    const expected = await withStore(folder.path, (store) => store.queryLogs(next))
    await move(folder.path, url)
    const clock = new ManualClock(Date.now())
    const serves = { version: '1', url: 'http://127.0.0.1:1', usesFolder: false, clock }
    const store = await openPostgresStore({ url, serves })
    const rest = await store.queryLogs(next)
    expect(idsOf(rest)).toEqual(idsOf(expected))
    await appendLogs(store, [logRow(home, (await store.lastSequence()) + 1)])
    expect(await store.queryLogs({ ...first, after: rest.position! })).toMatchObject({ count: 1 })
    await store.close()
  }, 60_000)

  test('new rows get numbers after the highest that was ever used', async () => {
    using folder = temporaryFolder()
    const url = await server().createDatabase()
    const { workspaceId } = await withStore(folder.path, (store) => fillInstallation(store))
    const { highest } = await everything(folder.path)
    await move(folder.path, url)
    // The highest number of the jobs belongs to one that has ended.
    expect(highest['jobs']).toBe(5)
    await withStore(url, (store) => store.createWorkflow({ id: null, workspaceId, document: document(empty), at: 1 }))
    const select = 'SELECT max(number)::integer AS number FROM millrace.workflows'
    expect(await queryPostgres<{ number: number }>(url, select)).toEqual([{ number: highest['workflows']! + 1 }])
    expect((await everything(url)).highest).toEqual({ ...highest, workflows: highest['workflows']! + 1 })
  }, 60_000)

  test('each day of the log has its partition', async () => {
    using folder = temporaryFolder()
    const url = await server().createDatabase()
    await withStore(folder.path, (store) => fillInstallation(store))
    await move(folder.path, url)
    const select = 'SELECT DISTINCT tableoid::regclass::text AS name FROM millrace.logs ORDER BY 1'
    const days = ['20260115', '20260116', '20260117', '20260118']
    expect(await queryPostgres<{ name: string }>(url, select)).toEqual(
      days.map((day) => ({ name: `millrace.logs_${day}` })),
    )
  }, 60_000)
})

const idsOf = (page: LogPage) => entriesOf(page).map(({ id }) => id)

const empty = { name: 'New', blocks: [] }

/** Every row that a move reads, and the highest numbers. */
const everything = (place: string) =>
  withSource(place, async (source) => {
    const rows: Record<string, Row[]> = {}
    for (const { name, columns, ...table } of movedTables) {
      const order = Object.values(columns).indexOf('order')
      const found: Row[] = []
      for await (const batch of source.rows({ name, columns, ...table })) found.push(...batch)
      rows[name] = found
        .map((row) => row.filter((_, index) => index !== order))
        .toSorted((one, other) => Bun.inspect(one).localeCompare(Bun.inspect(other)))
    }
    return { rows, highest: await source.highestNumbers() }
  })

/** The same for both stores: PostgreSQL replaces characters that it cannot store. */
const portableDump = async (store: Store): Promise<unknown> => portable(await dumpStore(store))

function portable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\0|\\u0000|\\ud800/g, '\ufffd').toWellFormed()
  if (Array.isArray(value)) return value.map(portable)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, portable(each)]))
}
