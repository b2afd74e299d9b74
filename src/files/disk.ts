import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { syncFolder } from '../sync-folder.ts'
import type { UrlSigner } from './signed-url.ts'
import type { FileStorage } from './storage.ts'

export type DiskOptions = {
  /** The folder of the files, in the data folder; keys are paths below it. */
  root: string
  signer: UrlSigner
  isDurable: boolean
}

/** Stores files in the data folder. The spool must be on the same disk. */
export function createDiskStorage({ root, signer, isDurable }: DiskOptions): FileStorage {
  const durable = new DurableFolders(root)
  return {
    async put(key, file) {
      const path = join(root, key)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await rename(file.path, path)
      if (isDurable) await durable.sync(path)
    },
    async read(key) {
      const file = Bun.file(join(root, key))
      return (await file.exists()) ? file : undefined
    },
    async open(key) {
      const path = join(root, key)
      try {
        return { path, size: (await stat(path)).size, close: async () => undefined }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    urlOf: (key, expiresAt) => signer.sign(key, expiresAt),
    async removeFolder(folder) {
      const path = join(root, folder)
      durable.forget(path)
      await rm(path, { recursive: true, force: true })
      // The last run's removal also removes the empty folders of its workflow and workspace.
      for (const above of [dirname(path), dirname(dirname(path))]) {
        try {
          durable.forget(above)
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

/**
 * Flushes the directory entries of a stored file and of every folder above it, up to the entry of the root in the data
 * folder. The entry of a folder is flushed once per process. That it existed already does not mean that it is on disk:
 * another request may have just made it, or a process that was killed.
 */
class DurableFolders {
  readonly #root: string
  readonly #known = new Map<string, true>()

  constructor(root: string) {
    this.#root = root
  }

  async sync(path: string): Promise<void> {
    let entry = path
    do {
      const folder = dirname(entry)
      if (!this.#known.has(entry)) await syncFolder(folder)
      if (entry !== path) this.#known.set(entry, true)
      entry = folder
    } while (entry.length >= this.#root.length)
    forgetOldest(this.#known, foldersMax)
  }

  forget(folder: string): void {
    this.#known.delete(folder)
  }
}

const foldersMax = 10_000
