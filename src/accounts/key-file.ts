import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../domain/errors.ts'
import { syncFolderSync } from '../sync-folder.ts'

/**
 * The keys of the key file: 32 bytes in base64, one a line. The first line seals, the others still open what was sealed
 * with them: a key is rotated by writing a new first line. Empty when there is no file; throws `STORAGE_UNAVAILABLE`
 * when there is one that cannot be read or understood.
 */
export function readKeyFile(directory: string): Uint8Array[] {
  const path = keyPath(directory)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw broken(`${path} cannot be read: ${messageOf(error)}.`, error)
  }
  const lines = text.split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line !== '').map((line) => new Uint8Array(Buffer.from(line, 'base64')))
  if (keys.length === 0 || keys.some((key) => key.length !== keyBytes)) {
    throw broken(`${path} is damaged: each of its lines is a key, 32 bytes in base64.`)
  }
  return keys
}

/**
 * Makes the key file, mode 600, and gives its keys; those of the other process when two make it at once. The file and
 * its place in the folder are on disk before this returns, so nothing can be stored whose key a power cut takes away.
 */
export function makeKeyFile(directory: string): Uint8Array[] {
  const path = keyPath(directory)
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    writeDurably(draft, `${Buffer.from(crypto.getRandomValues(new Uint8Array(keyBytes))).toString('base64')}\n`)
    try {
      // A link is there as a whole or not at all, and never over a file that is there already.
      linkSync(draft, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    syncFolderSync(directory)
  } catch (error) {
    throw broken(`The key file ${path} cannot be made: ${messageOf(error)}.`, error)
  } finally {
    rmSync(draft, { force: true })
  }
  return readKeyFile(directory)
}

export function keyPath(directory: string): string {
  return join(directory, keyFileName)
}

export const keyFileName = 'millrace.key'

/**
 * The key that a setting's text stands for: HKDF-SHA256 without salt, of which 32 bytes are one block. Fast on purpose
 * (it happens at every start), so the text has to be random and not a sentence: `openssl rand -base64 32`.
 */
export function deriveKey(text: string): Uint8Array {
  const extracted = new Bun.CryptoHasher('sha256', new Uint8Array(32)).update(text).digest()
  return new Uint8Array(new Bun.CryptoHasher('sha256', extracted).update('millrace secrets').update('\u0001').digest())
}

const keyBytes = 32

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function broken(message: string, cause?: unknown): AppError {
  const advice = 'It holds the key of stored secrets: restore it, and let only the user that runs the service read it.'
  return new AppError('STORAGE_UNAVAILABLE', `${message} ${advice}`, { cause })
}
