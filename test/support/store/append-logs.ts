import type { LogRow } from '../../../src/domain/run/log.ts'
import { logWrite } from '../../../src/domain/run/write.ts'
import type { Store } from '../../../src/store/store.ts'

/** Writes log entries in one group. */
export async function appendLogs(store: Pick<Store, 'append'>, rows: readonly LogRow[]): Promise<void> {
  await store.append(rows.map((row) => logWrite(row)))
}
