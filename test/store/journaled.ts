import { existsSync, readFileSync } from 'node:fs'
import { journalPath } from '../../src/store/sqlite/journal-file.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'

/** Records runs until one of them went to the journal. */
export async function untilJournaled(directory: string, record: () => Promise<unknown>): Promise<void> {
  const path = journalPath(databasePath(directory), 0)
  while (
    !existsSync(path) ||
    readFileSync(path)
      .subarray(0, 4)
      .every((byte) => byte === 0)
  )
    await record()
}
