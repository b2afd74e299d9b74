import type { LogRow } from '../../../src/domain/run/log.ts'
import { logWrite } from '../../../src/domain/run/write.ts'
import type { Store } from '../../../src/store/store.ts'
import { logFilter, logQuery } from './log-model.ts'

/** Writes log entries in one group. Resolves when a reader that follows the log can see them. */
export async function appendLogs(
  store: Pick<Store, 'append'> & Partial<Pick<Store, 'queryLogs'>>,
  rows: readonly LogRow[],
): Promise<void> {
  await store.append(rows.map((row) => logWrite(row)))
  const last = rows.at(-1)
  if (last && store.queryLogs) await seen(store as Pick<Store, 'queryLogs'>, last)
}

/**
 * On PostgreSQL, such a reader waits for all open transactions of the server, and other tests use the same server: for
 * example, they create databases.
 */
async function seen(store: Pick<Store, 'queryLogs'>, { workspaceId, executionId }: LogRow): Promise<void> {
  const query = logQuery(workspaceId, { order: 'asc', limit: 1, filter: logFilter({ executionId }) })
  const deadline = performance.now() + 20_000
  while ((await store.queryLogs(query)).count === 0) {
    if (performance.now() > deadline) throw new Error('Readers that follow the log do not see the new entries')
    await Bun.sleep(5)
  }
}
