import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { storeContract } from '../../support/store/contract/contract.ts'

const sync = 'normal'

storeContract('SQLite in the same thread', (directory) => openSqliteStore({ directory, sync, mode: 'direct' }))

storeContract('SQLite in threads of its own', (directory) => openSqliteStore({ directory, sync, mode: 'workers' }))
