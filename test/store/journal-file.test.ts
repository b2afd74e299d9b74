import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { journalPath, recordsBehind, writeRecord } from '../../src/store/sqlite/journal-file.ts'
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
        const all = [...first, ...second].map((text, index) => ({ position: index + 1, text: text.toWellFormed() }))
        expect(recordsBehind(path(), 7, position)).toMatchObject(all.slice(position))
        expect(recordsBehind(path(), 8, 0)).toEqual([])
      }),
    )
  })

  test('that was cut or damaged anywhere gives back the records before that place, and nothing else', () => {
    fc.assert(
      fc.property(
        texts,
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        fc.boolean(),
        (records, share, isCut) => {
          const { bytes, ends } = write(0, 7, 1, records)
          const at = Math.floor(share * ends.at(-1)!)
          if (isCut) bytes.fill(0, at)
          else bytes[at]! ^= 0x10
          writeFileSync(journalPath(path(), 0), bytes)
          const whole = ends.filter((end) => end <= at).length
          const found = recordsBehind(path(), 7, 0).map(({ text }) => text)
          // Zeros may have been what was cut off.
          expect(found.length).toBeGreaterThanOrEqual(whole)
          expect(found).toEqual(records.slice(0, isCut ? found.length : whole).map((text) => text.toWellFormed()))
        },
      ),
    )
  })

  test('shows nothing of an earlier lap or generation that lies behind its records', () => {
    fc.assert(
      fc.property(texts, texts, (earlier, later) => {
        const { bytes } = write(0, 7, 1, earlier)
        write(0, 7, 1 + earlier.length, later, bytes)
        expect(recordsBehind(path(), 7, earlier.length)).toHaveLength(later.length)
        write(0, 8, 1, later, bytes)
        expect(recordsBehind(path(), 8, 0)).toHaveLength(later.length)
      }),
    )
  })
})
