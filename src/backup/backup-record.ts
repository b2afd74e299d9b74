import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The last good backup. `at`: when it began, in epoch milliseconds. */
export type BackupRecord = { at: number; bytes: number }

/** The file in the data folder that remembers the last good backup across restarts. */
const fileName = 'backup.json'

/** Undefined when there is no backup at this address, or the file cannot be read. */
export async function readBackupRecord(data: string, address: string): Promise<BackupRecord | undefined> {
  try {
    const found = JSON.parse(await readFile(join(data, fileName), 'utf8')) as Partial<
      BackupRecord & { address: string }
    >
    const { at, bytes } = found
    return found.address === address && Number.isFinite(at) && Number.isFinite(bytes)
      ? { at: at as number, bytes: bytes as number }
      : undefined
  } catch {
    return undefined
  }
}

export async function writeBackupRecord(data: string, address: string, record: BackupRecord): Promise<void> {
  const path = join(data, fileName)
  await writeFile(`${path}.new`, JSON.stringify({ address, ...record }), { mode: 0o600 })
  await rename(`${path}.new`, path)
}
