import { open } from 'node:fs/promises'

/** Flushes a folder's entries to the disk, so that a file created or renamed in it survives a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } catch (error) {
    // Some network file systems do not support this. SQLite ignores the error too.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  } finally {
    await folder.close()
  }
}
