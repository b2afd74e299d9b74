import { open } from 'node:fs/promises'

/** Has the names in a folder on the disk: a file that was made or renamed is there after a power cut too. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
