import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MoveOptions, moveInstallation } from '../../../../src/store/move/move.ts'
import { movedTables } from '../../../../src/store/move/tables.ts'
import { withSqliteSource } from '../../../../src/store/sqlite/move/source.ts'
import { withSqliteTarget } from '../../../../src/store/sqlite/move/target.ts'
import { databasePath } from '../../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import { copyDatabase } from '../../../../src/store/sqlite/upkeep/copy.ts'
import { inspectDatabase } from '../../../../src/store/sqlite/upkeep/inspect.ts'
import type { Store } from '../../../../src/store/store.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { fillInstallation } from '../../../support/store/full-installation.ts'
import { dumpStore } from '../../../support/store/port-dump.ts'
import { rejectionOf } from '../../../support/store/rejection.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder[Symbol.dispose]())

const place = (name: string) => join(folder.path, name)
const open = (name: string) => openSqliteStore({ directory: place(name), sync: 'normal', mode: 'direct' })
const withStore = async <Result>(name: string, work: (store: Store) => Promise<Result>): Promise<Result> => {
  const store = await open(name)
  return await work(store).finally(() => store.close())
}

const move = (from: string, to: string, more: Partial<MoveOptions> = {}) =>
  withSqliteSource(place(from), (source) =>
    withSqliteTarget(place(to), (target) =>
      moveInstallation({ source, target, prepare: async () => undefined, onProgress: () => undefined, ...more }),
    ),
  )

describe('a move from one data folder to another', () => {
  test('copies rows of every kind, and the target reads as the source', async () => {
    await withStore('a', (store) => fillInstallation(store))
    const before = readFileSync(join(place('a'), 'millrace.db'))
    const { tables, different } = await move('a', 'b')
    expect(different).toEqual([])
    expect(Object.keys(tables)).toEqual(movedTables.map(({ name }) => name))
    expect(Object.entries(tables).filter(([, rows]) => rows === 0)).toEqual([])
    expect(await withStore('b', dumpStore)).toEqual(await withStore('a', dumpStore))
    expect(readFileSync(join(place('a'), 'millrace.db')).equals(before)).toBe(true)
  })

  test('continues after an interruption with the rows that are missing', async () => {
    await withStore('a', (store) => fillInstallation(store, 6_000))
    const seen: string[] = []
    const cut = rejectionOf(
      move('a', 'b', {
        onProgress({ kind, table, rows }) {
          if (kind === 'copy' && table === 'logs' && rows > 0) throw new Error('cut')
        },
      }),
    )
    expect(await cut).toMatchObject({ message: 'cut' })
    expect(await rejectionOf(open('b'))).toMatchObject({ message: expect.stringContaining('unfinished move') })
    expect(() => copyDatabase(databasePath(place('b')), place('copy.db'))).toThrow('unfinished move')
    expect(inspectDatabase(databasePath(place('b')))).toMatchObject({ unfinished: true, foreign: false, problems: [] })
    const { different } = await move('a', 'b', {
      prepare: async (begun) => void seen.push(begun),
      onProgress: ({ kind, table, rows }) => void (kind === 'copy' && table === 'logs' && seen.push(String(rows > 0))),
    })
    expect(different).toEqual([])
    expect(seen.slice(0, 2)).toEqual(['continued', 'true'])
    expect(await withStore('b', dumpStore)).toEqual(await withStore('a', dumpStore))
  })
})
