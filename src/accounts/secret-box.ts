import type { CipherGCM } from 'node:crypto'
import { secretKeyCharsMin } from '../domain/account/environment.ts'
import { AppError } from '../domain/errors.ts'
import { freeBytes } from '../domain/free-bytes.ts'
import { textPieces } from '../domain/text/text-pieces.ts'
import { deriveKey, keyInLine, keyPath, makeKeyFile, readKeyFile } from './key-file.ts'

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

  /** The head of the values that are sealed from now on; undefined while there is no key. */
  get currentHead(): Uint8Array | undefined {
    if (this.#keys.length === 0) this.#keys = readKeys(this.#source).map(keyOf)
    const [key] = this.#keys
    return key && headOf(key)
  }

  /** The heads of all keys, the current one first. */
  get heads(): Uint8Array[] {
    return this.#keys.map(headOf)
  }

  /** Whether the current key sealed a value. */
  isCurrent(sealed: Uint8Array): boolean {
    const head = this.currentHead
    return head !== undefined && Buffer.compare(sealed.subarray(0, sealHeadBytes), head) === 0
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
export type KeySource = {
  directory: string
  secretKey: string | undefined
  /** The heads of stored values, which decide how a setting with commas is read. Absent: nothing is stored. */
  heads?: readonly Uint8Array[]
}

export type SecretBoxOptions = Omit<KeySource, 'heads'> & {
  /** The distinct heads (`sealHeadBytes` long) of all stored values. */
  sealHeads(): Promise<readonly Uint8Array[]>
}

/** The length of the part of a sealed value that names its key. */
export const sealHeadBytes = 5

/**
 * Opens the secret box of an installation. Its keys are the setting's, then the key file's, which is created when
 * something is first sealed without a setting. The first key seals; the others still open what they sealed, so that a
 * key can be replaced.
 *
 * Throws `INVALID_INPUT` when a key of the setting is too short, and `STORAGE_UNAVAILABLE` when no known key opens a
 * stored value. Then no new key is created, so nothing is overwritten or lost silently.
 */
export async function openSecretBox({ directory, secretKey, sealHeads }: SecretBoxOptions): Promise<SecretBox> {
  const heads = await sealHeads()
  const source = { directory, secretKey, heads }
  const keys = readKeys(source)
  if (keys.length === 0 && heads.length > 0) throw noKey(source)
  const box = new SecretBox(keys, source)
  if (!heads.every((head) => box.knows(head))) throw unknownKey(source)
  return box
}

type Key = { id: Uint8Array; bytes: Uint8Array }

const format = 1
/** A longer value is sealed in pieces of this length. */
const pieceLength = 262_144
const nonceBytes = 12
const tagBytes = 16
const overheadBytes = sealHeadBytes + nonceBytes + tagBytes

/** Whether the keys of the setting alone decrypt all values with these heads. */
export function settingDecrypts(secretKey: string | undefined, heads: readonly Uint8Array[]): boolean {
  const known = settingKeys(secretKey, heads).map((bytes) => headOf(keyOf(bytes)))
  return heads.every((head) => known.some((each) => Buffer.compare(each, head) === 0))
}

function readKeys({ directory, secretKey, heads = [] }: KeySource): Uint8Array[] {
  return [...settingKeys(secretKey, heads), ...readKeyFile(directory)]
}

/**
 * The keys of the setting: one is derived from each text. A text may also be a line of a key file, so that an
 * installation can leave its data folder: that key decrypts, too.
 */
function settingKeys(secretKey: string | undefined, heads: readonly Uint8Array[]): Uint8Array[] {
  const texts = settingTexts(secretKey, heads)
  return [...texts.map(deriveKey), ...texts.flatMap((text) => keyInLine(text) ?? [])]
}

/**
 * The texts of the setting, which commas separate. In earlier versions, the whole text was one key, so a key may
 * contain commas: the whole text, or all of it after the first key, is one key if a stored value needs it.
 */
function settingTexts(secretKey: string | undefined, heads: readonly Uint8Array[]): string[] {
  if (secretKey === undefined) return []
  const comma = secretKey.indexOf(',')
  if (comma === -1) return [secretKey]
  const isNeeded = (text: string) => {
    const head = headOf(keyOf(deriveKey(text)))
    return heads.some((each) => Buffer.compare(each, head) === 0)
  }
  if (isNeeded(secretKey)) return [secretKey]
  const first = secretKey.slice(0, comma).trim()
  const rest = secretKey.slice(comma + 1).trim()
  const texts = isNeeded(rest) ? [first, rest] : secretKey.split(',').map((text) => text.trim())
  if (texts.some((text) => text.length < secretKeyCharsMin)) throw shortKey(texts)
  return texts
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

function headOf({ id }: Key): Uint8Array {
  return Uint8Array.of(format, ...id)
}

function sealWith(key: Key, nonce: Uint8Array, plain: string | Uint8Array, context: string): Uint8Array {
  const cipher = nodeCrypto().createCipheriv('aes-256-gcm', key.bytes, nonce)
  cipher.setAAD(Buffer.from(context))
  const plainBytes = plain.length > pieceLength ? Buffer.byteLength(plain) : 0
  if (plainBytes > 0) return sealInPieces(cipher, key, nonce, plain, plainBytes)
  const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain)
  return new Uint8Array(Buffer.concat([headOf(key), nonce, body, cipher.final(), cipher.getAuthTag()]))
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
  sealed.set(headOf(key))
  sealed.set(nonce, sealHeadBytes)
  let at = sealHeadBytes + nonceBytes
  for (const piece of piecesOf(plain)) {
    const body = cipher.update(piece)
    sealed.set(body, at)
    at += body.byteLength
    freeBytes(body)
  }
  cipher.final()
  sealed.set(cipher.getAuthTag(), at)
  return sealed
}

function* piecesOf(plain: string | Uint8Array): Generator<Uint8Array, void> {
  if (typeof plain === 'string') for (const piece of textPieces(plain, pieceLength)) yield Buffer.from(piece)
  else for (let at = 0; at < plain.length; at += pieceLength) yield plain.subarray(at, at + pieceLength)
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
    `Stored secrets were encrypted with another key, which is not ${where}. Add the earlier key to ` +
      `MILLRACE_SECRET_KEY after a comma, or restore the key file. ${ifLost}`,
  )
}

/** Says which keys are too short, and shows no part of them. */
function shortKey(texts: readonly string[]): AppError {
  const short = texts.flatMap((text, index) => {
    if (text.length >= secretKeyCharsMin) return []
    return [`key ${index + 1} ${text === '' ? 'is empty' : `has ${text.length} characters`}`]
  })
  return new AppError(
    'INVALID_INPUT',
    `MILLRACE_SECRET_KEY contains ${texts.length} keys, separated by commas, and each needs at least ` +
      `${secretKeyCharsMin} characters: ${short.join(', ')}. A key cannot contain a comma.`,
  )
}

function damaged(context: string): AppError {
  return unavailable(`The stored secret ${context} is damaged. Set it again.`)
}

function unavailable(message: string): AppError {
  return new AppError('STORAGE_UNAVAILABLE', message)
}
