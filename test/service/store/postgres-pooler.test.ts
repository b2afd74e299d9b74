import { expect, test } from 'bun:test'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { install, logRow } from '../../support/store/installed.ts'
import { logQuery } from '../../support/store/log-model.ts'
import { PgBouncer } from '../../support/store/pgbouncer.ts'
import { PostgresServer } from '../../support/store/postgres.ts'

test('the store works behind PgBouncer in transaction mode', async () => {
  await using server = await PostgresServer.start()
  await using pooler = await PgBouncer.start(server)
  const store = await openPostgresStore({ url: `${pooler.url(await server.createDatabase())}?prepare=false` })
  try {
    const home = await install(store)
    const sequences = Array.from({ length: 60 }, (_, index) => index + 1)
    await Promise.all(sequences.map((sequence) => appendLogs(store, [logRow(home, sequence)])))
    const { count } = await store.queryLogs(logQuery(home.workspaceId, { limit: 100 }))
    expect(count).toBe(60)
    const names = Array.from({ length: 10 }, (_, index) => `NAME_${index}`)
    const variable = { workspaceId: home.workspaceId, sealed: new Uint8Array(9), plain: true, at: 1 }
    await Promise.all(names.map((name) => store.setVariable({ ...variable, name })))
    expect((await store.listEnvironment(home.workspaceId)).map(({ name }) => name)).toEqual(names)
  } finally {
    await store.close()
  }
}, 60_000)
