import { storeContract } from '../../support/store/contract/contract.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { postgresStores } from '../../support/store/postgres-store.ts'

const server = postgresServer()

storeContract('PostgreSQL', postgresStores(server))
