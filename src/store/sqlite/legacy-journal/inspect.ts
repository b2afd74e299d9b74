import { Database } from 'bun:sqlite'
import { dirname } from 'node:path'
import { messageOf } from '../../../domain/errors.ts'
import { keptLegacyJournals, type LegacyContent, legacyFormat, readLegacyJournal } from './files.ts'
import { type LegacyMark, rangeOf, readLegacyMark } from './import.ts'
import { decodeLegacyRecord } from './records.ts'

// Legacy: see import.ts.

export type LegacyJournalState = {
  /** Ended runs in the journal that are not in the database. 0 if it has nothing but steps of unfinished runs. */
  runs: number
  /** Why some records cannot be imported, as a text for people. */
  problem: string | undefined
  /** Names of copies of damaged journals. */
  kept: readonly string[]
}

/**
 * Reads the journal that an earlier version left, and changes nothing. Undefined when there is nothing left to import,
 * and for a database that cannot be read (`inspectDatabase` reports that).
 */
export function inspectLegacyJournal(path: string): LegacyJournalState | undefined {
  const mark = markOf(path)
  if (!mark) return undefined
  const kept = keptLegacyJournals(dirname(path))
  if (mark.generation === 0) return kept.length > 0 ? { runs: 0, problem: undefined, kept } : undefined
  try {
    const content = readLegacyJournal(path, mark.generation, mark.position)
    const problem = problemOf(content)
    if (content.records.length === 0 && problem === undefined && kept.length === 0) return undefined
    const runs = content.records.reduce((sum, { text }) => sum + runsIn(text), 0)
    return { runs, problem, kept }
  } catch (error) {
    return { runs: 0, problem: messageOf(error), kept }
  }
}

function markOf(path: string): LegacyMark | undefined {
  let database: Database | undefined
  try {
    database = new Database(path, { readonly: true, strict: true })
    const reading = database
    return readLegacyMark({ all: <Row>(text: string) => reading.prepare(text).all() as Row[] })
  } catch {
    return undefined
  } finally {
    database?.close()
  }
}

function problemOf({ missing, isGone, format }: LegacyContent): string | undefined {
  if (format > legacyFormat) return `it has format ${format}, which this version cannot read`
  if (isGone) {
    return 'the last acknowledged runs are not in it: it was damaged or removed, or belongs to another installation'
  }
  const ranges = missing.map(({ from, to }) => rangeOf(from, to))
  return ranges.length === 0 ? undefined : `${ranges.join(', ')} cannot be read`
}

function runsIn(text: string): number {
  try {
    return decodeLegacyRecord(text).filter(({ kind }) => kind === 'log').length
  } catch {
    return 0
  }
}
