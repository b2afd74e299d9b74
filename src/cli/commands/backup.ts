import { existsSync, rmSync, statfsSync, statSync } from 'node:fs'
import { opendir, rename } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { keyFileName, keyPath } from '../../accounts/key-file.ts'
import { messageOf } from '../../domain/errors.ts'
import { databaseName, databasePath } from '../../store/sqlite/open.ts'
import { Thread } from '../../store/sqlite/thread/thread.ts'
import { syncFolder } from '../../sync-folder.ts'
import { type Call, type Command, CommandError } from '../command.ts'
import { type ArchiveSource, writeArchive } from '../support/archive.ts'
import { count, roundSize } from '../support/size.ts'

export const backup: Command = {
  summary: 'writes a consistent copy of the installation to a tar file, even while the service runs',
  details: [
    'The file contains the database, the key file and the files folder. Everyone who has it can read all stored secrets.',
    'It does not contain a key from MILLRACE_SECRET_KEY. The service keeps running; its -wal file grows until the',
    'database is copied. The disk of FILE needs room for twice the database. To restore: millrace restore.',
  ].join('\n'),
  arguments: [{ name: 'FILE', description: 'the tar file to write' }],
  flags: { force: { description: 'replace an existing FILE' } },
  settings: ['data'],
  json: true,
  examples: ['backup millrace.tar', 'backup /backups/monday.tar --data /var/lib/millrace --force'],
  async run(call) {
    const { config, terminal, json } = call
    const file = resolve(call.arguments[0]!)
    check(call, file)
    const startedAt = performance.now()
    const made = await make(resolve(config.data), file)
    const tookMs = Math.round(performance.now() - startedAt)
    if (json) terminal.print(JSON.stringify({ ...made, tookMs }))
    else {
      const key = made.key ? 'with the key of stored secrets; ' : ''
      const left = made.left > 0 ? ` ${count(made.left, 'file')} disappeared meanwhile and are not in it.` : ''
      terminal.say(
        `${file}: ${roundSize(made.bytes)}, ${key}${count(made.files, 'file')}, in ${(tookMs / 1000).toFixed(1)} s.${left}`,
      )
      if (config.secretKey) terminal.say('Keep MILLRACE_SECRET_KEY too: it is not in the backup.')
    }
    return 0
  },
}

/** The folder for the files of runs in an installation. */
export const filesName = 'files'

function check({ config, switches }: Call, file: string): void {
  const path = databasePath(config.data)
  if (!existsSync(path)) {
    throw new CommandError(
      `There is no installation in ${config.data}.`,
      'Use --data or MILLRACE_DATA for another folder.',
    )
  }
  if (existsSync(file) && !switches.has('force')) {
    throw new CommandError(`${file} already exists. Nothing was changed.`, 'Choose another name, or add --force.')
  }
  const folder = dirname(file)
  if (!existsSync(folder)) throw new CommandError(`The folder ${folder} does not exist.`, 'Create it first.')
  if (file.startsWith(join(resolve(config.data), filesName, sep))) {
    throw new CommandError(`${file} is inside a folder that the backup contains.`, 'Choose another folder.')
  }
  const { bavail, bsize } = statfsSync(folder)
  const needed = 2 * statSync(path).size
  if (bavail * bsize < needed) {
    throw new CommandError(
      `${folder} has ${roundSize(bavail * bsize)} free; a backup of this installation needs up to ${roundSize(needed)}.`,
      'Free space, or write the backup to another disk.',
    )
  }
}

type Made = { file: string; bytes: number; databaseBytes: number; key: boolean; files: number; left: number }

/** Writes to temporary files next to the target, which are always removed at the end. */
async function make(data: string, file: string): Promise<Made> {
  const draft = join(dirname(file), `.${basename(file)}.${crypto.randomUUID()}`)
  const copy = `${draft}.db`
  const archive = `${draft}.tar`
  const discard = () => {
    for (const path of [copy, `${copy}-journal`, archive]) rmSync(path, { force: true })
  }
  const interrupted = () => {
    discard()
    process.exit(1)
  }
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  try {
    await Thread.copy(databasePath(data), copy)
    const made = {
      file,
      bytes: 0,
      databaseBytes: statSync(copy).size,
      key: existsSync(keyPath(data)),
      files: 0,
      left: 0,
    }
    async function* sources(): AsyncGenerator<ArchiveSource> {
      yield { path: copy, name: databaseName }
      // After the database: the key file now contains every key that the copy was encrypted with.
      if (made.key) yield { path: keyPath(data), name: keyFileName }
      for await (const name of filesBelow(data, filesName)) {
        made.files += 1
        yield { path: join(data, name), name }
      }
    }
    await writeArchive(archive, sources(), () => {
      made.files -= 1
      made.left += 1
    })
    made.bytes = statSync(archive).size
    await rename(archive, file)
    await syncFolder(dirname(file))
    return made
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`The backup failed: ${messageOf(error)}`, 'No files were left behind.', error)
  } finally {
    discard()
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
  }
}

/** The names of all plain files below a folder, as `folder/…`; none when the folder does not exist. */
async function* filesBelow(root: string, folder: string): AsyncGenerator<string> {
  const path = join(root, folder)
  if (!existsSync(path)) return
  for await (const entry of await opendir(path)) {
    const name = `${folder}/${entry.name}`
    // Hidden entries are uploads in progress. They do not belong to a run yet.
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) yield* filesBelow(root, name)
    else if (entry.isFile()) yield name
  }
}
