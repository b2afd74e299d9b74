import { existsSync, statfsSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { type BucketAddress, backupName } from '../../backup/bucket-address.ts'
import { makeInstallationId } from '../../backup/installation-id.ts'
import type { Config } from '../../config.ts'
import { databasePath } from '../../store/sqlite/open.ts'
import { syncFolder } from '../../sync-folder.ts'
import { archivePieces, writeArchive } from '../backups/archive.ts'
import {
  bucketAddressOf,
  bucketError,
  draftName,
  isBucketAddress,
  openBucket,
  removeOldDrafts,
} from '../backups/bucket.ts'
import { type BackupCounts, filesName, withBackupContents } from '../backups/contents.ts'
import { type Call, type Command, CommandError, UsageError } from '../command.ts'
import { refusePostgres } from '../installation/open-store.ts'
import { count, roundSize } from '../support/size.ts'

export const backup: Command = {
  summary: 'writes a consistent copy of the installation to a tar file or a bucket, even while the service runs',
  details: [
    'The file contains the database, the key file and the files folder. Everyone who has it can read all stored secrets.',
    'It does not contain a key from MILLRACE_SECRET_KEY. The service keeps running; its -wal file grows until the',
    'database is copied. The disk of FILE needs room for twice the database. To restore: millrace restore.',
    'In a bucket, the backup gets a name with the time and an ID of the installation, such as',
    'millrace-2026-11-23T21-00-00Z-3f9a1c2e-7b21d0c4.tar, and the data folder needs room for a copy of the database.',
    'With MILLRACE_BACKUP, the service itself makes such backups regularly.',
  ].join('\n'),
  arguments: [{ name: 'FILE', description: 'the tar file to write, or s3://BUCKET/PATH' }],
  flags: {
    force: { description: 'replace an existing FILE' },
    prune: { description: 'then delete all but the newest MILLRACE_BACKUP_KEEP backups of this installation there' },
  },
  settings: ['data', 'backupKeep', 's3Endpoint', 's3Region', 's3ForcePathStyle'],
  json: true,
  examples: [
    'backup millrace.tar',
    'backup /backups/monday.tar --data /var/lib/millrace --force',
    'backup s3://backups/millrace --prune',
  ],
  async run(call) {
    const { config, terminal, json } = call
    refusePostgres(config, 'backup', 'Back up the PostgreSQL database with pg_dump.')
    const [target = ''] = call.arguments
    const startedAt = performance.now()
    const made = isBucketAddress(target) ? await backUpToBucket(call, target) : await backUpToFile(call, target)
    const tookMs = Math.round(performance.now() - startedAt)
    if (json) terminal.print(JSON.stringify({ ...made, tookMs }))
    else {
      terminal.say(`${made.file}: ${roundSize(made.bytes)}, ${contentsText(made)}, in ${(tookMs / 1000).toFixed(1)} s.`)
      if (made.left > 0) terminal.say(`${count(made.left, 'file')} disappeared meanwhile and are not in it.`)
      if (made.pruneFailure) terminal.say(`Older backups were not deleted. ${made.pruneFailure}`)
      if (made.pruned) terminal.say(`${count(made.pruned, 'older backup')} deleted.`)
      if (config.secretKey) terminal.say('Keep MILLRACE_SECRET_KEY too: it is not in the backup.')
    }
    return 0
  },
}

/**
 * `file`: the path or address of the backup. `pruned`: how many older backups were deleted from the bucket.
 * `pruneFailure`: why not all of them could be deleted.
 */
type Made = BackupCounts & { file: string; bytes: number } & Pruned
type Pruned = { pruned?: number; pruneFailure?: string }

function contentsText({ key, files }: Made): string {
  return `${key ? 'with the key of stored secrets; ' : ''}${count(files, 'file')}`
}

/** Writes to temporary files next to the target. */
async function backUpToFile({ config, switches }: Call, target: string): Promise<Made> {
  const data = resolve(config.data)
  const file = resolve(target)
  const databaseBytes = databaseSize(config)
  if (switches.has('prune')) throw new UsageError('--prune deletes backups in a bucket: write s3://BUCKET/PATH.')
  if (existsSync(file) && !switches.has('force')) {
    throw new CommandError(`${file} already exists. Nothing was changed.`, 'Choose another name, or add --force.')
  }
  const folder = dirname(file)
  if (!existsSync(folder)) throw new CommandError(`The folder ${folder} does not exist.`, 'Create it first.')
  if (file.startsWith(join(data, filesName, sep))) {
    throw new CommandError(`${file} is inside a folder that the backup contains.`, 'Choose another folder.')
  }
  requireSpace(folder, 2 * databaseBytes)
  const draft = join(folder, `.${basename(file)}.${crypto.randomUUID()}`)
  const archive = `${draft}.tar`
  return await withBackupContents(data, { copy: `${draft}.db`, others: [archive] }, async (contents, signal) => {
    await writeArchive(archive, contents.sources(), contents.onLeft)
    signal.throwIfAborted()
    const bytes = statSync(archive).size
    await rename(archive, file)
    await syncFolder(folder)
    return { file, bytes, ...contents.counts() }
  })
}

/** Copies only the database to the disk, and sends the archive as it is made. */
async function backUpToBucket({ config, switches }: Call, target: string): Promise<Made> {
  const data = resolve(config.data)
  const address = bucketAddressOf(target)
  if (address.name !== undefined) {
    throw new UsageError(`${target} is the name of a backup.`, 'Name the bucket and the path only.')
  }
  const databaseBytes = databaseSize(config)
  removeOldDrafts(data)
  requireSpace(data, databaseBytes)
  const bucket = await openBucket(address, config)
  const installation = await makeInstallationId(data)
  const copy = join(data, draftName('.db'))
  return await withBackupContents(data, { copy, others: [] }, async (contents, signal) => {
    const name = backupName(Date.now(), installation)
    try {
      const bytes = await bucket.put(name, archivePieces(contents.sources(), contents.onLeft), signal)
      const pruned = switches.has('prune')
        ? await pruneAfter(address, () => bucket.prune(installation, config.backupKeep, name))
        : {}
      return { file: `s3://${address.bucket}/${address.prefix}${name}`, bytes, ...contents.counts(), ...pruned }
    } catch (error) {
      throw bucketError(address, error)
    }
  })
}

/** The backup has been made, so a failure is only reported: some credentials may write, but not delete. */
async function pruneAfter(address: BucketAddress, prune: () => Promise<number>): Promise<Pruned> {
  try {
    return { pruned: await prune() }
  } catch (error) {
    const { message, hint } = bucketError(address, error)
    return { pruneFailure: hint === undefined ? message : `${message} ${hint}` }
  }
}

/** The size of the database in bytes. Throws when there is none. */
function databaseSize({ data }: Config): number {
  const size = statSync(databasePath(data), { throwIfNoEntry: false })?.size
  if (size !== undefined) return size
  throw new CommandError(`There is no installation in ${data}.`, 'Use --data or MILLRACE_DATA for another folder.')
}

function requireSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize >= bytes) return
  throw new CommandError(
    `${folder} has ${roundSize(bavail * bsize)} free; a backup of this installation needs up to ${roundSize(bytes)}.`,
    'Free space, or write the backup to another disk.',
  )
}
