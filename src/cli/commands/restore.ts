import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { keyFileName } from '../../accounts/key-file.ts'
import { messageOf } from '../../domain/errors.ts'
import { takeLock } from '../../store/lock.ts'
import { databaseName } from '../../store/sqlite/open.ts'
import { inspectDatabase } from '../../store/sqlite/upkeep/inspect.ts'
import { syncFolder } from '../../sync-folder.ts'
import { type Command, CommandError } from '../command.ts'
import { ArchiveError, readArchive } from '../support/archive.ts'
import { count, roundSize } from '../support/size.ts'
import { filesName } from './backup.ts'

export const restore: Command = {
  summary: 'creates an installation from a backup',
  details: [
    'The data folder must not contain an installation. The command creates the folder if it does not exist. It unpacks',
    'the backup and checks every page of its database before it puts the files in place. Then start the service: keys,',
    'workflows, logs and variables are as they were at the time of the backup.',
  ].join('\n'),
  arguments: [{ name: 'FILE', description: 'a tar file written by millrace backup' }],
  settings: ['data'],
  json: true,
  examples: ['restore millrace.tar --data ./restored', 'restore /backups/monday.tar --data /var/lib/millrace'],
  async run({ arguments: [name], config, terminal, json }) {
    const file = resolve(name!)
    if (!existsSync(file)) throw new CommandError(`The file ${file} does not exist.`)
    const data = resolve(config.data)
    mkdirSync(data, { recursive: true, mode: 0o700 })
    // Held until the end, so that no service starts on an incomplete installation.
    const lock = takeLock(data)
    try {
      refuseInstallation(data)
      const { bytes, files, key } = await unpack(file, data)
      if (json) terminal.print(JSON.stringify({ data, databaseBytes: bytes, files, key }))
      else
        terminal.say(
          `${data} contains the installation: ${roundSize(bytes)}, ${count(files, 'file')}. Start it: millrace serve --data ${data}`,
        )
      return 0
    } finally {
      lock.release()
    }
  },
}

/** The parts of an installation. The database comes last, because it makes the folder an installation. */
const parts = [filesName, keyFileName, databaseName] as const
const draftPrefix = '.restore-'

function refuseInstallation(data: string): void {
  const isThere = (part: string) =>
    // An interrupted first start leaves an empty database, which is not an installation.
    part === databaseName ? !!statSync(join(data, part), { throwIfNoEntry: false })?.size : existsSync(join(data, part))
  const there = [...parts, `${databaseName}-wal`].find(isThere)
  if (there === undefined) return
  throw new CommandError(
    `${data} already contains an installation (${there}). Nothing was changed.`,
    'Restore into another folder (--data), or move the contents of this one away.',
  )
}

async function unpack(file: string, data: string): Promise<{ bytes: number; files: number; key: boolean }> {
  // These folders are left from a restore that was killed. No other process uses the folder now.
  for (const name of readdirSync(data)) {
    if (name.startsWith(draftPrefix)) rmSync(join(data, name), { recursive: true, force: true })
  }
  const draft = mkdtempSync(join(data, draftPrefix))
  try {
    const names = await readArchive(file, draft, isPart)
    checkDatabase(file, join(draft, databaseName))
    const made = {
      bytes: statSync(join(draft, databaseName)).size,
      files: names.filter((name) => name.startsWith(`${filesName}/`)).length,
      key: names.includes(keyFileName),
    }
    await syncFolders(draft)
    for (const part of parts) if (existsSync(join(draft, part))) renameSync(join(draft, part), join(data, part))
    await syncFolder(data)
    return made
  } catch (error) {
    if (error instanceof CommandError) throw error
    if (error instanceof ArchiveError) throw new CommandError(`${file} is not a backup. ${error.message}`, unchanged)
    throw new CommandError(`${file} could not be restored: ${messageOf(error)}`, unchanged, error)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const unchanged = 'Nothing was restored.'

/** Only plain names below the files folder, and the two files next to it. */
function isPart(name: string): boolean {
  if (name === databaseName || name === keyFileName) return true
  const [first, ...segments] = name.split('/')
  return first === filesName && segments.length > 0 && segments.every(isPlain)
}

function isPlain(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && !segment.includes('\0') && !segment.includes('\\')
}

function checkDatabase(file: string, path: string): void {
  if (!existsSync(path)) throw new ArchiveError(`It contains no ${databaseName}.`)
  const { problems, foreign, tooNew } = inspectDatabase(path, { thorough: true })
  if (foreign) throw new ArchiveError(`Its ${databaseName} was not created by Millrace.`)
  if (tooNew) {
    throw new CommandError(
      `${file} was written by a newer version of Millrace.`,
      'Restore it with that version or a later one.',
    )
  }
  if (problems.length > 0) throw new CommandError(`${file} is damaged: ${problems.join('; ')}.`, unchanged)
}

async function syncFolders(path: string): Promise<void> {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(join(path, entry.name))
  }
  await syncFolder(path)
}
