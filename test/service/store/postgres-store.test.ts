import { afterAll, beforeAll } from 'bun:test'
import { storeContract } from '../../support/store/contract/contract.ts'
import { PostgresServer } from '../../support/store/postgres.ts'
import { postgresStores } from '../../support/store/postgres-store.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
}, 60_000)
afterAll(async () => {
  await server[Symbol.asyncDispose]()
}, 60_000)

storeContract(
  'PostgreSQL',
  postgresStores(() => server),
)
