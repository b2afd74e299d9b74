import { expect, test } from 'bun:test'
import { PostgresServer } from '../../support/store/postgres.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'
import { Callers } from './callers.ts'

test('while PostgreSQL is killed and started again, callers get 503, and no acknowledged run is missing', async () => {
  await using server = await PostgresServer.start({ isDurable: true })
  await using callers = await Callers.start(await server.createDatabase())
  for (let kills = 1; kills <= 3; kills += 1) {
    await callers.acknowledge(50)
    await server.kill()
    await callers.refuse(20)
    await server.run()
  }
  await callers.acknowledge(50)
  await callers.expectNothingLost()
}, 120_000)

test('while PostgreSQL hangs, callers get 503 within 2 seconds, and no acknowledged run is missing', async () => {
  await using server = await PostgresServer.start({ isDurable: true })
  await using callers = await Callers.start(await server.createDatabase())
  await callers.acknowledge(50)
  server.suspend()
  const endAt = Date.now() + 20_000
  const healths: { status: number; tookMs: number }[] = []
  while (Date.now() < endAt) {
    healths.push(await callers.ready())
    await Bun.sleep(500)
  }
  expect(callers.refused.length).toBeGreaterThan(20)
  expect(new Set(healths.map(({ status }) => status))).toEqual(new Set([503]))
  expect(Math.max(...healths.map(({ tookMs }) => tookMs))).toBeLessThan(2_000)
  server.resume()
  await callers.acknowledge(50)
  expect((await callers.ready()).status).toBe(200)
  await callers.expectNothingLost()
}, 120_000)

test('while the connections to PostgreSQL are cut each second, no acknowledged run is missing', async () => {
  await using server = await PostgresServer.start({ isDurable: true })
  const store = await server.createDatabase()
  await using callers = await Callers.start(store)
  for (let cuts = 1; cuts <= 6; cuts += 1) {
    await callers.acknowledge(20)
    await Bun.sleep(1_000)
    await queryPostgres(
      store,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
  }
  await callers.acknowledge(50)
  await callers.expectNothingLost()
}, 120_000)
