import type { LogRow } from '../../../src/domain/run/log.ts'
import { foldersOf } from '../../../src/domain/workflow/folders.ts'
import type { Connection } from '../../../src/store/sqlite/connection.ts'
import { openConnection } from '../../../src/store/sqlite/open.ts'
import { createInstallation } from '../../../src/store/sqlite/tables/installation.ts'
import { createWorkflow } from '../../../src/store/sqlite/tables/workflows.ts'
import { appendLogs } from '../../../src/store/sqlite/writes/logs.ts'
import { type Installed, logRow, newKey } from '../../support/store/installed.ts'

/** The workflows of the workspace `home`; `w9` has no runs. */
const folders: Record<string, string | undefined> = {
  ...{ w0: undefined, w1: 'sales', w2: 'sales/eu', w3: 'sales/eu/north', w4: 'ops', w9: 'empty' },
}

/** A database with its own connection and two workspaces, `home` and `other`, whose entries alternate. */
export class LogTable {
  readonly connection: Connection
  #sequence = 1_000

  constructor(directory: string) {
    this.connection = openConnection({ path: `${directory}/millrace.db`, sync: 'normal' })
    const userId = 'user'
    const first = { userId, email: 'a@example.org', workspaceId: 'home', workspaceName: 'Home' }
    createInstallation(this.connection, { ...first, key: newKey({ userId }), signInTokenHash: null, at: 1 })
    this.connection.run("INSERT INTO workspaces (id, name, owner_id, created_at) VALUES ('other', 'O', 'user', 1)")
    for (const [id, folder] of Object.entries(folders)) {
      const document = { name: id, blocks: {}, edges: [], ...(folder !== undefined && { folder }) }
      createWorkflow(this.connection, { id, workspaceId: 'home', document, at: 1 })
    }
    const document = { name: 'Other', blocks: {}, edges: [], folder: 'sales' }
    createWorkflow(this.connection, { id: 'elsewhere', workspaceId: 'other', document, at: 1 })
  }

  /** For each workflow, the IDs of its folder and of all parent folders. */
  static readonly folderIds = new Map(
    Object.entries(folders).map(([id, path]) => [
      id,
      path === undefined ? [] : foldersOf([path]).map((each) => each.id),
    ]),
  )

  /** Records rows of `home`, and a row of the other workspace after every tenth. */
  append(drafts: readonly Partial<LogRow>[]): LogRow[] {
    const rows = drafts.map((draft) => this.#row('home', 'w0', draft))
    const among = rows.flatMap((row, index) => (index % 10 === 9 ? [row, this.#row('other', 'elsewhere', {})] : [row]))
    let last = 0
    for (const row of among) row.sequence = last = Math.max(row.sequence, last + 1)
    this.#sequence = last
    this.connection.write(() => appendLogs(this.connection, among))
    return rows
  }

  #row(workspaceId: string, workflowId: string, more: Partial<LogRow>): LogRow {
    this.#sequence += 3
    return logRow({ workspaceId, workflowId } as Installed, this.#sequence, more)
  }
}
