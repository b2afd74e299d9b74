import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../domain/errors.ts'
import { syncFolderSync } from '../sync-folder.ts'

/**
 * Reads the key file: one 32-byte key in base64 per line. The first key seals; the others still open what they sealed.
 * To rotate, add a new first line. Returns an empty list when there is no file. Throws `STORAGE_UNAVAILABLE` when the
 * file is unreadable or malformed.
 */
export function readKeyFile(directory: string): Uint8Array[] {
  const path = keyPath(directory)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw broken(`The key file ${path} cannot be read: ${messageOf(error)}.`, error)
  }
  const lines = text.split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line !== '').map((line) => new Uint8Array(Buffer.from(line, 'base64')))
  if (keys.length === 0 || keys.some((key) => key.length !== keyBytes)) {
    throw broken(`The key file ${path} is damaged: each line must be a key, 32 bytes in base64.`)
  }
  return keys
}

/** The key that a line of a key file holds; undefined for any other text. */
export function keyInLine(text: string): Uint8Array | undefined {
  return keyLine.test(text) ? new Uint8Array(Buffer.from(text, 'base64')) : undefined
}

/** 32 bytes in base64. */
const keyLine = /^[A-Za-z0-9+/]{43}=$/

/**
 * Creates the key file with mode 600 and returns its keys, or the keys of another process that was faster. The file and
 * its directory entry are on disk before this returns, so that a power cut cannot lose the key of a stored value.
 */
export function makeKeyFile(directory: string): Uint8Array[] {
  const path = keyPath(directory)
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    writeDurably(draft, `${Buffer.from(crypto.getRandomValues(new Uint8Array(keyBytes))).toString('base64')}\n`)
    try {
      // Creating a link is atomic and never replaces an existing file.
      linkSync(draft, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    syncFolderSync(directory)
  } catch (error) {
    throw broken(`The key file ${path} cannot be created: ${messageOf(error)}.`, error)
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
 * Derives the key from the setting's text: HKDF-SHA256 without salt, one block of 32 bytes. It is fast, because it runs
 * at every start. So the text must be random and not a sentence: `openssl rand -base64 32`.
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
  const advice = 'It contains the key of stored secrets. Restore it, readable only by the user that runs the service.'
  return new AppError('STORAGE_UNAVAILABLE', `${message} ${advice}`, { cause })
}
