import { expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { legacyJournalPaths, readLegacyJournal } from '../../../src/store/sqlite/legacy-journal/files.ts'
import { readLegacyMark } from '../../../src/store/sqlite/legacy-journal/import.ts'
import { decodeLegacyRecord } from '../../../src/store/sqlite/legacy-journal/records.ts'
import { databasePath, openConnection } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { diagnose } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { unpackLegacyJournal } from '../store/legacy-journal-fixture.ts'

const legacyHeaderBytes = 32

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

test('doctor reports nothing for a journal of an earlier version whose runs are all in the database', async () => {
  using folder = temporaryFolder()
  await unpackLegacyJournal(folder.path)
  // A command imports the journal and leaves its files to the service.
  await (await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })).close()
  expect(legacyJournalPaths(databasePath(folder.path)).every((path) => existsSync(path))).toBe(true)
  expect((await diagnose(folder.path)).of('journal')).toBeUndefined()
})

test('doctor says so when the journal of an earlier version has only steps of unfinished runs', async () => {
  using folder = temporaryFolder()
  await unpackLegacyJournal(folder.path)
  const path = databasePath(folder.path)
  const connection = openConnection({ path, sync: 'full' })
  const { generation, position } = readLegacyMark(connection)
  const { records } = readLegacyJournal(path, generation, position)
  const isStep = ({ text }: { text: string }) => decodeLegacyRecord(text).every(({ kind }) => kind === 'job-step')
  const first = records.findIndex(isStep)
  const next = records.findIndex((record, index) => index > first && !isStep(record))
  // The database already contains the records before the steps, and the journal ends behind them.
  connection.run("UPDATE marks SET value = ? WHERE name = 'journal'", records[first - 1]!.position)
  connection.close()
  const [journal = ''] = legacyJournalPaths(path)
  truncateSync(journal, readFileSync(journal).indexOf(records[next]!.text) - legacyHeaderBytes)
  expect((await diagnose(folder.path)).of('journal')).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('left steps of unfinished runs in its journal'),
  })
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
