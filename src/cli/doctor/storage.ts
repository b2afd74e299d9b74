import { existsSync, statfsSync, statSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { inspectLegacyJournal } from '../../store/sqlite/legacy-journal/inspect.ts'
import { databasePath } from '../../store/sqlite/open.ts'
import { inspectDatabase } from '../../store/sqlite/upkeep/inspect.ts'
import { count, roundSize } from '../support/size.ts'
import type { Diagnosis } from './diagnosis.ts'

const GB = 1024 ** 3
/** Below the first limit, the service will soon stop accepting runs. Below the second, doctor warns. */
const freeBytesMin = GB / 10
const freeBytesLow = GB

export function examineDisk(folder: string, { logRetentionBytes }: Config): Diagnosis {
  const check = 'disk'
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${roundSize(free)} are free on the disk of the folder.`
  const advice = 'Free space or move the folder to a larger disk. On a full disk, callers get 503.'
  if (free < freeBytesMin) return { check, state: 'broken', message, advice }
  if (free < freeBytesLow) return { check, state: 'warning', message, advice }
  const size = statSync(databasePath(folder), { throwIfNoEntry: false })?.size ?? 0
  if (logRetentionBytes - size <= free) return { check, state: 'ok', message }
  return {
    check,
    state: 'warning',
    message:
      `${roundSize(free)} are free, but the database may grow from ${roundSize(size)} to ` +
      `${roundSize(logRetentionBytes)}.`,
    advice: 'Lower MILLRACE_LOG_RETENTION_BYTES, so that old log entries are deleted before the disk is full.',
  }
}

/** Checks every page, even while a service has the database open. */
export function examineDatabase(folder: string): Diagnosis {
  const check = 'database'
  const path = databasePath(folder)
  if (!existsSync(path) || statSync(path).size === 0) {
    const advice = 'millrace serve or millrace init creates it. If there should be one, run millrace restore.'
    return { check, state: 'warning', message: 'The folder contains no database yet.', advice }
  }
  const advice =
    `Stop the service and keep a copy of ${folder}. Restore the latest backup: ` +
    `millrace restore BACKUP --data ${folder}-restored. Without a backup, SQLite's .recover may save some data.`
  try {
    const { problems, bytes, schemaVersion, foreign, unfinished, tooNew } = inspectDatabase(path)
    const broken = (message: string, advice: string): Diagnosis => ({ check, state: 'broken', message, advice })
    if (problems.length > 0) return broken(`${path} is damaged: ${firstOf(problems)}.`, advice)
    if (foreign) return broken(`${path} is the database of another program.`, 'Choose another folder with --data.')
    if (unfinished) {
      return broken(`${path} is from an unfinished move.`, 'Run the same millrace move again: it continues.')
    }
    if (tooNew) {
      return broken(
        `${path} was written by a newer version of Millrace (schema ${schemaVersion}).`,
        'Start that version, or restore a backup that this version made.',
      )
    }
    const message = `Every page is intact (${roundSize(bytes)}, schema ${schemaVersion}).`
    return { check, state: 'ok', message }
  } catch (error) {
    return { check, state: 'broken', message: `${path} cannot be read: ${messageOf(error)}.`, advice }
  }
}

/** The journal of an earlier version, which the next start imports. Nothing to report when there is none. */
export function examineLegacyJournal(folder: string, isServed: boolean): Diagnosis[] {
  const check = 'journal'
  const found = inspectLegacyJournal(databasePath(folder))
  if (!found) return []
  const { runs, problem, kept } = found
  // While a service of an earlier version writes to the journal, an unreadable record may be incomplete.
  if (problem !== undefined && !isServed) {
    const message =
      `The journal of an earlier version (millrace.journal-a and -b) is damaged: ${problem}. ` +
      `It has ${count(runs, 'run')} that can be imported.`
    const advice =
      `Keep a copy of ${folder} and start the service: it imports everything that can be read, logs what is lost, and keeps ` +
      'the damaged files under other names.'
    return [{ check, state: 'broken', message, advice }]
  }
  if (kept.length > 0) {
    const message = `A journal of an earlier version was damaged. Its files were kept: ${kept.join(', ')}.`
    const advice = 'The log of the start that kept them says what was lost. Delete the files when nobody needs them.'
    return [{ check, state: 'warning', message, advice }]
  }
  const left = runs === 0 ? 'steps of unfinished runs' : count(runs, 'run')
  const message = `An earlier version left ${left} in its journal. The next start of the service imports them.`
  return [{ check, state: 'ok', message }]
}

function firstOf(problems: readonly string[]): string {
  const shown = problems.slice(0, problemsShown).join('; ')
  return problems.length > problemsShown ? `${shown}; and more` : shown
}

const problemsShown = 3
