import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../domain/ids.ts'

/**
 * The file in the data folder with the ID that the names of this installation's backups contain. Backups do not contain
 * it: a restored installation is another one, and must not delete the backups of the first.
 */
const fileName = 'backup-id'

/** Undefined when this installation has made no backup in a bucket yet. */
export async function readInstallationId(data: string): Promise<string | undefined> {
  try {
    const text = (await readFile(join(data, fileName), 'utf8')).trim()
    return /^[0-9a-f]{8}$/.test(text) ? text : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Reads the ID, or creates it before the first backup. */
export async function makeInstallationId(data: string): Promise<string> {
  const path = join(data, fileName)
  const draft = `${path}.${newId()}`
  const known = await readInstallationId(data)
  if (known !== undefined) return known
  try {
    await writeFile(draft, `${newId().slice(0, 8)}\n`, { mode: 0o600 })
    // Creating a link is atomic and never replaces the ID of another process that was faster.
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  const made = await readInstallationId(data)
  if (made === undefined) throw new Error(`${path} is damaged. Delete it to get a new one`)
  return made
}
