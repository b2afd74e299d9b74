import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { takeLock } from '../../../src/store/lock.ts'
import { notMovedFromPostgres, notMovedFromSqlite } from '../../../src/store/move/not-moved.ts'
import { movedTables } from '../../../src/store/move/tables.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { logColumns } from '../../../src/store/sqlite/move/log-reader.ts'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { fillInstallation } from '../../support/store/full-installation.ts'
import { move, moveUntil, openPlace, withSource, withStore, withTarget } from '../../support/store/moving.ts'
import { dumpStore } from '../../support/store/port-dump.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

const server = postgresServer()

const says = (text: string) => ({ code: 'CONFLICT', message: expect.stringContaining(text) })
const clock = new ManualClock(Date.now())
const serves = () => ({ version: '1', url: 'http://127.0.0.1:1', usesFolder: false, clock })
const fill = (place: string, entries?: number) => withStore(place, (store) => fillInstallation(store, entries))

describe('a move that was interrupted', () => {
  test('continues, in both directions, and no service starts on its target before', async () => {
    using folder = temporaryFolder()
    const [first, back] = [join(folder.path, 'first'), join(folder.path, 'back')]
    const url = await server().createDatabase()
    await fill(first, 5_000)
    for (const [from, to] of [
      [first, url],
      [url, back],
    ] as const) {
      await moveUntil('copy', from, to)
      expect(await rejectionOf(openPlace(to))).toMatchObject({ message: expect.stringContaining('unfinished move') })
      expect(await rejectionOf(withSource(to, async () => {}))).toMatchObject({
        message: expect.stringContaining('unfinished move'),
      })
      const begun: string[] = []
      let copied = 0
      const { different } = await move(from, to, {
        prepare: async (how) => void begun.push(how),
        onProgress({ kind, table, rows }) {
          if (kind === 'copy' && table === 'logs' && copied === 0) copied = rows
        },
      })
      expect({ different, begun }).toEqual({ different: [], begun: ['continued'] })
      expect(copied).toBeGreaterThan(0)
    }
    expect(await withStore(back, dumpStore)).toEqual(await withStore(url, dumpStore))
  }, 120_000)

  test('begins again when the source has changed since', async () => {
    using folder = temporaryFolder()
    const url = await server().createDatabase()
    const { userId } = await fill(folder.path, 5_000)
    await moveUntil('copy', folder.path, url)
    await withStore(folder.path, (store) => store.setEmail(userId, 'new@example.org'))
    const begun: string[] = []
    const { different } = await move(folder.path, url, { prepare: async (how) => void begun.push(how) })
    expect({ different, begun }).toEqual({ different: [], begun: ['source changed'] })
    expect(await withStore(url, (store) => store.findUser(userId))).toMatchObject({ email: 'new@example.org' })
  }, 60_000)

  test('is not continued with another installation', async () => {
    using folder = temporaryFolder()
    const [one, other] = [join(folder.path, 'one'), join(folder.path, 'other')]
    const url = await server().createDatabase()
    await fill(one, 5_000)
    await fill(other)
    await moveUntil('copy', one, url)
    expect(await rejectionOf(move(other, url))).toMatchObject(says('an unfinished move of another installation'))
    expect((await move(one, url)).different).toEqual([])
  }, 60_000)

  test('reports rows that differ in the target, and begins again with the next call', async () => {
    using folder = temporaryFolder()
    const [first, back] = [join(folder.path, 'first'), join(folder.path, 'back')]
    const url = await server().createDatabase()
    await fill(first)
    await moveUntil('compare', first, url)
    await queryPostgres(url, "UPDATE millrace.logs SET final_output = '{}' WHERE level = 1")
    await queryPostgres(url, 'DELETE FROM millrace.keys WHERE revoked_at IS NOT NULL')
    expect(await differencesOf(first, url)).toEqual([
      ['keys', 3, 2],
      ['logs', 41, 41],
    ])
    expect(await rejectionOf(openPlace(url))).toMatchObject({ message: expect.stringContaining('unfinished move') })
    const begun: string[] = []
    const { different } = await move(first, url, { prepare: async (how) => void begun.push(how) })
    expect({ different, begun }).toEqual({ different: [], begun: ['rows differed'] })

    await moveUntil('compare', url, back)
    change(back, 'UPDATE deliveries SET attempts = attempts + 1 WHERE state = 2')
    expect(await differencesOf(url, back)).toEqual([['deliveries', 14, 14]])
    expect((await move(url, back)).different).toEqual([])
  }, 60_000)
})

const differencesOf = async (from: string, to: string) =>
  (await move(from, to)).different.map(({ table, source, target }) => [table, source.rows, target.rows])

function change(folder: string, text: string): void {
  const database = new Database(databasePath(folder))
  database.run(text)
  database.close()
}

