import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The bytes that a folder takes on disk. Files may disappear while they are counted. */
export function folderBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    try {
      bytes += statSync(join(entry.parentPath, entry.name)).blocks * 512
    } catch {
      // The file is gone.
    }
  }
  return bytes
}
