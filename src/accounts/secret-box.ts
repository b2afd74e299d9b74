import type { CipherGCM } from 'node:crypto'
import { AppError } from '../domain/errors.ts'
import { deriveKey, keyPath, makeKeyFile, readKeyFile } from './key-file.ts'

/**
 * Encrypts values for storage with AES-256-GCM. `context` names the value and its owner
 * (`environment/<workspace>/<name>`); a value copied to another place cannot be opened there. Synchronous, about 3 µs
 * for 1 kB. The first use loads Bun's crypto module (6 ms), so that a start does not wait for it.
 *
 * Format of a sealed value: one byte of version (1), four bytes of key id, a nonce of twelve, the ciphertext, a tag of
 * sixteen. Nonces are random; 2^32 values under one key are well within the limits of AES-GCM.
 */
export class SecretBox {
  readonly #source: KeySource
  #keys: readonly Key[]

  constructor(keys: readonly Uint8Array[], source: KeySource) {
    this.#source = source
    this.#keys = keys.map(keyOf)
  }

  /**
   * The first call in an installation without a key creates the key file. Throws `STORAGE_UNAVAILABLE` when that fails.
   */
  seal(plain: string | Uint8Array, context: string): Uint8Array {
    return sealWith(this.#currentKey(), crypto.getRandomValues(new Uint8Array(nonceBytes)), plain, context)
  }

  /**
   * `seal` with a nonce that depends on the value, so that equal values give equal results in the same context and a
   * stored text changes only when its value does. A nonce repeats only together with its value, which reveals nothing
   * but that the values are equal.
   */
  sealAlike(plain: string, context: string): Uint8Array {
    const key = this.#currentKey()
    const nonceKey = new Bun.CryptoHasher('sha256', key.bytes).update('millrace nonce').digest()
    const digest = new Bun.CryptoHasher('sha256', nonceKey).update(JSON.stringify([context, plain])).digest()
    return sealWith(key, new Uint8Array(digest.subarray(0, nonceBytes)), plain, context)
  }

  #currentKey(): Key {
    if (this.#keys.length === 0) this.#keys = readOrMakeKeys(this.#source).map(keyOf)
    return this.#keys[0] as Key
  }

  /** Throws `STORAGE_UNAVAILABLE` when the key is missing, or the value is damaged or belongs elsewhere. */
  open(sealed: Uint8Array, context: string): Uint8Array {
    if (sealed.length < overheadBytes || sealed[0] !== format) throw damaged(context)
    const id = sealed.subarray(1, sealHeadBytes)
    const candidates = this.#find(id)
    if (candidates.length === 0) throw unknownKey(this.#source)
    for (const key of candidates) {
      const plain = tryOpen(sealed, key, context)
      if (plain) return plain
    }
    throw damaged(context)
  }

  /** `open` for a value that is text. */
  openText(sealed: Uint8Array, context: string): string {
    return new TextDecoder().decode(this.open(sealed, context))
  }

  /**
   * Keys derived for another purpose, one from each key: the first is current, the others are older. `make`: create a
   * key when there is none, as for sealing.
   */
  derive(purpose: string, make: boolean): Uint8Array[] {
    if (make && this.#keys.length === 0) this.#keys = readOrMakeKeys(this.#source).map(keyOf)
    return this.#keys.map(({ bytes }) => new Uint8Array(new Bun.CryptoHasher('sha256', bytes).update(purpose).digest()))
  }

  /** Whether a key is known for values with this head (`sealHeadBytes` long). */
  knows(head: Uint8Array): boolean {
    return this.#find(head.subarray(1, sealHeadBytes)).length > 0
  }

  /** An unknown key may be in the file by now, because another process created or rotated it. */
  #find(id: Uint8Array): Key[] {
    const known = this.#keys.filter((key) => Buffer.compare(key.id, id) === 0)
    if (known.length > 0) return known
    this.#keys = readKeys(this.#source).map(keyOf)
    return this.#keys.filter((key) => Buffer.compare(key.id, id) === 0)
  }
}

/** The sources of keys: the setting `MILLRACE_SECRET_KEY`, and the key file of the data folder. */
export type KeySource = { directory: string; secretKey: string | undefined }

export type SecretBoxOptions = KeySource & {
  /** The distinct heads (`sealHeadBytes` long) of all stored values. */
  sealHeads(): Promise<readonly Uint8Array[]>
}

/** The length of the part of a sealed value that names its key. */
export const sealHeadBytes = 5

/**
 * Opens the secret box of an installation. Its key is the setting's, otherwise the key file's, which is created when
 * something is first sealed. When the setting is added later, values sealed with the file stay readable as long as the
 * file exists.
 *
 * Throws `STORAGE_UNAVAILABLE` when a stored value cannot be opened by any known key. Then no new key is created, so
 * nothing is overwritten or lost silently.
 */
export async function openSecretBox({ directory, secretKey, sealHeads }: SecretBoxOptions): Promise<SecretBox> {
  const source = { directory, secretKey }
  const heads = await sealHeads()
  const keys = readKeys(source)
  if (keys.length === 0 && heads.length > 0) throw noKey(source)
  const box = new SecretBox(keys, source)
  if (!heads.every((head) => box.knows(head))) throw unknownKey(source)
  return box
}

type Key = { id: Uint8Array; bytes: Uint8Array }

const format = 1
/** A longer value is sealed in pieces of this length. */
const pieceChars = 262_144
const nonceBytes = 12
const tagBytes = 16
const overheadBytes = sealHeadBytes + nonceBytes + tagBytes

function readKeys({ directory, secretKey }: KeySource): Uint8Array[] {
  const fromFile = readKeyFile(directory)
  return secretKey === undefined ? fromFile : [deriveKey(secretKey), ...fromFile]
}

function readOrMakeKeys(source: KeySource): Uint8Array[] {
  const keys = readKeys(source)
  return keys.length > 0 ? keys : makeKeyFile(source.directory)
}

/** The id of a key is part of its digest, so keys need no numbering. */
function keyOf(bytes: Uint8Array): Key {
  const digest = new Bun.CryptoHasher('sha256', bytes).update('millrace key id').digest()
  return { id: new Uint8Array(digest.subarray(0, sealHeadBytes - 1)), bytes }
}

function sealWith(key: Key, nonce: Uint8Array, plain: string | Uint8Array, context: string): Uint8Array {
  const cipher = nodeCrypto().createCipheriv('aes-256-gcm', key.bytes, nonce)
  cipher.setAAD(Buffer.from(context))
  const plainBytes = plain.length > pieceChars ? Buffer.byteLength(plain) : 0
  if (plainBytes > 0) return sealInPieces(cipher, key, nonce, plain, plainBytes)
  const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain)
  const head = Uint8Array.of(format, ...key.id)
  return new Uint8Array(Buffer.concat([head, nonce, body, cipher.final(), cipher.getAuthTag()]))
}

/** The same, with one copy of a large value instead of four. AES-GCM gives as many bytes as it gets. */
function sealInPieces(
  cipher: CipherGCM,
  key: Key,
  nonce: Uint8Array,
  plain: string | Uint8Array,
  plainBytes: number,
): Uint8Array {
  const sealed = new Uint8Array(overheadBytes + plainBytes)
  sealed.set([format, ...key.id])
  sealed.set(nonce, sealHeadBytes)
  let at = sealHeadBytes + nonceBytes
  for (let from = 0; from < plain.length; ) {
    const to = endOfPiece(plain, from)
    const piece = typeof plain === 'string' ? Buffer.from(plain.slice(from, to)) : plain.subarray(from, to)
    const body = cipher.update(piece)
    sealed.set(body, at)
    at += body.byteLength
    from = to
  }
  cipher.final()
  sealed.set(cipher.getAuthTag(), at)
  return sealed
}

/** A piece of text does not end between the halves of a surrogate pair. */
function endOfPiece(plain: string | Uint8Array, from: number): number {
  const to = Math.min(from + pieceChars, plain.length)
  if (typeof plain !== 'string' || to === plain.length) return to
  return plain.codePointAt(to - 1)! > 0xffff ? to + 1 : to
}

function tryOpen(sealed: Uint8Array, key: Key, context: string): Uint8Array | undefined {
  const nonce = sealed.subarray(sealHeadBytes, sealHeadBytes + nonceBytes)
  const decipher = nodeCrypto().createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  const start = decipher.update(sealed.subarray(sealHeadBytes + nonceBytes, -tagBytes))
  try {
    return new Uint8Array(Buffer.concat([start, decipher.final()]))
  } catch {
    return undefined
  }
}

/** Loaded on first use: a static import would add 6 ms to every start. */
function nodeCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

const ifLost = 'If the key is lost, so are the secrets: remove them with millrace env discard, then set them again.'

function noKey({ directory }: KeySource): AppError {
  return unavailable(
    `Stored secrets are encrypted, and their key is missing: MILLRACE_SECRET_KEY is not set, and there is no ` +
      `${keyPath(directory)}. Set the setting or restore the file. ${ifLost}`,
  )
}

function unknownKey({ directory, secretKey }: KeySource): AppError {
  const where = secretKey === undefined ? `in ${keyPath(directory)}` : `in MILLRACE_SECRET_KEY or ${keyPath(directory)}`
  return unavailable(
    `Stored secrets were encrypted with another key, which is not ${where}. Restore the earlier value of ` +
      `MILLRACE_SECRET_KEY, or the key file. ${ifLost}`,
  )
}

function damaged(context: string): AppError {
  return unavailable(`The stored secret ${context} is damaged. Set it again.`)
}

function unavailable(message: string): AppError {
  return new AppError('STORAGE_UNAVAILABLE', message)
}
