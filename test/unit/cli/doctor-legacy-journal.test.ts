import { expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { legacyJournalPaths } from '../../../src/store/sqlite/legacy-journal/files.ts'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { diagnose } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { unpackLegacyJournal } from '../store/legacy-journal-fixture.ts'

const start = async (directory: string) =>
  await (await openSqliteStore({ directory, sync: 'full', mode: 'workers' })).close()

test('doctor counts the runs in the journal of an earlier version without changing it', async () => {
  using folder = temporaryFolder()
  const { executionIds, inDatabase } = await unpackLegacyJournal(folder.path)
  const left = `An earlier version left ${executionIds.length - inDatabase} runs in its journal.`
  const message = `${left} The next start of the service imports them.`
  for (let times = 0; times < 2; times += 1) {
    expect((await diagnose(folder.path)).of('journal')).toMatchObject({ state: 'ok', message })
  }
  await start(folder.path)
  expect((await diagnose(folder.path)).of('journal')).toBeUndefined()
})

test('doctor reports a damaged journal of an earlier version, also after its files were set aside', async () => {
  using folder = temporaryFolder()
  await unpackLegacyJournal(folder.path)
  const [journal = ''] = legacyJournalPaths(databasePath(folder.path))
  const bytes = readFileSync(journal)
  rmSync(journal)
  expect((await diagnose(folder.path)).of('journal')).toMatchObject({
    state: 'broken',
    message: expect.stringContaining('damaged or removed'),
    advice: expect.stringContaining('start the service'),
  })
  writeFileSync(journal, bytes.subarray(0, 64))
  await start(folder.path)
  const { code, of } = await diagnose(folder.path)
  expect(code).toBe(0)
  expect(of('journal')).toMatchObject({ state: 'warning', message: expect.stringContaining('journal-a.damaged-') })
})
