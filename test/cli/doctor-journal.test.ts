import { describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { logWrite } from '../../src/domain/write.ts'
import { Executor } from '../../src/store/sqlite/executor.ts'
import { encodeGroup } from '../../src/store/sqlite/group.ts'
import { journalForm, journalPath, writeRecord } from '../../src/store/sqlite/journal-file.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { temporaryFolder } from '../executable.ts'
import { document } from '../make.ts'
import { logRow } from '../store/installed.ts'
import { diagnose, json, type Made, withStore } from './folder.ts'

describe('a journal that a process left', () => {
  /** The runs of a process that died: the database has the first. Where their records end. */
  async function leave(folder: string, runs: number, form?: number) {
    const { workspaceId, workflowId } = await withStore(folder, async (store) => {
      const [key] = await store.listKeys()
      const workspaceId = (await store.listWorkspaces(key!.userId))[0]!.id
      const workflow = await store.createWorkflow({ id: null, workspaceId, document: document({ blocks: [] }), at: 1 })
      return { workspaceId, workflowId: workflow.id }
    })
    const path = databasePath(folder)
    const texts = Array.from({ length: runs }, (_, index) =>
      encodeGroup([logWrite(logRow({ workspaceId, workflowId }, index + 1))]),
    )
    const service = new Executor({ path, sync: 'full' }, { journal: { own: true } })
    service.beginJournal(7)
    const bytes = Buffer.alloc(65_536)
    let at = 0
    const ends = texts.map((text, index) => {
      at += writeRecord(bytes.subarray(at), 7, { position: index + 1, text }, form)
      return at
    })
    service.hold([{ position: 1, text: texts[0]! }])
    service.takeIn()
    writeFileSync(journalPath(path, 0), bytes)
    return { bytes, ends }
  }

  test('is told with the runs that wait in it', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    expect((await diagnose(folder.path)).of('journal')).toBeUndefined()
    await leave(folder.path, 4)
    const message = 'The journal is in order; 3 runs in it wait for the database, the next start takes them in.'
    expect((await diagnose(folder.path)).of('journal')).toMatchObject({ state: 'ok', message })
    // It was told, and left as it is.
    expect((await diagnose(folder.path)).of('journal')).toMatchObject({ state: 'ok', message })
  })

  test('is found when it is damaged, gone or of a newer version, and after it was set aside', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const { bytes, ends } = await leave(folder.path, 4)
    const path = databasePath(folder.path)
    bytes[ends[1]! - 1]! ^= 1
    writeFileSync(journalPath(path, 0), bytes)
    const damaged = await diagnose(folder.path)
    expect(damaged.code).toBe(1)
    expect(damaged.of('journal')).toMatchObject({
      state: 'broken',
      message: expect.stringContaining('record 2 cannot be read. 2 runs in it wait for the database'),
      advice: expect.stringContaining('start the service'),
    })
    rmSync(journalPath(path, 0))
    expect((await diagnose(folder.path)).of('journal')).toMatchObject({
      state: 'broken',
      message: expect.stringContaining('taken away'),
    })
    writeFileSync(journalPath(path, 0), bytes)
    new Executor({ path, sync: 'full' }, { journal: { own: true } }).close()
    const { code, of } = await diagnose(folder.path)
    expect(code).toBe(0)
    expect(of('journal')).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('millrace.journal-a.damaged-'),
    })
  })

  test('of a newer version is broken, with the advice to start that one', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    await leave(folder.path, 2, journalForm + 1)
    expect((await diagnose(folder.path)).of('journal')).toMatchObject({
      state: 'broken',
      advice: expect.stringContaining('Start that version'),
    })
  })
})
