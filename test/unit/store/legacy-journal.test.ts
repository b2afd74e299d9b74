import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { legacyJournalPaths, readLegacyJournal } from '../../../src/store/sqlite/legacy-journal/files.ts'
import { readLegacyMark } from '../../../src/store/sqlite/legacy-journal/import.ts'
import { databasePath, openConnection } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { Executor } from '../../../src/store/sqlite/thread/executor.ts'
import { copyDatabase } from '../../../src/store/sqlite/upkeep/copy.ts'
import type { Store } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { entriesOf, logQuery } from '../../support/store/log-model.ts'
import { rejectionOf } from '../../support/store/rejection.ts'
import { type Acknowledged, unpackLegacyJournal } from './legacy-journal-fixture.ts'

let folder: ReturnType<typeof temporaryFolder>
let acknowledged: Acknowledged
let path: string
let journal: string
beforeEach(async () => {
  folder = temporaryFolder()
  acknowledged = await unpackLegacyJournal(folder.path)
  path = databasePath(folder.path)
  journal = legacyJournalPaths(path)[0]!
})
afterEach(() => folder[Symbol.dispose]())

/** Every log entry of the fixture's workspace, in order. */
async function recorded(store: Store): Promise<string[]> {
  const page = await store.queryLogs(logQuery(acknowledged.workspaceId, { order: 'asc', limit: 1_000 }))
  return entriesOf(page).map(({ executionId }) => executionId)
}

async function opened<Result>(mode: 'direct' | 'workers', use: (store: Store, lost: string[]) => Promise<Result>) {
  const lost: string[] = []
  const onLost = (more: readonly string[]) => void lost.push(...more)
  const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode, onLost })
  try {
    return await use(store, lost)
  } finally {
    await store.close()
  }
}

/** Positions and file offsets of the records that are in the journal only. */
function records(): { position: number; start: number; end: number }[] {
  const connection = openConnection({ path, sync: 'full' })
  const mark = readLegacyMark(connection)
  connection.close()
  const bytes = readFileSync(journal)
  return readLegacyJournal(path, mark.generation, mark.position).records.map(({ position, text }) => {
    const at = bytes.indexOf(text)
    return { position, start: at - 32, end: at + Buffer.byteLength(text) }
  })
}

const journalFiles = () => readdirSync(folder.path).filter((name) => name.startsWith('millrace.journal-'))