describe('a move is refused', () => {
  test('while a service runs on either side, and keeps services away while it runs', async () => {
    using folder = temporaryFolder()
    const [data, other] = [join(folder.path, 'data'), join(folder.path, 'other')]
    const [url, used] = [await server().createDatabase(), await server().createDatabase()]
    await fill(data)
    await fill(used)
    const lock = takeLock(data)
    expect(await rejectionOf(move(data, url))).toMatchObject(says(`A service runs on ${data}`))
    lock.release()
    const inFolder = takeLock(other)
    expect(await rejectionOf(move(data, other))).toMatchObject(says(`A service runs on ${other}`))
    inFolder.release()
    const register = `INSERT INTO millrace.processes (id, slot, host, place, pid, pid_start, version, url, uses_folder, lease_until)
      VALUES ('p', 1, 'elsewhere', 'there', 7, '', '1', '', false, now() + interval '1 minute')`
    await queryPostgres(used, register)
    expect(await rejectionOf(move(used, other))).toMatchObject(says('process 7 on elsewhere'))
    await (await openPostgresStore({ url })).close()
    await queryPostgres(url, register)
    expect(await rejectionOf(move(data, url))).toMatchObject(says('process 7 on elsewhere'))
    await queryPostgres(url, 'DELETE FROM millrace.processes')
    await queryPostgres(used, 'DELETE FROM millrace.processes')
    await withSource(used, async () => {
      expect(await rejectionOf(openPostgresStore({ url: used, serves: serves() }))).toMatchObject(says('millrace move'))
      expect(await rejectionOf(withSource(used, async () => {}))).toMatchObject(says('millrace move'))
    })
    await withTarget(url, async () => {
      expect(await rejectionOf(openPostgresStore({ url, serves: serves() }))).toMatchObject(says('millrace move'))
    })
    await (await openPostgresStore({ url: used, serves: serves() })).close()
  }, 60_000)

  test('when the target holds an installation, or the source none', async () => {
    using folder = temporaryFolder()
    const [data, other] = [join(folder.path, 'data'), join(folder.path, 'other')]
    const [url, empty] = [await server().createDatabase(), await server().createDatabase()]
    await fill(data)
    await fill(url)
    await fill(other)
    const before = await withStore(url, dumpStore)
    expect(await rejectionOf(move(data, url))).toMatchObject(says('already holds an installation'))
    expect(await rejectionOf(move(url, data))).toMatchObject(says('already holds an installation'))
    expect(await rejectionOf(move(data, other))).toMatchObject(says('already holds an installation'))
    expect(await withStore(url, dumpStore)).toEqual(before)
    expect(await rejectionOf(move(empty, join(folder.path, 'new')))).toMatchObject(says('no installation'))
    expect(await rejectionOf(move(join(folder.path, 'none'), empty))).toMatchObject(says('no installation'))
  }, 60_000)

  test('when another version of the schema is in the source', async () => {
    using folder = temporaryFolder()
    const [data, next] = [join(folder.path, 'data'), join(folder.path, 'next')]
    const [url, empty] = [await server().createDatabase(), await server().createDatabase()]
    await fill(data)
    await fill(url)
    const version = await withStore(data, async () => schemaVersion(data))
    change(data, `PRAGMA user_version = ${version - 1}`)
    expect(await rejectionOf(move(data, empty))).toMatchObject(says('an earlier version'))
    change(data, `PRAGMA user_version = ${version + 1}`)
    expect(await rejectionOf(move(data, empty))).toMatchObject(says('a newer version'))
    await queryPostgres(url, 'INSERT INTO millrace.migrations (number, applied_at) VALUES (99, now())')
    expect(await rejectionOf(move(url, next))).toMatchObject(says('A newer version'))
  }, 60_000)
})

function schemaVersion(folder: string): number {
  const database = new Database(databasePath(folder), { readonly: true })
  const { user_version: version } = database.query('PRAGMA user_version').get() as { user_version: number }
  database.close()
  return version
}

test('a damaged chunk of the source ends the move with the entries that it contains', async () => {
  using folder = temporaryFolder()
  const url = await server().createDatabase()
  await fill(folder.path, 5_000)
  change(
    folder.path,
    "UPDATE log_chunks SET content = x'00112233' WHERE rowid = (SELECT max(rowid) FROM log_chunks WHERE encoding = 1)",
  )
  expect(await rejectionOf(move(folder.path, url))).toMatchObject(says('are damaged'))
}, 60_000)

describe('every table and column', () => {
  const moved = new Map(movedTables.map(({ name, columns }) => [name, Object.keys(columns)]))

  test('of SQLite is moved, or listed as not moved', async () => {
    using folder = temporaryFolder()
    await withStore(folder.path, async () => undefined)
    const database = new Database(databasePath(folder.path), { readonly: true })
    const select = `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m, pragma_table_xinfo(m.name) c
      WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`
    const found = database.query(select).all() as { table: string; column: string }[]
    database.close()
    const known = new Map<string, readonly string[]>([...moved, ...Object.entries(logColumns)])
    expect(missing(found, known, notMovedFromSqlite)).toEqual([])
    // SQLite numbers these rows itself, and finds the sequence of an output by its run.
    const numbered = ['users.number', 'deployments.number', 'drafts.number', 'job_outputs.sequence']
    expect(surplus(found, known)).toEqual(numbered)
  })

  test('of PostgreSQL is moved, or listed as not moved', async () => {
    const url = await server().createDatabase()
    await (await openPostgresStore({ url })).close()
    const select = `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
      WHERE table_schema = 'millrace' AND table_name !~ '^logs_[0-9]{8}$'`
    const found = await queryPostgres<{ table: string; column: string }>(url, select)
    expect(missing(found, moved, notMovedFromPostgres)).toEqual([])
    expect(surplus(found, moved)).toEqual([])
  })
})

type Column = { table: string; column: string }

const missing = (
  found: readonly Column[],
  known: ReadonlyMap<string, readonly string[]>,
  left: Readonly<Record<string, string>>,
) =>
  found
    .filter(
      ({ table, column }) => !(known.get(table)?.includes(column) || table in left || `${table}.${column}` in left),
    )
    .map(({ table, column }) => `${table}.${column}`)

/** Columns that a move would look for in vain. */
const surplus = (found: readonly Column[], known: ReadonlyMap<string, readonly string[]>) =>
  [...known].flatMap(([table, columns]) =>
    columns
      .filter((column) => !found.some((each) => each.table === table && each.column === column))
      .map((column) => `${table}.${column}`),
  )
