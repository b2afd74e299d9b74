import { Database } from 'bun:sqlite'
import { generateKey } from '../../../src/accounts/keys.ts'
import type { Role } from '../../../src/domain/account/role.ts'
import { newId } from '../../../src/domain/ids.ts'
import type { NewKey } from '../../../src/store/account-store.ts'
import { databasePath } from '../../../src/store/sqlite/open.ts'

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

  addUser(userId = newId()): string {
    this.#run('INSERT INTO users (id, email, created_at) VALUES (?, ?, 0)', userId, `${userId}@example.com`)
    return userId
  }

  addWorkspace(ownerId: string, id = newId()): string {
    this.#run("INSERT INTO workspaces (id, name, owner_id, created_at) VALUES (?, 'Other', ?, 0)", id, ownerId)
    this.addMember(ownerId, id, 'owner')
    return id
  }

  addMember(userId: string, workspaceId: string, role: Role): void {
    const insert = 'INSERT INTO members (user_id, workspace, role) SELECT ?, number, ? FROM workspaces WHERE id = ?'
    this.#run(insert, userId, role, workspaceId)
  }

  #run(sql: string, ...values: string[]): void {
    const database = new Database(databasePath(this.#directory))
    try {
      database.run(sql, values)
    } finally {
      database.close()
    }
  }
}
