import { existsSync, statfsSync, statSync } from 'node:fs'
import { keyPath, readKeyFile } from '../../accounts/key-file.ts'
import { SecretBox, sealHeadBytes } from '../../accounts/secret-box.ts'
import type { Config } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { inspectLegacyJournal } from '../../store/sqlite/legacy-journal/inspect.ts'
import { databasePath } from '../../store/sqlite/open.ts'
import { inspectDatabase, sealHeadsIn } from '../../store/sqlite/upkeep/inspect.ts'
import { count, roundSize } from '../support/size.ts'
import type { Diagnosis } from './doctor.ts'

const GB = 1024 ** 3
/** Below the first the service will stop taking runs soon, below the second it is time to look. */
const freeBytesMin = GB / 10
const freeBytesLow = GB

export function examineDisk(folder: string, { logRetentionBytes }: Config): Diagnosis {
  const check = 'disk'
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${roundSize(free)} are free where the folder lies.`
  const advice = 'Free space or move the folder to a larger disk; on a full disk callers get 503.'
  if (free < freeBytesMin) return { check, state: 'broken', message, advice }
  if (free < freeBytesLow) return { check, state: 'warning', message, advice }
  const size = statSync(databasePath(folder), { throwIfNoEntry: false })?.size ?? 0
  if (logRetentionBytes - size <= free) return { check, state: 'ok', message }
  return {
    check,
    state: 'warning',
    message: `${roundSize(free)} are free, and the database may grow from ${roundSize(size)} to ${roundSize(logRetentionBytes)}.`,
    advice: 'Lower MILLRACE_LOG_RETENTION_BYTES, so that old log entries go before the disk is full.',
  }
}

/** Every page, also while a service has it open. */
export function examineDatabase(folder: string): Diagnosis {
  const check = 'database'
  const path = databasePath(folder)
  if (!existsSync(path) || statSync(path).size === 0) {
    const advice = 'millrace serve or millrace init makes it; if there should be one: millrace restore.'
    return { check, state: 'warning', message: 'There is no database in the folder yet.', advice }
  }
  const advice =
    `Stop the service and keep a copy of ${folder} as it is. Go back to the latest backup: ` +
    `millrace restore BACKUP --data ${folder}-restored. Without one, .recover of SQLite's own shell may save what can be read.`
  try {
    const { problems, bytes, schemaVersion, foreign, tooNew } = inspectDatabase(path)
    const broken = (message: string, advice: string): Diagnosis => ({ check, state: 'broken', message, advice })
    if (problems.length > 0) return broken(`${path} is damaged: ${firstOf(problems)}.`, advice)
    if (foreign) return broken(`${path} is the database of another program.`, 'Choose another folder with --data.')
    if (tooNew) {
      return broken(
        `${path} was written by a newer Millrace (schema ${schemaVersion}).`,
        'Start that version, or restore a backup that this one made.',
      )
    }
    const message = `Every page is in order (${roundSize(bytes)}, schema ${schemaVersion}).`
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
  // While a service of an earlier version writes to it, a record that cannot be read may be one that it is writing.
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
  const left = `An earlier version left ${count(runs, 'run')} in its journal.`
  const message = `${left} The next start of the service imports them.`
  return [{ check, state: 'ok', message }]
}

function firstOf(problems: readonly string[]): string {
  const shown = problems.slice(0, problemsShown).join('; ')
  return problems.length > problemsShown ? `${shown}; and more` : shown
}

const problemsShown = 3

/** Whether what is encrypted in the database can be opened with the keys at hand. */
export function examineKey(folder: string, { secretKey }: Config): Diagnosis {
  const check = 'key'
  const path = keyPath(folder)
  try {
    const inFile = readKeyFile(folder).length
    const heads = sealHeadsIn(databasePath(folder), sealHeadBytes)
    const box = new SecretBox([], { directory: folder, secretKey })
    if (!heads.every((head) => box.knows(head))) {
      const message =
        inFile === 0 && secretKey === undefined
          ? `Secrets are stored, and the key that they are encrypted with is missing: ${path} is not there.`
          : `Secrets are stored that are encrypted with another key than those at hand.`
      const advice =
        'Take the key file from a backup, or give the service the value that MILLRACE_SECRET_KEY had. If the key is lost ' +
        'for good, so are the values: millrace env discard takes them out, and then they can be set anew.'
      return { check, state: 'broken', message, advice }
    }
    if (inFile > 0 && (statSync(path).mode & 0o077) !== 0) {
      const message = `${path} can be read by other users of the machine.`
      return { check, state: 'warning', message, advice: `chmod 600 ${path}` }
    }
    const where = secretKey === undefined ? path : 'MILLRACE_SECRET_KEY'
    const message =
      heads.length === 0 ? 'No secret is stored yet.' : `Stored secrets can be opened: the key is in ${where}.`
    return { check, state: 'ok', message }
  } catch (error) {
    return { check, state: 'broken', message: messageOf(error), advice: 'Take the key file from a backup.' }
  }
}
