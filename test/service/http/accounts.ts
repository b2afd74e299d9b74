import { Database } from 'bun:sqlite'
import { generateKey } from '../../../src/accounts/keys.ts'
import type { Role } from '../../../src/domain/account/role.ts'
import { newId } from '../../../src/domain/ids.ts'
import type { NewKey } from '../../../src/store/account-store.ts'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'
import { storeSettings } from '../../support/store/test-store.ts'

/** A new key: its text, and the row that the store keeps. */
export function newKey(more: Partial<NewKey> = {}): { text: string; row: NewKey } {
  const { text, hash, lastFour } = generateKey()
  const at = { createdAt: Date.now(), expiresAt: null }
  return { text, row: { id: newId(), hash, lastFour, name: 'test', userId: '', workspaceId: null, ...at, ...more } }
}

/** Changes a store directly: creates accounts without a workspace, which the port never does. */
export class Accounts {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async addUser(userId = newId()): Promise<string> {
    await this.#run('INSERT INTO users (id, email, created_at) VALUES ($1, $2, 0)', userId, `${userId}@example.com`)
    return userId
  }

  async addWorkspace(ownerId: string, id = newId()): Promise<string> {
    const insert = "INSERT INTO workspaces (id, name, owner_id, created_at) VALUES ($1, 'Other', $2, 0)"
    await this.#run(insert, id, ownerId)
    await this.addMember(ownerId, id, 'owner')
    return id
  }

  async addMember(userId: string, workspaceId: string, role: Role): Promise<void> {
    const insert = 'INSERT INTO members (user_id, workspace, role) SELECT $1, number, $2 FROM workspaces WHERE id = $3'
    await this.#run(insert, userId, role, workspaceId)
  }

  /** `text` is for both kinds of database. */
  async #run(text: string, ...values: string[]): Promise<void> {
    const { MILLRACE_STORE: store } = await storeSettings(this.#directory)
    if (store !== undefined) {
      await queryPostgres(store, text.replace(/(INTO|FROM) /g, '$1 millrace.'), values)
      return
    }
    const database = new Database(databasePath(this.#directory))
    try {
      database.run(text.replace(/\$/g, '?'), values)
    } finally {
      database.close()
    }
  }
}
