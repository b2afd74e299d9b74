import { expect, test } from 'bun:test'
import { AppError } from '../../../src/domain/errors.ts'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { Database } from '../../../src/store/postgres/connection.ts'
import { migrate } from '../../../src/store/postgres/migrations/migrations.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'

const server = postgresServer({ isDurable: true })

async function openDatabase(): Promise<{ database: Database; url: string }> {
  const url = await server().createDatabase()
  const database = new Database({ address: parseAddress(url), connectionsMax: 4 })
  await migrate(database)
  return { database, url }
}

/** Resolves with the error of a call that was given up, and how long the call took. */
async function givenUp(call: Promise<unknown>): Promise<{ message: string; tookMs: number }> {
  const startedAt = performance.now()
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(AppError)
  const { code, message } = error as AppError
  expect(code).toBe('STORAGE_UNAVAILABLE')
  return { message, tookMs: performance.now() - startedAt }
}

const count = (database: Database) => database.write((sql) => sql.run(countUp))
const countUp = "UPDATE millrace.marks SET value = value + 1 WHERE name = 'transactions'"

test('a call may take long while the server commits', async () => {
  const { database } = await openDatabase()
  await Promise.all([
    expect(database.get('SELECT 1 AS done FROM pg_sleep(3)')).resolves.toEqual({ done: 1 }),
    expect(database.write((sql) => sql.get('SELECT 1 AS done FROM pg_sleep(3)'))).resolves.toEqual({ done: 1 }),
  ])
  await database.close()
}, 20_000)

test('all calls to a server that hangs are given up within two seconds, and later ones work', async () => {
  const { database } = await openDatabase()
  const longCall = database.maintain(async (sql) => {
    for (;;) await sql.get('SELECT 1')
  })
  longCall.catch(() => undefined)
  server().suspend()
  // More than there are connections.
  const calls = Array.from({ length: 9 }, (_, index) => (index % 2 ? count(database) : database.get('SELECT 1')))
  const ends = await Promise.all([longCall, ...calls].map(givenUp))
  expect(await database.commits()).toBe(false)
  server().resume()
  expect(new Set(ends.map(({ message }) => message))).toEqual(
    new Set(['PostgreSQL does not answer. The service continues by itself.']),
  )
  expect(Math.max(...ends.map(({ tookMs }) => tookMs))).toBeLessThan(2_000)
  expect(await Promise.all([count(database), database.get('SELECT 1 AS one')])).toEqual([1, { one: 1 }])
  expect(await database.commits()).toBe(true)
  await database.close()
}, 20_000)

test('while a standby server must confirm commits and does not, reads work, writes are given up, and none of them keeps its connection', async () => {
  const { database, url } = await openDatabase()
  const configure = async (standby: string) => {
    await queryPostgres(server().url('postgres'), `ALTER SYSTEM SET synchronous_standby_names = '${standby}'`)
    await queryPostgres(server().url('postgres'), 'SELECT pg_reload_conf()')
    const text = "SELECT 1 FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = $1"
    while ((await queryPostgres(url, text, [standby])).length === 0) await Bun.sleep(20)
  }
  await configure('missing')
  try {
    const { tookMs } = await givenUp(count(database))
    expect(tookMs).toBeLessThan(2_000)
    expect(await database.get('SELECT 1 AS one')).toEqual({ one: 1 })
    expect(await database.commits()).toBe(false)
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    while ((await queryPostgres(url, waiting)).length > 0) await Bun.sleep(20)
  } finally {
    await configure('')
  }
  while (!(await database.commits())) await Bun.sleep(20)
  await database.close()
}, 20_000)

test('after a server became read-only, the next call connects again, because its address may lead to another one', async () => {
  const { database, url } = await openDatabase()
  await database.close()
  const setting = `${new URL(url).pathname.slice(1)} SET default_transaction_read_only`
  await queryPostgres(server().url('postgres'), `ALTER DATABASE ${setting} = on`)
  const moved = new Database({ address: parseAddress(url), connectionsMax: 1 })
  const { message } = await givenUp(count(moved))
  expect(message).toContain('The PostgreSQL server accepts no changes')
  await queryPostgres(server().url('postgres'), `ALTER DATABASE ${setting} = off`)
  expect(await count(moved)).toBe(1)
  await moved.close()
})

test('a process that is suspended in a transaction holds nothing up for long', async () => {
  const { database, url } = await openDatabase()
  const others = new Database({ address: parseAddress(url), connectionsMax: 1 })
  const locked = Promise.withResolvers<void>()
  const next = Promise.withResolvers<void>()
  const suspended = database.write(async (sql) => {
    await sql.run(countUp)
    locked.resolve()
    await next.promise
    await sql.run(countUp)
  })
  suspended.catch(() => undefined)
  await locked.promise
  expect(await count(others)).toBe(1)
  next.resolve()
  await givenUp(suspended)
  const [mark] = await queryPostgres<{ value: string }>(
    url,
    "SELECT value FROM millrace.marks WHERE name = 'transactions'",
  )
  expect(mark).toEqual({ value: '1' })
  await Promise.all([database.close(), others.close()])
}, 20_000)
