import { timingSafeEqual } from 'node:crypto'
import type { PauseLinks } from '../../domain/run/pause.ts'

export type PauseLinksOptions = {
  /** The first key signs; all keys verify. */
  keys(): readonly Uint8Array[]
  /** The public URL of the service. */
  baseUrl(): string
}

/**
 * Makes and verifies the tokens in links to pauses. A token is the ID of its pause and a signature. So guesses are
 * refused without a look at the store, and an ID from a list is not enough to answer.
 */
export class PauseTokens {
  readonly #options: PauseLinksOptions

  constructor(options: PauseLinksOptions) {
    this.#options = options
  }

  linksOf(contextId: string): PauseLinks {
    const { keys, baseUrl } = this.#options
    const [key] = keys()
    if (!key) throw new Error('No key exists for signing links to pauses')
    const token = `${contextId}.${signatureOf(key, contextId).toString('base64url')}`
    return { url: `${baseUrl()}/pause/${token}`, callbackUrl: `${baseUrl()}/api/pauses/${token}` }
  }

  /** The ID in a token; undefined when the token was not made here. */
  read(token: string): string | undefined {
    if (token.length > tokenCharsMax) return undefined
    const [contextId = '', signature = '', ...rest] = token.split('.')
    const given = Buffer.from(signature, 'base64url')
    // The spelling must match, too: several base64 texts decode to the same bytes.
    if (rest.length > 0 || given.toString('base64url') !== signature) return undefined
    const isSigned = this.#options.keys().some((key) => isEqual(signatureOf(key, contextId), given))
    return isSigned ? contextId : undefined
  }
}

const tokenCharsMax = 200

/** 128 bits are enough against guesses, and keep links short. */
function signatureOf(key: Uint8Array, contextId: string): Buffer {
  return new Bun.CryptoHasher('sha256', key).update(`pause\n${contextId}`).digest().subarray(0, 16)
}

/** In constant time. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
