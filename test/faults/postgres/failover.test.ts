import { expect, test } from 'bun:test'
import { PostgresServer } from '../../support/store/postgres.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'
import { Callers } from './callers.ts'

/** Resolves when the primary waits with each commit until the standby server has it. */
async function confirmCommits(primary: PostgresServer, name: string): Promise<void> {
  const url = primary.url('postgres')
  await queryPostgres(url, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
  await queryPostgres(url, 'SELECT pg_reload_conf()')
  const text = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
  while ((await queryPostgres(url, text)).length === 0) await Bun.sleep(50)
}

/** The address of a database on both servers. */
function addressOf(database: string, servers: readonly PostgresServer[]): string {
  return `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}${new URL(database).pathname}`
}

test('when the primary is killed and the standby server is promoted, the service continues there, and no acknowledged run is missing', async () => {
  await using primary = await PostgresServer.start({ isDurable: true })
  await using standby = await PostgresServer.standbyOf(primary, 'second')
  const store = addressOf(await primary.createDatabase(), [standby, primary])
  await confirmCommits(primary, 'second')
  await using callers = await Callers.start(store)
  await callers.acknowledge(100)
  await primary.kill()
  await callers.refuse(20)
  standby.promote()
  const promotedAt = Date.now()
  await callers.acknowledge(1)
  // A bound for callers, not a measurement.
  expect(Date.now() - promotedAt).toBeLessThan(10_000)
  await callers.acknowledge(50)
  expect((await callers.ready()).status).toBe(200)
  await callers.expectNothingLost()
}, 120_000)

test('when the primary hangs and the standby server is promoted, the service continues there, and no acknowledged run is missing', async () => {
  await using primary = await PostgresServer.start({ isDurable: true })
  await using standby = await PostgresServer.standbyOf(primary, 'second')
  const store = addressOf(await primary.createDatabase(), [primary, standby])
  await confirmCommits(primary, 'second')
  await using callers = await Callers.start(store)
  await callers.acknowledge(100)
  primary.suspend()
  await callers.refuse(20)
  standby.promote()
  await callers.acknowledge(50)
  await callers.expectNothingLost()
}, 120_000)
