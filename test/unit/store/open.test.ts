import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../src/domain/errors.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { queryLogs } from '../../../src/store/sqlite/logs/log-page.ts'
import { migrate, migrations, schemaVersionOf } from '../../../src/store/sqlite/migrations/migrations.ts'
import { databasePath, openConnection } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import {
  measureDeliveries,
  nextDeliveries,
  pendingSubscriptions,
  sendAgain,
} from '../../../src/store/sqlite/writes/deliveries.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { install } from '../../support/store/installed.ts'
import { entriesOf, logFilter, logQuery } from '../../support/store/log-model.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

const refusal = (directory: string, mode: 'direct' | 'workers') =>
  rejectionOf(openSqliteStore({ directory, sync: 'full', mode }))

describe.each(['direct', 'workers'] as const)('opening (%s) refuses, with an explanation,', (mode) => {
  test('a database of a newer version', async () => {
    using folder = temporaryFolder()
    const connection = openConnection({ path: databasePath(folder.path), sync: 'full' })
    connection.script(`PRAGMA user_version = ${migrations.length + 1}`)
    connection.close()
    const error = await refusal(folder.path, mode)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect((error as AppError).message).toContain(
      `written by a newer Millrace (schema ${migrations.length + 1}; this one knows up to ${migrations.length})`,
    )
  })

  test('the database of another program', async () => {
    using folder = temporaryFolder()
    const other = new Database(databasePath(folder.path))
    other.run('CREATE TABLE theirs (id)')
    other.close()
    expect(((await refusal(folder.path, mode)) as AppError).message).toContain('the database of another program')
  })

  test('a file that is not a database', async () => {
    using folder = temporaryFolder()
    writeFileSync(databasePath(folder.path), 'Dear diary, '.repeat(1_000))
    const error = await refusal(folder.path, mode)
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect((error as AppError).message).toContain('is not a database')
  })

  test.each([
    ['a directory that is a file', 'data'],
    ['a directory inside a file', 'data/millrace'],
  ])('%s', async (_, name) => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, 'data'), '')
    const error = await refusal(join(folder.path, name), mode)
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    expect((error as AppError).message).toContain(`The folder ${join(folder.path, name)} cannot be created: E`)
  })
})

describe('a new database', () => {
  test('is readable only by its owner, can shrink, and flushes according to its setting', () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'new', 'data', 'millrace.db')
    const full = openConnection({ path, sync: 'full' })
    const normal = openConnection({ path, sync: 'normal' })
    const pragma = (connection: Connection, name: string) => Object.values(connection.get(`PRAGMA ${name}`) ?? {})[0]
    expect(pragma(full, 'auto_vacuum')).toBe(2)
    expect(pragma(full, 'journal_mode')).toBe('wal')
    expect([pragma(full, 'synchronous'), pragma(normal, 'synchronous')]).toEqual([2, 1])
    full.write(() => full.run('DELETE FROM probes'))
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
    full.close()
    normal.close()
  })
})

test('a damaged file is reported as damaged, with advice', async () => {
  using folder = temporaryFolder()
  const path = databasePath(folder.path)
  const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
  await install(store)
  await store.close()
  const connection = openConnection({ path, sync: 'full' })
  const pages = connection.all<{ pageno: number }>("SELECT pageno FROM dbstat WHERE name = 'keys'")
  connection.close()
  const bytes = readFileSync(path)
  for (const { pageno } of pages) bytes.fill(0x5a, (pageno - 1) * 4096, pageno * 4096)
  writeFileSync(path, bytes)
  const damaged = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
  const error = await rejectionOf(damaged.listKeys())
  expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  expect((error as AppError).message).toContain('is damaged')
  expect((error as AppError).message).toContain('millrace doctor')
  expect(await damaged.isInitialised()).toBe(true)
  await damaged.close()
})

