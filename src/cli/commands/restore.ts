import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { keyFileName } from '../../accounts/key-file.ts'
import type { Config } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { takeLock } from '../../store/lock.ts'
import { databaseName } from '../../store/sqlite/open.ts'
import { inspectDatabase } from '../../store/sqlite/upkeep/inspect.ts'
import { syncFolder } from '../../sync-folder.ts'
import { ArchiveError, readArchive } from '../backups/archive.ts'
import { bucketAddressOf, bucketError, openBucket } from '../backups/bucket.ts'
import { filesName } from '../backups/contents.ts'
import { draftPrefix, hasDatabase, installationParts, putInPlace, takeBackParts } from '../backups/placing.ts'
import { type Command, CommandError, UsageError } from '../command.ts'
import { refusePostgres } from '../installation/open-store.ts'
import { count, roundSize } from '../support/size.ts'

export const restore: Command = {
  summary: 'creates an installation from a backup',
  details: [
    'The data folder must not contain an installation. The command creates the folder if it does not exist. It unpacks',
    'the backup and checks every page of its database before it puts the files in place. Then start the service: keys,',
    'workflows, logs and variables are as they were at the time of the backup. If the command is interrupted, run it',
    'again: it first removes what the earlier attempt left.',
  ].join('\n'),
  arguments: [{ name: 'FILE', description: 'a tar file written by millrace backup', optional: true }],
  flags: {
    from: {
      value: 'ADDRESS',
      description:
        'instead of FILE: s3://BUCKET/PATH for the newest backup there, or s3://BUCKET/PATH/NAME for one of them',
    },
  },
  settings: ['data', 's3Endpoint', 's3Region', 's3ForcePathStyle'],
  json: true,
  examples: [
    'restore millrace.tar --data ./restored',
    'restore /backups/monday.tar --data /var/lib/millrace',
    'restore --from s3://backups/millrace --data ./restored',
  ],
  async run({ arguments: [name], flags, config, terminal, json }) {
    refusePostgres(config, 'restore', 'Restore a dump of the PostgreSQL database with pg_restore.')
    const { from } = flags
    if ((name === undefined) === (from === undefined)) throw new UsageError('Write either FILE or --from ADDRESS.')
    const file = name === undefined ? undefined : resolve(name)
    if (file !== undefined && !existsSync(file)) throw new CommandError(`The file ${file} does not exist.`)
    const data = resolve(config.data)
    mkdirSync(data, { recursive: true, mode: 0o700 })
    // Held until the end, so that no service starts on an incomplete installation.
    const lock = takeLock(data)
    try {
      takeBackParts(data)
      refuseInstallation(data)
      removeDrafts(data)
      const { path, source, other } =
        file === undefined ? await download(from!, data, config) : { path: file, source: file, other: undefined }
      const { bytes, files, key } = await unpack(path, source, data).finally(() => {
        if (path !== file) rmSync(path, { force: true })
      })
      if (json)
        terminal.print(
          JSON.stringify({ data, databaseBytes: bytes, files, key, ...(from === undefined ? {} : { from: source }) }),
        )
      else
        terminal.say(
          `${data} contains the installation: ${roundSize(bytes)}, ${count(files, 'file')}. Start it: millrace serve --data ${data}`,
        )
      if (other !== undefined) terminal.say(`It is from ${source}. The newest backup of another installation: ${other}`)
      return 0
    } finally {
      lock.release()
    }
  },
}

function refuseInstallation(data: string): void {
  const isThere = (part: string) => (part === databaseName ? hasDatabase(data) : existsSync(join(data, part)))
  const there = [...installationParts, `${databaseName}-wal`].find(isThere)
  if (there === undefined) return
  throw new CommandError(
    `${data} already contains an installation (${there}). Nothing was changed.`,
    'Restore into another folder (--data), or move the contents of this one away.',
  )
}

/** Removes what a restore left that was killed. No other process uses the folder now. */
function removeDrafts(data: string): void {
  for (const name of readdirSync(data)) {
    if (name.startsWith(draftPrefix)) rmSync(join(data, name), { recursive: true, force: true })
  }
}

/** `source`: the full address. `other`: that of the newest backup of another installation, if there was a choice. */
type Downloaded = { path: string; source: string; other: string | undefined }

/** Downloads the newest backup, or the one that the address names. */
async function download(from: string, data: string, config: Config): Promise<Downloaded> {
  const address = bucketAddressOf(from)
  const path = join(data, `${draftPrefix}${crypto.randomUUID()}.tar`)
  try {
    const bucket = await openBucket(address, config)
    const stored = await bucket.list()
    const chosen = address.name === undefined ? stored[0] : stored.find(({ name }) => name === address.name)
    if (!chosen) {
      const what = address.name === undefined ? 'There is no backup in' : 'There is no backup'
      throw new CommandError(`${what} ${from}.`, unchanged)
    }
    const { bavail, bsize } = statfsSync(data)
    if (bavail * bsize < 2 * chosen.bytes) {
      const needed = `${data} has ${roundSize(bavail * bsize)} free; this backup needs ${roundSize(2 * chosen.bytes)}.`
      throw new CommandError(needed, 'Free space, or restore to another disk.')
    }
    await bucket.download(chosen.name, path)
    const other = stored.find(({ installation }) => installation !== chosen.installation)
    const place = `s3://${address.bucket}/${address.prefix}`
    return {
      path,
      source: place + chosen.name,
      other: other && address.name === undefined ? place + other.name : undefined,
    }
  } catch (error) {
    rmSync(path, { force: true })
    throw bucketError(address, error)
  }
}

async function unpack(
  file: string,
  source: string,
  data: string,
): Promise<{ bytes: number; files: number; key: boolean }> {
  const draft = mkdtempSync(join(data, draftPrefix))
  try {
    const names = await readArchive(file, draft, isPart)
    checkDatabase(source, join(draft, databaseName))
    const made = {
      bytes: statSync(join(draft, databaseName)).size,
      files: names.filter((name) => name.startsWith(`${filesName}/`)).length,
      key: names.includes(keyFileName),
    }
    await syncFolders(draft)
    await putInPlace(draft, data)
    return made
  } catch (error) {
    takeBackParts(data)
    if (error instanceof CommandError) throw error
    if (error instanceof ArchiveError) throw new CommandError(`${source} is not a backup. ${error.message}`, unchanged)
    throw new CommandError(`${source} could not be restored: ${messageOf(error)}`, unchanged, error)
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
  const { problems, foreign, unfinished, tooNew } = inspectDatabase(path, { thorough: true })
  if (unfinished) throw new ArchiveError(`Its ${databaseName} is from an unfinished move.`)
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
