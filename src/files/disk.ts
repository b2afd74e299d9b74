import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from '../sync-folder.ts'
import type { UrlSigner } from './signed-url.ts'
import type { FileStorage } from './storage.ts'

export type DiskOptions = {
  /** The folder of the files; keys are paths below it. */
  root: string
  signer: UrlSigner
  isDurable: boolean
}

/** Stores files in the data folder. The spool must be on the same disk. */
export function createDiskStorage({ root, signer, isDurable }: DiskOptions): FileStorage {
  return {
    async put(key, file) {
      const path = join(root, key)
      const folder = dirname(path)
      const made = await mkdir(folder, { recursive: true, mode: 0o700 })
      await rename(file.path, path)
      if (isDurable) await syncFolders(folder, made ? dirname(made) : folder)
    },
    async read(key) {
      const file = Bun.file(join(root, key))
      return (await file.exists()) ? file : undefined
    },
    urlOf: (key, expiresAt) => signer.sign(key, expiresAt),
    async removeFolder(folder) {
      const path = join(root, folder)
      await rm(path, { recursive: true, force: true })
      // The last run's removal also removes the empty folders of its workflow and workspace.
      for (const above of [dirname(path), dirname(dirname(path))]) {
        try {
          await rmdir(above)
        } catch {
          return
        }
      }
    },
    async *folders() {
      for (const workspace of await namesIn(root)) {
        for (const workflow of await namesIn(join(root, workspace))) {
          for (const run of await namesIn(join(root, workspace, workflow))) yield `${workspace}/${workflow}/${run}`
        }
      }
    },
  }
}

/** Skips the spool, whose folder starts with a dot. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Flushes the directory entries, from a new file's folder up to the first one that already existed. */
async function syncFolders(from: string, to: string): Promise<void> {
  for (let folder = from; ; folder = dirname(folder)) {
    await syncFolder(folder)
    if (folder === to || folder.length <= to.length) return
  }
}