describe('the journal of an earlier version', () => {
  test('is imported by the first start of the service, and then removed', async () => {
    expect(acknowledged.executionIds.length).toBeGreaterThan(acknowledged.inDatabase)
    await opened('workers', async (store, lost) => {
      expect(await recorded(store)).toEqual([...acknowledged.executionIds])
      for (const id of acknowledged.jobs) expect(await store.getJobSteps(id)).toHaveLength(1)
      expect(lost).toEqual([])
    })
    expect(journalFiles()).toEqual([])
  })

  test('is imported once, by commands and by the service, and removed by the service', async () => {
    for (const mode of ['direct', 'direct', 'workers', 'workers'] as const) {
      await opened(mode, async (store, lost) => {
        expect(await recorded(store)).toEqual([...acknowledged.executionIds])
        expect(lost).toEqual([])
      })
      expect(journalFiles()).toHaveLength(mode === 'direct' ? 2 : 0)
    }
  })

  test('is removed and not imported again when the service was killed between both', async () => {
    const kept = `${folder.path}-journal`
    copyFileSync(journal, kept)
    await opened('workers', async () => {})
    copyFileSync(kept, journal)
    rmSync(kept)
    await opened('workers', async (store, lost) => {
      expect(await recorded(store)).toEqual([...acknowledged.executionIds])
      expect(lost).toEqual([])
    })
    expect(journalFiles()).toEqual([])
  })

  test('is in a backup that is made before the first start', async () => {
    using place = temporaryFolder()
    copyDatabase(path, databasePath(place.path))
    const store = await openSqliteStore({ directory: place.path, sync: 'full', mode: 'workers', onLost: fail })
    expect(await recorded(store)).toEqual([...acknowledged.executionIds])
    await store.close()
  })

  test('may end in an incomplete record, which was never acknowledged', async () => {
    const last = records().at(-1)!
    truncateSync(journal, last.end - 10)
    await opened('workers', async (store, lost) => {
      const all = await recorded(store)
      expect(all).toEqual(acknowledged.executionIds.slice(0, all.length))
      expect(acknowledged.executionIds.length - all.length).toBe(1)
      expect(lost).toEqual([])
    })
    expect(journalFiles()).toEqual([])
  })

  test('is imported as far as it can be read, and its damaged files are kept', async () => {
    const [, second] = records()
    const bytes = readFileSync(journal)
    bytes[second!.end - 5]! ^= 1
    writeFileSync(journal, bytes)
    using place = temporaryFolder()
    expect(() => copyDatabase(path, join(place.path, 'millrace.db'))).toThrow(
      `record ${second!.position} cannot be read`,
    )
    // A command cannot rule out that another process is still writing.
    await opened('direct', async (store) => expect(await recorded(store)).toHaveLength(acknowledged.inDatabase + 1))
    await opened('workers', async (store, lost) => {
      expect(await recorded(store)).toHaveLength(acknowledged.executionIds.length - 1)
      expect(lost).toEqual([
        expect.stringMatching(new RegExp(`^record ${second!.position} of the journal: damaged.*kept as`)),
      ])
    })
    const kept = journalFiles()
    expect(kept).toContainEqual(expect.stringContaining('journal-a.damaged-'))
    expect(readFileSync(join(folder.path, kept[0]!))).toEqual(bytes)
    await opened('workers', async (_, lost) => expect(lost).toEqual([]))
    expect(journalFiles()).toEqual(kept)
  })

  test.each([
    ['overwritten', (file: string) => writeFileSync(file, crypto.getRandomValues(new Uint8Array(4_096)))],
    ['emptied', (file: string) => truncateSync(file)],
    ['removed', (file: string) => rmSync(file)],
  ])('that was %s is reported as a loss, and the service starts', async (_, spoil) => {
    for (const file of legacyJournalPaths(path)) spoil(file)
    await opened('workers', async (store, lost) => {
      expect(lost).toEqual([expect.stringContaining('millrace.journal-a')])
      expect(await recorded(store)).toHaveLength(acknowledged.inDatabase)
    })
    await opened('workers', async (_, lost) => expect(lost).toEqual([]))
  })

  test('that cannot be read prevents the start, and nothing changes', async () => {
    const kept = readFileSync(journal)
    rmSync(journal)
    mkdirSync(journal)
    for (const mode of ['direct', 'workers'] as const) {
      const opening = openSqliteStore({ directory: folder.path, sync: 'full', mode })
      expect(await rejectionOf(opening)).toMatchObject({
        code: 'STORAGE_UNAVAILABLE',
        message: expect.stringContaining('journal of an earlier version cannot be read'),
      })
    }
    rmSync(journal, { recursive: true })
    writeFileSync(journal, kept)
    await opened('workers', async (store) => {
      expect(await recorded(store)).toEqual([...acknowledged.executionIds])
    })
  })

  test('with a run that the database refuses loses only that run, and reports it', async () => {
    const refused = acknowledged.executionIds[acknowledged.inDatabase + 3]!
    const connection = openConnection({ path, sync: 'full' })
    const isIt = `hex(NEW.execution_id) = '${refused.replaceAll('-', '').toUpperCase()}'`
    connection.script(`CREATE TRIGGER refuse BEFORE INSERT ON logs WHEN ${isIt} BEGIN SELECT RAISE(ABORT, 'no'); END`)
    connection.close()
    await opened('workers', async (store, lost) => {
      expect(await recorded(store)).toEqual(acknowledged.executionIds.filter((id) => id !== refused))
      expect(lost).toEqual([expect.stringContaining(refused)])
    })
  })

  test('is ignored by threads that only read', () => {
    const reader = new Executor({ path, sync: 'full' })
    expect(reader.losses).toEqual([])
    reader.close()
    expect(journalFiles()).toHaveLength(2)
  })
})

function fail(lost: readonly string[]): void {
  throw new Error(lost.join())
}
