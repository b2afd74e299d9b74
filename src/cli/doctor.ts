import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, sizeText } from '../config.ts'
import { AppError, messageOf } from '../domain/errors.ts'
import { parseAllowList } from '../outbound/addresses.ts'
import { takeLock } from '../store/lock.ts'
import { inspectDatabase } from '../store/sqlite/inspect.ts'
import { databasePath } from '../store/sqlite/open.ts'
import type { Command, LoadedSettings } from './command.ts'

export const doctor: Command = {
  summary:
    'checks settings, data folder, database, disk and clock, and says what to do; exit 1 when something is broken',
  details: 'It changes nothing, and may be called while the service runs.',
  settings: ['data'],
  json: true,
  examples: ['doctor', 'doctor --data /var/lib/millrace --json'],
  async run({ config, settings, terminal, json }) {
    const findings = examine(config, settings, Date.now())
    if (json) terminal.print(JSON.stringify(findings, null, 2))
    else {
      for (const { state, check, message, advice } of findings) {
        terminal.print(
          `${marks[state]}  ${check.padEnd(8)}  ${message}${advice ? `\n                → ${advice}` : ''}`,
        )
      }
    }
    return findings.some(({ state }) => state === 'broken') ? 1 : 0
  },
}

/** What one check found; `advice` says what to do. */
export type Diagnosis = {
  check: 'settings' | 'folder' | 'disk' | 'service' | 'database' | 'clock'
  state: 'ok' | 'warning' | 'broken'
  message: string
  advice?: string
}

const marks: Readonly<Record<Diagnosis['state'], string>> = { ok: 'ok    ', warning: 'look  ', broken: 'BROKEN' }

function examine(config: Config, settings: LoadedSettings, now: number): Diagnosis[] {
  const folder = resolve(config.data)
  const found = [...examineSettings(config, settings), examineFolder(folder)]
  if (!existsSync(folder)) return [...found, examineClock(now, undefined)]
  const path = databasePath(folder)
  return [...found, examineDisk(folder), examineLock(folder), examineDatabase(path), examineClock(now, writtenAt(path))]
}

function examineSettings(config: Config, { warnings }: LoadedSettings): Diagnosis[] {
  const allow = parseAllowList(config.outboundAllow)
  const found: Diagnosis[] = warnings.map((message) => ({ check: 'settings', state: 'warning', message }))
  if (!allow.ok) found.push({ check: 'settings', state: 'broken', message: allow.message })
  if (found.length > 0) return found
  return [{ check: 'settings', state: 'ok', message: 'Every setting has a value that it may have.' }]
}

function examineFolder(folder: string): Diagnosis {
  const check = 'folder'
  if (!existsSync(folder)) {
    const advice =
      'millrace serve makes it at its first start, millrace init without starting; or name another with --data.'
    return { check, state: 'warning', message: `${folder} is not there yet.`, advice }
  }
  try {
    const probe = mkdtempSync(join(folder, '.doctor-'))
    try {
      const file = openSync(join(probe, 'probe'), 'w', 0o600)
      writeSync(file, 'probe')
      fsyncSync(file)
      closeSync(file)
    } finally {
      rmSync(probe, { recursive: true, force: true })
    }
  } catch (error) {
    const advice =
      'Let the user that runs the service own the folder and everything in it, and see that the disk has room.'
    return { check, state: 'broken', message: `${folder} cannot be written to: ${messageOf(error)}.`, advice }
  }
  if ((statSync(folder).mode & 0o007) !== 0) {
    const advice = `It holds keys and logs: chmod 700 ${folder}`
    return {
      check,
      state: 'warning',
      message: `${folder} can be written to, and every user of the machine can enter it.`,
      advice,
    }
  }
  return { check, state: 'ok', message: `${folder} can be written to.` }
}

/** Below the first the service will stop taking runs soon, below the second it is time to look. */
const freeBytesMin = 100 * 1024 * 1024
const freeBytesLow = 1024 * 1024 * 1024

function examineDisk(folder: string): Diagnosis {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${(free / freeBytesLow).toFixed(1)} GB are free where the folder lies.`
  const advice = 'Free space or move the folder to a larger disk; on a full disk callers get 503.'
  if (free < freeBytesMin) return { check: 'disk', state: 'broken', message, advice }
  return free < freeBytesLow
    ? { check: 'disk', state: 'warning', message, advice }
    : { check: 'disk', state: 'ok', message }
}

/** Takes the lock for a moment: the operating system knows whether somebody holds it, and nothing else does. */
function examineLock(folder: string): Diagnosis {
  const check = 'service'
  try {
    takeLock(folder).release()
    return { check, state: 'ok', message: 'No service runs on the folder.' }
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') {
      const who = /process \d+/.exec(error.message)?.[0] ?? 'another process'
      return { check, state: 'ok', message: `A service runs on the folder: ${who}.` }
    }
    const advice = 'Let the user that runs the service own the folder and everything in it.'
    return { check, state: 'broken', message: messageOf(error), advice }
  }
}

function examineDatabase(path: string): Diagnosis {
  const check = 'database'
  if (!existsSync(path)) {
    const advice = 'millrace serve or millrace init makes it.'
    return { check, state: 'warning', message: `There is no database in the folder yet.`, advice }
  }
  const advice = 'Stop the service, keep a copy of the folder as it is, and go back to the latest backup.'
  try {
    const { problems, bytes, schemaVersion } = inspectDatabase(path)
    if (problems.length > 0)
      return { check, state: 'broken', message: `${path} is damaged: ${problems.join('; ')}.`, advice }
    return { check, state: 'ok', message: `Every page is in order (${sizeText(bytes)}, schema ${schemaVersion}).` }
  } catch (error) {
    return { check, state: 'broken', message: `${path} cannot be read: ${messageOf(error)}.`, advice }
  }
}

/** 2025-01-01: a clock before it was never set. */
const earliestNow = Date.UTC(2025, 0, 1)
const clockSlackMs = 60_000

function examineClock(now: number, lastWriteAt: number | undefined): Diagnosis {
  const time = new Date(now).toISOString()
  const advice = 'Set the clock and keep it set (NTP): times in logs and the expiry of keys depend on it.'
  if (now < earliestNow) return { check: 'clock', state: 'broken', message: `The clock says ${time}.`, advice }
  if (lastWriteAt !== undefined && lastWriteAt > now + clockSlackMs) {
    const message = `The clock says ${time}; the database was written at ${new Date(lastWriteAt).toISOString()}.`
    return { check: 'clock', state: 'warning', message, advice }
  }
  return { check: 'clock', state: 'ok', message: `The clock says ${time}.` }
}

function writtenAt(path: string): number | undefined {
  const times = [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => statSync(file).mtimeMs)
  return times.length === 0 ? undefined : Math.max(...times)
}
