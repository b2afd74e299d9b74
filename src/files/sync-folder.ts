import { open } from 'node:fs/promises'

/** Has the names in a folder on the disk: a file that was made or renamed is there after a power cut too. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } catch (error) {
    // Some file systems of networks cannot, and keep names in their own way. SQLite passes over it as well.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  } finally {
    await folder.close()
  }
}