describe('migrations', () => {
  const first = 'CREATE TABLE a (x); INSERT INTO a VALUES (1);'
  const second = 'ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1;'

  test('each run once, in order, on any earlier version', () => {
    using folder = temporaryFolder()
    const connection = new Connection(join(folder.path, 'x.db'))
    migrate(connection, [first])
    migrate(connection, [first, second])
    migrate(connection, [first, second])
    expect(connection.all<{ x: number; y: number }>('SELECT x, y FROM a')).toEqual([{ x: 1, y: 2 }])
    expect(schemaVersionOf(connection)).toBe(2)
    connection.close()
  })

  test('leave nothing behind when one fails', () => {
    using folder = temporaryFolder()
    const connection = new Connection(join(folder.path, 'x.db'))
    expect(() => migrate(connection, [first, 'CREATE TABLE b (x); CREATE TABLE a (x);'])).toThrow('already exists')
    expect(schemaVersionOf(connection)).toBe(1)
    expect(connection.all('SELECT name FROM sqlite_schema')).toEqual([{ name: 'a' }])
    connection.close()
  })

  test('keep pending deliveries from the time before fan-out records', () => {
    using folder = temporaryFolder()
    const connection = new Connection(join(folder.path, 'x.db'))
    migrate(connection, migrations.slice(0, 1))
    const insert = `
      INSERT INTO deliveries (sequence, subscription, workflow, include, state, attempts, attempts_before, due_at)
      VALUES (5, 7, 1, 0, 0, 2, 0, 99), (5, 8, 1, 0, 1, 1, 0, NULL)`
    connection.run(insert)
    migrate(connection)
    const due = [{ sequence: 5, subscription: 7, include: 0, attempts: 2, attemptsBefore: 0, dueAt: 99 }]
    expect(nextDeliveries(connection, 7, null, 9)).toEqual(due)
    expect(pendingSubscriptions(connection)).toEqual([7])
    expect(measureDeliveries(connection)).toEqual({ pending: 1, oldestDueAt: 99 })
    expect(sendAgain(connection, { sequence: 5, subscription: 8 }, 50)).toBe(true)
    expect(pendingSubscriptions(connection)).toEqual([7, 8])
    connection.close()
  })

  test('keep log entries from the time before run facts, with the status that their level says', () => {
    using folder = temporaryFolder()
    const connection = new Connection(join(folder.path, 'x.db'))
    migrate(connection, migrations.slice(0, 2))
    connection.script(`
      INSERT INTO users (id, email, created_at) VALUES ('u', 'a@example.org', 1);
      INSERT INTO workspaces (number, id, name, owner_id, created_at) VALUES (1, 'home', 'Home', 'u', 1);
      INSERT INTO workflows (number, id, workspace, name, document, created_at, updated_at)
        VALUES (1, 'w', 1, 'Orders', '{}', 1, 1);
      INSERT INTO logs (workspace, sequence, workflow, execution_id, version, level, trigger, started_at, ended_at,
        duration_ms, cost_total, models) VALUES (1, 1, 1, 'a', 4, 0, 0, 1, 2, 1, 0, 0), (1, 2, 1, 'b', -1, 1, 3, 1, 2, 1, 0, 0);
      INSERT INTO log_zones VALUES (1, 1, 2, 2, 3, 9, 1, 1, 1, 1, 0, 0)`)
    migrate(connection)
    const entries = (filter: Parameters<typeof logFilter>[0]) =>
      entriesOf(queryLogs(connection, logQuery('home', { filter: logFilter(filter) }))).map(
        ({ executionId, version, status, partial, labels }) => ({ executionId, version, status, partial, labels }),
      )
    const facts = { partial: false, labels: {} }
    const failed = { executionId: 'b', version: null, status: 'error', ...facts }
    expect(entries({})).toEqual([{ executionId: 'a', version: 4, status: 'success', ...facts }, failed])
    expect(entries({ statuses: ['error'] })).toEqual([failed])
    expect(entries({ statuses: ['cancelled'] })).toEqual([])
    expect(entries({ search: 'ORDERS' })).toHaveLength(2)
    expect(entries({ labels: [['a', 'b']] })).toEqual([])
    connection.close()
  })
})
