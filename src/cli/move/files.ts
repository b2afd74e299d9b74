import { statSync } from 'node:fs'
import { copyFile, mkdir, open, opendir, rename } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { syncFolder } from '../../sync-folder.ts'
import { filesName } from '../backups/contents.ts'
import { CommandError } from '../command.ts'
import type { Side } from './sides.ts'

/** The data folder with the files of runs; if `to` is set, they are to be copied there. */
export type FilesPlan = { from: string; to: string | undefined }

export type FilesOptions = {
  from: Side
  to: Side
  config: Pick<Config, 'data' | 's3Bucket'>
  /** Whether the data folder in the settings was chosen, and is not just the default. */
  hasChosenData: boolean
}

/**
 * A service on PostgreSQL keeps files in the data folder of its settings, unless it uses a bucket. A data folder that
 * both sides use stays as it is.
 */
export async function planFiles({ from, to, config, hasChosenData }: FilesOptions): Promise<FilesPlan | undefined> {
  const here = from.kind === 'sqlite' ? from.folder : resolve(config.data)
  const there = to.kind === 'sqlite' ? to.folder : hasChosenData ? resolve(config.data) : here
  for await (const _ of filesBelow(join(here, filesName))) {
    return { from: here, to: here === there || config.s3Bucket !== undefined ? undefined : there }
  }
  return undefined
}

/** Copies the files that are not there yet, and returns how many there are in all. */
export async function copyFiles(from: string, to: string): Promise<number> {
  const folders = new Set([to])
  let count = 0
  try {
    for await (const { folder, name } of filesBelow(join(from, filesName))) {
      const target = join(to, filesName, folder)
      if (!folders.has(target)) {
        await mkdir(target, { recursive: true, mode: 0o700 })
        for (const each of ancestors(folder)) folders.add(join(to, filesName, each))
      }
      await copyOne(join(from, filesName, folder, name), target, name)
      count += 1
    }
    for (const folder of folders) await syncFolder(folder)
    return count
  } catch (error) {
    throw new CommandError(`The files of runs could not be copied: ${messageOf(error)}`, undefined, error)
  }
}

/** A file gets its name when it is complete and on the disk. */
async function copyOne(source: string, folder: string, name: string): Promise<void> {
  const target = join(folder, name)
  if (statSync(target, { throwIfNoEntry: false })?.size === statSync(source).size) return
  const draft = join(folder, `.moving-${crypto.randomUUID()}`)
  await copyFile(source, draft)
  const file = await open(draft, 'r')
  await file.sync().finally(() => file.close())
  await rename(draft, target)
}

/** `a`, `a/b`, … for `a/b/…`, and the folder above them. */
function ancestors(folder: string): string[] {
  const parts = folder.split('/').filter((part) => part !== '')
  return ['', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))]
}

/** All plain files below a folder. Hidden entries are uploads in progress. */
async function* filesBelow(root: string, folder = ''): AsyncGenerator<{ folder: string; name: string }> {
  if (!statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory()) return
  for await (const entry of await opendir(join(root, folder))) {
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) yield* filesBelow(root, join(folder, entry.name))
    else if (entry.isFile()) yield { folder, name: entry.name }
  }
}
