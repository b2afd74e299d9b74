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
  summary: 'writes a consistent copy of the installation into one tar file, also while the service runs',
  details: [
    'The file holds the database, the key file and the files folder: who has it can read every stored secret. A key that',
    'was given with MILLRACE_SECRET_KEY is not in it. The service goes on meanwhile; its -wal file grows until the database',
    'is copied. Beside FILE there has to be room for twice the database. The way back: millrace restore.',
  ].join('\n'),
  arguments: [{ name: 'FILE', description: 'the tar file to write' }],
  flags: { force: { description: 'replace FILE when it is there' } },
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
      const left = made.left > 0 ? ` ${count(made.left, 'file')} went while it was written and are not in it.` : ''
      terminal.say(
        `${file}: ${roundSize(made.bytes)}, ${key}${count(made.files, 'file')}, in ${(tookMs / 1000).toFixed(1)} s.${left}`,
      )
      if (config.secretKey) terminal.say('Keep MILLRACE_SECRET_KEY too: it is not in the backup.')
    }
    return 0
  },
}

/** The folder of an installation that holds runs' files. */
export const filesName = 'files'

function check({ config, switches }: Call, file: string): void {
  const path = databasePath(config.data)
  if (!existsSync(path)) {
    throw new CommandError(
      `There is no installation in ${config.data}.`,
      'Name another folder: --data or MILLRACE_DATA.',
    )
  }
  if (existsSync(file) && !switches.has('force')) {
    throw new CommandError(`${file} is there already, and was left alone.`, 'Choose another name, or add --force.')
  }
  const folder = dirname(file)
  if (!existsSync(folder)) throw new CommandError(`There is no folder ${folder}.`, 'Make it first.')
  if (file.startsWith(join(resolve(config.data), filesName, sep))) {
    throw new CommandError(`${file} lies among the files that the backup holds.`, 'Choose another folder.')
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

/** Everything is written under names of its own beside the file, which are gone when this ends, however it ends. */
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
      // After the database: what is encrypted in the copy was encrypted with a key that is in the file by now.
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
    throw new CommandError(`The backup was not made: ${messageOf(error)}`, 'Nothing was left behind.', error)
  } finally {
    discard()
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
  }
}

/** Names of all plain files below a folder, as `folder/…`; none when it is not there. */
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
