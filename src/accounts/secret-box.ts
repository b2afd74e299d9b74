import { AppError } from '../domain/errors.ts'
import { deriveKey, keyPath, makeKeyFile, readKeyFile } from './key-file.ts'

/**
 * Encrypts what must not lie readable on the disk: AES-256-GCM. `context` says what a value is and whose
 * (`environment/<workspace>/<name>`); a value copied to another place does not open there. Synchronous, about 3 µs for
 * 1 kB; the first use loads Bun's crypto module (6 ms), which no start waits for.
 *
 * Sealed: one byte of format (1), four that name the key, a nonce of twelve, the ciphertext, a tag of sixteen. Nonces are
 * random: 2^32 values under one key are well within what AES-GCM allows.
 */
export class SecretBox {
  readonly #source: KeySource
  #keys: readonly Key[]

  constructor(keys: readonly Uint8Array[], source: KeySource) {
    this.#source = source
    this.#keys = keys.map(keyOf)
  }

  /** The first one of an installation without a key makes its key file. Throws `STORAGE_UNAVAILABLE` when it cannot. */
  seal(plain: string | Uint8Array, context: string): Uint8Array {
    if (this.#keys.length === 0) this.#keys = readOrMakeKeys(this.#source).map(keyOf)
    const key = this.#keys[0] as Key
    const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes))
    const cipher = nodeCrypto().createCipheriv('aes-256-gcm', key.bytes, nonce)
    cipher.setAAD(Buffer.from(context))
    const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain)
    const head = Uint8Array.of(format, ...key.id)
    return new Uint8Array(Buffer.concat([head, nonce, body, cipher.final(), cipher.getAuthTag()]))
  }

  /** Throws `STORAGE_UNAVAILABLE` when the key is not at hand, or the value was damaged or belongs elsewhere. */
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
   * Keys for another purpose, one of each of its own: the first is the one to use, the others were used before. `make`: as
   * for sealing, a key is made when there is none.
   */
  derive(purpose: string, make: boolean): Uint8Array[] {
    if (make && this.#keys.length === 0) this.#keys = readOrMakeKeys(this.#source).map(keyOf)
    return this.#keys.map(({ bytes }) => new Uint8Array(new Bun.CryptoHasher('sha256', bytes).update(purpose).digest()))
  }

  /** Whether values that begin so (`sealHeadBytes` of them) can be opened, as far as the key goes. */
  knows(head: Uint8Array): boolean {
    return this.#find(head.subarray(1, sealHeadBytes)).length > 0
  }

  /** A key that is not known may have come into the file since it was read: another process made it, or it was rotated. */
  #find(id: Uint8Array): Key[] {
    const known = this.#keys.filter((key) => Buffer.compare(key.id, id) === 0)
    if (known.length > 0) return known
    this.#keys = readKeys(this.#source).map(keyOf)
    return this.#keys.filter((key) => Buffer.compare(key.id, id) === 0)
  }
}

/** Where the keys are: the setting `MILLRACE_SECRET_KEY`, and the key file of a data folder. */
export type KeySource = { directory: string; secretKey: string | undefined }

export type SecretBoxOptions = KeySource & {
  /** The first `sealHeadBytes` of every value that is stored, each once. */
  sealHeads(): Promise<readonly Uint8Array[]>
}

/** What of a sealed value tells which key it takes. */
export const sealHeadBytes = 5

/**
 * The box of an installation. Its key is the setting's, else the key file's, which is made when something is sealed and
 * there is none. What was sealed with the file stays readable when the setting comes, as long as the file is there.
 *
 * Throws `STORAGE_UNAVAILABLE` when anything is stored that none of the keys opens: then no key is made, and nothing
 * would be overwritten or lost without a word.
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

/** The name of a key is a part of a digest, so that nobody has to number keys. */
function keyOf(bytes: Uint8Array): Key {
  const digest = new Bun.CryptoHasher('sha256', bytes).update('millrace key id').digest()
  return { id: new Uint8Array(digest.subarray(0, sealHeadBytes - 1)), bytes }
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

/** Loaded when it is first used: an import would cost every start 6 ms. */
function nodeCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

const ifLost =
  'If the key is lost for good, so are they: millrace env discard takes them out, and then they can be set anew.'

function noKey({ directory }: KeySource): AppError {
  return unavailable(
    `Stored secrets are encrypted, and their key is missing: MILLRACE_SECRET_KEY is not set, and there is no ` +
      `${keyPath(directory)}. Set the one or restore the other. ${ifLost}`,
  )
}

function unknownKey({ directory, secretKey }: KeySource): AppError {
  const where =
    secretKey === undefined ? `in ${keyPath(directory)}` : `in MILLRACE_SECRET_KEY and ${keyPath(directory)}`
  return unavailable(
    `Stored secrets were encrypted with another key than those ${where}. Give back the value that ` +
      `MILLRACE_SECRET_KEY had, or restore the key file. ${ifLost}`,
  )
}

function damaged(context: string): AppError {
  return unavailable(`A stored secret (${context}) is damaged: its bytes are not those that were written. Set it anew.`)
}

function unavailable(message: string): AppError {
  return new AppError('STORAGE_UNAVAILABLE', message)
}
