import { existsSync, rmSync, statSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { keyFileName, keyPath } from '../../accounts/key-file.ts'
import { messageOf } from '../../domain/errors.ts'
import { databaseName, databasePath } from '../../store/sqlite/open.ts'
import { Thread } from '../../store/sqlite/thread/thread.ts'
import { CommandError } from '../command.ts'
import type { ArchiveSource } from './archive.ts'

/** The folder for the files of runs in an installation. */
export const filesName = 'files'

/** The contents of a backup. `left` counts files that disappeared before their turn. */
export type BackupCounts = { databaseBytes: number; key: boolean; files: number; left: number }

export type BackupContents = {
  /** The parts of the archive; read them once. */
  sources(): AsyncIterable<ArchiveSource>
  /** To be called for a source that does not exist any more. */
  onLeft(): void
  /** Complete when all sources were read. */
  counts(): BackupCounts
}

/**
 * Copies the database to `copy`, and lets `use` archive it with the key and the files. The copy and the other drafts
 * are always removed at the end. A stop signal aborts `signal`; the process then exits with 1. Throws `CommandError`.
 */
export async function withBackupContents<Made>(
  data: string,
  drafts: { copy: string; others: readonly string[] },
  use: (contents: BackupContents, signal: AbortSignal) => Promise<Made>,
): Promise<Made> {
  const { copy, others } = drafts
  const stopping = new AbortController()
  const discard = () => {
    for (const path of [copy, `${copy}-journal`, ...others]) rmSync(path, { force: true })
  }
  const interrupted = () => {
    stopping.abort(new Error('It was stopped.'))
    // The copy of a large database cannot be interrupted.
    setTimeout(() => {
      discard()
      process.exit(1)
    }, stopMs).unref()
  }
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  try {
    await Thread.copy(databasePath(data), copy)
    stopping.signal.throwIfAborted()
    const counts = { databaseBytes: statSync(copy).size, key: existsSync(keyPath(data)), files: 0, left: 0 }
    async function* sources(): AsyncGenerator<ArchiveSource> {
      yield { path: copy, name: databaseName }
      // After the database: the key file now contains every key that the copy was encrypted with.
      if (counts.key) yield { path: keyPath(data), name: keyFileName }
      for await (const name of filesBelow(data, filesName)) {
        stopping.signal.throwIfAborted()
        counts.files += 1
        yield { path: join(data, name), name }
      }
    }
    const onLeft = () => {
      counts.files -= 1
      counts.left += 1
    }
    return await use({ sources, onLeft, counts: () => counts }, stopping.signal)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`The backup failed: ${messageOf(error)}`, 'No files were left behind.', error)
  } finally {
    discard()
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
  }
}

const stopMs = 2_000

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
