import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sequenceAt } from '../../../../src/domain/ids.ts'
import type { LogRow } from '../../../../src/domain/run/log.ts'
import { ZoneMapMaker, zoneRows } from '../../../../src/store/sqlite/logs/zone-maps.ts'
import { getJobOutput } from '../../../../src/store/sqlite/writes/jobs.ts'
import { deletedTo, getExecution, getLog, lastSequence } from '../../../../src/store/sqlite/writes/logs.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { chunksIn, listed, start, sweep, workspaceCount, world } from './retention-world.ts'

describe('by time', () => {
  const entry = fc.record({
    workspace: fc.nat(workspaceCount - 1),
    chars: fc.oneof({ weight: 9, arbitrary: fc.nat(2_000) }, { weight: 1, arbitrary: fc.nat(60_000) }),
  })
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.array(entry, { minLength: 1, maxLength: 12 }) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 7_200_000 }) },
    { weight: 1, arbitrary: fc.constant('compact' as const) },
    { weight: 1, arbitrary: fc.constant('sweep' as const) },
  )

  test('the remaining entries match the model after any sequence of operations', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(20_000_000), (steps, ageMs) => {
        using folder = temporaryFolder()
        const here = world(folder.path)
        const { connection } = here
        let rows: LogRow[] = []
        let recorded = 0
        let now = start
        const sweepNow = () => {
          const before = sequenceAt(now - ageMs)
          const goneTo = chunksIn(connection).findLast((chunk) => chunk.last_sequence < before)?.last_sequence ?? 0
          const left = rows.filter(({ sequence }) => sequence > goneTo)
          expect(sweep(here, before)).toBe(rows.length - left.length)
          // Nothing younger is deleted. Older entries remain only next to younger ones, and at most for an hour.
          expect(left.filter((row) => row.sequence >= before)).toEqual(rows.filter((row) => row.sequence >= before))
          for (const { sequence } of left)
            expect(sequence).toBeGreaterThanOrEqual(before - (sequenceAt(3_600_000) - sequenceAt(0)))
          for (const row of rows.slice(0, rows.length - left.length)) {
            expect(getLog(connection, row.sequence)).toBeUndefined()
            expect(getExecution(connection, row.executionId)).toBeUndefined()
            expect(getJobOutput(connection, row.executionId)).toBeUndefined()
          }
          rows = left
        }
        for (const each of steps) {
          if (each === 'compact') here.compact()
          else if (each === 'sweep') sweepNow()
          else if (typeof each === 'number') {
            here.pass(each)
            now += each
          } else {
            const more = here.record(each)
            rows.push(...more)
            recorded = more.at(-1)!.sequence
          }
        }
        sweepNow()
        here.compact()
        expect(listed(connection)).toEqual(rows.map(({ sequence }) => sequence))
        for (const { models: _, rawOutput: __, ...row } of rows) {
          expect(getLog(connection, row.sequence)).toMatchObject(row)
          expect(getExecution(connection, row.executionId)).toMatchObject(row)
          expect(getJobOutput(connection, row.executionId) !== undefined).toBe(row.createdAt !== null)
        }
        expect(lastSequence(connection)).toBe(recorded)
        expect(connection.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
        connection.close()
      }),
      { numRuns: 30 },
    )
  })

  test('one step deletes at least one chunk, however little time it has', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    for (let n = 0; n < 3; n += 1) here.record([{ workspace: n, chars: 30_000 }])
    const before = sequenceAt(start + 1_000)
    expect([1, 2, 3].map(() => here.step(before))).toMatchObject([
      { entries: 1, done: false },
      { entries: 1, done: false },
      { entries: 1, done: false },
    ])
    expect(here.step(before)).toMatchObject({ entries: 0, done: true })
    here.connection.close()
  })

  test('one step deletes many chunks of lone runs, which are small', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    for (let n = 0; n < 100; n += 1) here.record([{ workspace: n % 2, chars: 10 }])
    const steps = [1, 2, 3, 4, 5].map(() => here.step(sequenceAt(start + 1_000)).entries)
    expect(steps).toEqual([33, 33, 33, 1, 0])
    here.connection.close()
  })

  test('zone maps are deleted with their rows, some at a time', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    const zones = new ZoneMapMaker()
    for (let n = 0; n < 11; n += 1) here.record(Array.from({ length: zoneRows }, () => ({ workspace: 0, chars: 1 })))
    while (here.connection.write(() => zones.step(here.connection, 'w0'))) {}
    const count = (table: string) =>
      here.connection.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)!.count
    const indexedValues = count('log_zone_facets')
    expect(count('log_zones')).toBe(11)
    sweep(here, sequenceAt(start + 1_000))
    expect(count('log_zones')).toBeLessThan(8)
    expect(count('log_zone_facets')).toBe((indexedValues / 11) * count('log_zones'))
    here.connection.close()
  })

  test('rare runs are not kept because of later ones', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    for (let day = 0; day < 1_100; day += 1) {
      here.record([{ workspace: 0, chars: 10 }])
      here.pass(dayMs)
    }
    here.compact()
    expect(sweep(here, sequenceAt(start + 500 * dayMs))).toBe(500)
    expect(listed(here.connection)).toHaveLength(600)
    here.connection.close()
  })

  test('a chunk that cannot be read is deleted with its entries in every workspace', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    here.record(Array.from({ length: workspaceCount }, (_, workspace) => ({ workspace, chars: 5_000 })))
    here.pass(dayMs)
    const young = here.record([{ workspace: 2, chars: 5 }])
    here.connection.run(
      'UPDATE log_chunks SET encoding = 1, content = zeroblob(99) WHERE first_sequence < ?',
      young[0]!.sequence,
    )
    expect(sweep(here, sequenceAt(start + 1_000))).toBe(workspaceCount)
    expect(listed(here.connection)).toEqual(young.map(({ sequence }) => sequence))
    here.connection.close()
  })

  test('sequences of deleted entries are not used again', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    const [row] = here.record([{ workspace: 0, chars: 10 }])
    sweep(here, sequenceAt(start + dayMs))
    expect(listed(here.connection)).toEqual([])
    expect(lastSequence(here.connection)).toBe(row!.sequence)
    expect(deletedTo(here.connection)).toBe(row!.sequence)
    here.connection.close()
  })
})

