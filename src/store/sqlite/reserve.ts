import { rmSync, statSync } from 'node:fs'
import { open, rename, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * A file of nothing, given up when the disk is full so that old log entries can be deleted all the same. Deleting takes space
 * first: it has to be written to the WAL, the WAL to be moved into the database, and a WAL that was written until the
 * disk was full has pages for which the database has to grow.
 */
export const reserveName = 'millrace.reserve'

/** More than a WAL holds before it is moved, also when much is written meanwhile; but not what a backup makes of it. */
export const reserveBytes = 33_554_432
/** The reserve is kept where so many of it are free. */
const reservesFreeMin = 4

/** False when there is none. */
export function releaseReserve(databasePath: string): boolean {
  const path = reservePath(databasePath)
  if (!statSync(path, { throwIfNoEntry: false })) return false
  rmSync(path, { force: true })
  return true
}

/** Makes the reserve when there is none and the disk has room for it. Never rejects: it is a precaution. */
export async function keepReserve(databasePath: string): Promise<void> {
  const path = reservePath(databasePath)
  // A power cut may have left less of it.
  if (statSync(path, { throwIfNoEntry: false })?.size === reserveBytes) return
  const draft = `${path}.draft`
  try {
    const { bavail, bsize } = await statfs(dirname(path))
    if (bavail * bsize < reserveBytes * reservesFreeMin) return
    await fill(draft)
    await rename(draft, path)
  } catch {
    await rm(draft, { force: true }).catch(() => {})
  }
}

function reservePath(databasePath: string): string {
  return join(dirname(databasePath), reserveName)
}

async function fill(path: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    // Noise: a file system that compresses would keep no space for zeros.
    const piece = crypto.getRandomValues(new Uint8Array(65_536))
    for (let written = 0; written < reserveBytes; ) written += (await file.write(piece)).bytesWritten
  } finally {
    await file.close()
  }
}
