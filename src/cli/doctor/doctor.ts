import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, storeKindOf } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { serverOf } from '../../store/lock.ts'
import { databasePath } from '../../store/sqlite/open.ts'
import { inspectOutbox } from '../../store/sqlite/upkeep/inspect-outbox.ts'
import { inspectSchedules } from '../../store/sqlite/upkeep/inspect-schedules.ts'
import type { Command, LoadedSettings } from '../command.ts'
import { checkServiceMail } from '../installation/mail-settings.ts'
import { allowListOf, proxiesOf } from '../support/allow-list.ts'
import { assistantModelOf, priceTableOf } from '../support/model-settings.ts'
import { examineBackups } from './backups.ts'
import type { Diagnosis } from './diagnosis.ts'
import { examineFiles } from './files.ts'
import { examineKey } from './key.ts'
import { examineMail } from './mail.ts'
import { examinePostgres } from './postgres.ts'
import { examineSchedules } from './schedules.ts'
import { examineDatabase, examineDisk, examineLegacyJournal } from './storage.ts'
import { examineWebhooks, failedSince } from './webhooks.ts'

export const doctor: Command = {
  summary:
    'checks settings, data folder, disk, database, key file, webhooks, mail server and clock; exits with 1 if something is broken',
  details: 'It changes nothing and works while the service runs.',
  settings: ['data', 'store'],
  json: true,
  examples: ['doctor', 'doctor --data /var/lib/millrace --json'],
  async run({ config, settings, terminal, json }) {
    const findings = await examine(config, settings, Date.now())
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

const marks: Readonly<Record<Diagnosis['state'], string>> = { ok: 'ok    ', warning: 'look  ', broken: 'BROKEN' }

async function examine(config: Config, settings: LoadedSettings, now: number): Promise<Diagnosis[]> {
  if (storeKindOf(config) === 'postgres') return await examineWithPostgres(config, settings, now)
  const folder = resolve(config.data)
  const found = [...examineSettings(config, settings), examineFolder(folder)]
  if (!existsSync(folder)) return [...found, examineClock(now, undefined)]
  const { served, service } = examineLock(folder)
  return [
    ...found,
    examineDisk(folder, config),
    service,
    examineDatabase(folder),
    ...examineLegacyJournal(folder, served),
    examineKey(folder, config),
    ...examineWebhooks(inspectOutbox(databasePath(folder), failedSince(now)), now),
    ...examineSchedules(inspectSchedules(databasePath(folder)), now, served),
    ...(config.s3Bucket === undefined ? [] : [await examineFiles(config)]),
    ...(config.backup === undefined ? [] : [await examineBackups(config.backup, config, now)]),
    ...(await examineMail(config)),
    examineClock(now, writtenAt(databasePath(folder))),
  ]
}

async function examineWithPostgres(config: Config, settings: LoadedSettings, now: number): Promise<Diagnosis[]> {
  const files = config.s3Bucket === undefined ? examineFolder(resolve(config.data)) : await examineFiles(config)
  return [
    ...examineSettings(config, settings),
    ...(await examinePostgres(config, now)),
    files,
    ...(await examineMail(config)),
  ]
}

function examineSettings(config: Config, { warnings }: LoadedSettings): Diagnosis[] {
  const check = 'settings'
  const found: Diagnosis[] = warnings.map((message) => ({ check, state: 'warning', message }))
  // The start checks these settings more strictly than their schema does.
  for (const read of [allowListOf, proxiesOf, priceTableOf, assistantModelOf, checkServiceMail]) {
    try {
      read(config)
    } catch (error) {
      found.push({ check, state: 'broken', message: messageOf(error) })
    }
  }
  if (found.length > 0) return found
  return [{ check, state: 'ok', message: 'All settings are valid.' }]
}

function examineFolder(folder: string): Diagnosis {
  const check = 'folder'
  if (!existsSync(folder)) {
    const advice =
      'millrace serve creates it at its first start, and millrace init without starting. Use --data for another folder.'
    return { check, state: 'warning', message: `${folder} does not exist yet.`, advice }
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
      'Make the user that runs the service the owner of the folder and of everything in it, and check the free space.'
    return { check, state: 'broken', message: `${folder} is not writable: ${messageOf(error)}.`, advice }
  }
  if ((statSync(folder).mode & 0o007) !== 0) {
    const advice = `It contains keys and logs. Run: chmod 700 ${folder}`
    return {
      check,
      state: 'warning',
      message: `${folder} is writable, but every user of the machine can enter it.`,
      advice,
    }
  }
  return { check, state: 'ok', message: `${folder} is writable.` }
}

function examineLock(folder: string): { served: boolean; service: Diagnosis } {
  const check = 'service'
  try {
    const who = serverOf(folder)
    const message = who === undefined ? 'No service uses the folder.' : `A service uses the folder: ${who}.`
    return { served: who !== undefined, service: { check, state: 'ok', message } }
  } catch (error) {
    const advice = 'Make the user that runs the service the owner of the folder and of everything in it.'
    return { served: false, service: { check, state: 'broken', message: messageOf(error), advice } }
  }
}

/** 2025-01-01. An earlier time means that the clock was never set. */
const earliestNow = Date.UTC(2025, 0, 1)
const clockSlackMs = 60_000

function examineClock(now: number, lastWriteAt: number | undefined): Diagnosis {
  const time = new Date(now).toISOString()
  const advice = 'Set the clock and keep it synchronised (NTP). Times in logs and the expiry of keys depend on it.'
  if (now < earliestNow) return { check: 'clock', state: 'broken', message: `The clock shows ${time}.`, advice }
  if (lastWriteAt !== undefined && lastWriteAt > now + clockSlackMs) {
    const message = `The clock shows ${time}, but the database was written at ${new Date(lastWriteAt).toISOString()}.`
    return { check: 'clock', state: 'warning', message, advice }
  }
  return { check: 'clock', state: 'ok', message: `The clock shows ${time}.` }
}

function writtenAt(path: string): number | undefined {
  const times = [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => statSync(file).mtimeMs)
  return times.length === 0 ? undefined : Math.max(...times)
}
