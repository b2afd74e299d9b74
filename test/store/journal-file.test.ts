import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { journalPath, readJournal, writeRecord } from '../../src/store/sqlite/journal-file.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { temporaryFolder } from '../executable.ts'

describe('the file of a journal', () => {
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder[Symbol.dispose]())
  const path = () => databasePath(folder.path)
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { minLength: 1, maxLength: 20 })

  const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
  const wellFormed = (texts: readonly string[]) => texts.map((text) => text.toWellFormed())

  /** Records one behind the other, from a position on; where each of them ends. */
  function write(half: 0 | 1, generation: number, from: number, records: readonly string[], under = Buffer.alloc(0)) {
    const bytes = Buffer.alloc(Math.max(8_192, under.length))
    under.copy(bytes)
    const ends: number[] = []
    let at = 0
    for (const [index, text] of records.entries()) {
      at += writeRecord(bytes.subarray(at), generation, { position: from + index, text })
      ends.push(at)
    }
    writeFileSync(journalPath(path(), half), bytes)
    return { bytes, ends }
  }

  test('gives back what was written to it, behind any position', () => {
    fc.assert(
      fc.property(texts, texts, fc.nat(45), (first, second, position) => {
        write(0, 7, 1, first)
        write(1, 7, 1 + first.length, second)
        const all = wellFormed([...first, ...second]).map((text, index) => ({ position: index + 1, text }))
        expect(readJournal(path(), 7, position)).toMatchObject({ records: all.slice(position), missing: [] })
        expect(readJournal(path(), 8, 0).records).toEqual([])
      }),
    )
  })

  test('that was cut anywhere gives back the records before that place, and misses none', () => {
    fc.assert(
      fc.property(texts, share, (records, where) => {
        const { bytes, ends } = write(0, 7, 1, records)
        const at = Math.floor(where * ends.at(-1)!)
        bytes.fill(0, at)
        writeFileSync(journalPath(path(), 0), bytes)
        const found = readJournal(path(), 7, 0)
        // Zeros may have been what was cut off.
        expect(found.records.length).toBeGreaterThanOrEqual(ends.filter((end) => end <= at).length)
        expect(found.records.map(({ text }) => text)).toEqual(wellFormed(records.slice(0, found.records.length)))
        expect(found.missing).toEqual([])
      }),
    )
  })

  test('that was damaged in one place gives back all other records, and says what is missing before the last', () => {
    fc.assert(
      fc.property(texts, share, fc.nat(7), (records, where, bit) => {
        const { bytes, ends } = write(0, 7, 1, records)
        const at = Math.floor(where * ends.at(-1)!)
        bytes[at]! ^= 1 << bit
        writeFileSync(journalPath(path(), 0), bytes)
        const damaged = ends.findIndex((end) => end > at)
        const found = readJournal(path(), 7, 0)
        expect(found.records.map(({ text }) => text)).toEqual(wellFormed(records.toSpliced(damaged, 1)))
        // The last one may have been cut off before it was acknowledged.
        const isLast = damaged === records.length - 1
        expect(found.missing).toEqual(isLast ? [] : [{ from: damaged + 1, to: damaged + 1 }])
      }),
    )
  })

  test('that has several damaged records at its end misses them', () => {
    const { bytes, ends } = write(0, 7, 1, ['a', 'b', 'c', 'd'])
    for (const end of ends.slice(1)) bytes[end - 1]! ^= 1
    writeFileSync(journalPath(path(), 0), bytes)
    expect(readJournal(path(), 7, 0)).toMatchObject({ records: [{ position: 1 }], missing: [{ from: 2, to: 4 }] })
  })

  test('that does not hold the position that the database has come to is gone', () => {
    write(0, 7, 1, ['a', 'b'])
    expect(readJournal(path(), 7, 2)).toMatchObject({ records: [], isGone: false })
    expect(readJournal(path(), 7, 3)).toMatchObject({ records: [], isGone: true })
    expect(readJournal(path(), 8, 0)).toMatchObject({ records: [], isGone: false })
  })

  test('shows nothing of an earlier lap or generation that lies behind its records', () => {
    fc.assert(
      fc.property(texts, texts, (earlier, later) => {
        const { bytes } = write(0, 7, 1, earlier)
        write(0, 7, 1 + earlier.length, later, bytes)
        const behind = readJournal(path(), 7, earlier.length)
        expect(behind.records.map(({ text }) => text)).toEqual(wellFormed(later))
        expect(behind.missing).toEqual([])
        write(0, 8, 1, later, bytes)
        expect(readJournal(path(), 8, 0)).toMatchObject({ records: { length: later.length }, missing: [] })
      }),
    )
  })
})
