import { rmSync, statSync } from 'node:fs'
import { open, rename, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * A file that only takes space. It is removed when the disk is full, so that old log entries can be deleted. Deleting
 * needs space first: the deletions go to the WAL, the WAL is moved into the database, and a WAL that was written until
 * the disk was full has pages for which the database must grow.
 */
export const reserveName = 'millrace.reserve'

/** More than the WAL holds before it is moved, also under load; but less than it may hold during a backup. */
export const reserveBytes = 33_554_432
/** The reserve is created only where this many times its size is free. */
const reservesFreeMin = 4

/** False when there is none. */
export function releaseReserve(databasePath: string): boolean {
  const path = reservePath(databasePath)
  if (!statSync(path, { throwIfNoEntry: false })) return false
  rmSync(path, { force: true })
  return true
}

/** Creates the reserve when it is missing and the disk has room. Never rejects: it is only a precaution. */
export async function keepReserve(databasePath: string): Promise<void> {
  const path = reservePath(databasePath)
  // A power cut may have left an incomplete file.
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
    // Random bytes: a file system that compresses would reserve no space for zeros.
    const piece = crypto.getRandomValues(new Uint8Array(65_536))
    for (let written = 0; written < reserveBytes; ) written += (await file.write(piece)).bytesWritten
  } finally {
    await file.close()
  }
}
