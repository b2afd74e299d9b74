import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Flushes a folder's entries to disk: files created or renamed in it keep their names after a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } catch (error) {
    if (!isUnsupported(error)) throw error
  } finally {
    await folder.close()
  }
}

/** The same for callers that cannot wait for a promise. */
export function syncFolderSync(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } catch (error) {
    if (!isUnsupported(error)) throw error
  } finally {
    closeSync(folder)
  }
}

/** Some network file systems cannot flush a folder and store names in their own way. SQLite ignores this error, too. */
function isUnsupported(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EINVAL'
}