describe('by size', () => {
  const fill = (here: ReturnType<typeof world>, groups: number) =>
    Array.from({ length: groups }, () => {
      here.pass(1_000)
      return here.record(
        Array.from({ length: 10 }, (_, index) => ({ workspace: index % workspaceCount, chars: 3_000 })),
      )
    }).flat()

  test('the oldest entries are deleted until the rest fits, and no more', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    const rows = fill(here, 300)
    const half = here.step(0).usedBytes / 2
    for (;;) {
      const before = here.step(0).usedBytes
      const { done, usedBytes } = here.step(0, half)
      if (done) break
      expect(before).toBeGreaterThan(half)
      expect(before - usedBytes).toBeLessThan(200_000)
    }
    expect(here.step(0).usedBytes).toBeLessThanOrEqual(half)
    const left = listed(here.connection)
    expect(left.length).toBeGreaterThan(1_000)
    expect(left).toEqual(rows.slice(-left.length).map(({ sequence }) => sequence))
    here.connection.close()
  })

  test('the file becomes smaller, except 4 MB for the next entries', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    fill(here, 1_000)
    const size = () => Bun.file(`${folder.path}/millrace.db`).size
    const checkpoint = () => here.connection.get('PRAGMA wal_checkpoint(TRUNCATE)')
    checkpoint()
    const full = size()
    expect(full).toBeGreaterThan(20_000_000)
    sweep(here, 0, 2_000_000)
    checkpoint()
    expect(size()).toBeLessThan(2_000_000 + 4_194_304 + 100_000)
    expect(here.connection.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    here.connection.close()
  })

  test('a step returns few pages before it checks the time again', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    fill(here, 1_000)
    const count = (what: 'page' | 'freelist') =>
      here.connection.get<{ count: number }>(`SELECT ${what}_count AS count FROM pragma_${what}_count`)!.count
    while (count('freelist') < 1_200) here.step(0, 1)
    here.connection.write(() => here.connection.run('DELETE FROM log_chunks'))
    for (let n = 0; n < 20; n += 1) {
      const before = count('page')
      here.step(0)
      // Every second or third step also frees the page at the end that lists the others.
      expect(before - count('page')).toBeWithin(8, 10)
    }
    here.connection.close()
  })

  test('a limit that cannot be met deletes every entry and then stops', () => {
    using folder = temporaryFolder()
    const here = world(folder.path)
    fill(here, 5)
    expect(sweep(here, 0, 1)).toBe(50)
    expect(here.step(0, 1)).toMatchObject({ done: true, entries: 0 })
    here.connection.close()
  })
})

const dayMs = 86_400_000
