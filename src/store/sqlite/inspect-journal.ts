import { Database } from 'bun:sqlite'
import { dirname } from 'node:path'
import { messageOf } from '../../domain/errors.ts'
import { decodeGroup } from './group.ts'
import { readMark } from './intake.ts'
import { hasJournal, type JournalContent, journalForm, journalsAside, readJournal } from './journal-file.ts'

/** What there is to say about the journal of an installation. */
export type JournalState = {
  /** Runs that it holds and the database does not. */
  runs: number
  /** In words: why it, or some of it, cannot be taken in. */
  problem: string | undefined
  /** Whether a newer version of this program wrote it. */
  tooNew: boolean
  /** Files of damaged ones that were set aside. */
  aside: readonly string[]
}

/**
 * Reads the journal beside a database and changes nothing. Undefined when there is none, and for a database that cannot be read, or is
 * none of ours: `inspectDatabase` says so. `isServed`: it is being written, so what cannot be read now may only have moved.
 */
export function inspectJournal(path: string, isServed: boolean): JournalState | undefined {
  const mark = markOf(path)
  if (!mark) return undefined
  const aside = journalsAside(dirname(path))
  const nothing = { runs: 0, problem: undefined, tooNew: false, aside }
  if (mark.generation === 0) return hasJournal(path) || aside.length > 0 ? nothing : undefined
  try {
    const content = readJournal(path, mark.generation, mark.position)
    if (content.form > journalForm) return { ...nothing, tooNew: true }
    const runs = content.records.reduce((sum, { text }) => sum + runsIn(text), 0)
    return { ...nothing, runs, problem: isServed ? undefined : problemOf(content) }
  } catch (error) {
    return { ...nothing, problem: messageOf(error) }
  }
}

function markOf(path: string): ReturnType<typeof readMark> | undefined {
  let database: Database | undefined
  try {
    database = new Database(path, { readonly: true, strict: true })
    const reading = database
    return readMark({ all: <Row>(text: string) => reading.prepare(text).all() as Row[] })
  } catch {
    return undefined
  } finally {
    database?.close()
  }
}

function problemOf({ missing, isGone }: JournalContent): string | undefined {
  if (isGone)
    return 'the runs that were acknowledged last are not in it: it was damaged, taken away, or is that of another installation'
  const stretches = missing.map(({ from, to }) => (from === to ? `record ${from}` : `records ${from} to ${to}`))
  return stretches.length === 0 ? undefined : `${stretches.join(', ')} cannot be read`
}

/** None in a record that nothing can be made of. */
function runsIn(text: string): number {
  try {
    return decodeGroup(text).filter(({ kind }) => kind === 'log').length
  } catch {
    return 0
  }
}
