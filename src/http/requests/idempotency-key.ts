import { AppError } from '../../domain/errors.ts'

/**
 * The value of `Idempotency-Key`; undefined without the header. Throws INVALID_INPUT unless it has 1 to 255 visible
 * characters.
 */
export function idempotencyKeyOf({ headers }: Request): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new AppError(
    'INVALID_INPUT',
    'The Idempotency-Key must have 1 to 255 visible ASCII characters, without spaces. Use a UUID, for example.',
  )
}

/** Identifies a request: its body, as it was sent, and its mode. */
export class RequestDigest {
  readonly #hasher = new Bun.CryptoHasher('sha256')

  constructor(mode: 'sync' | 'async') {
    this.#hasher.update(`${mode}\n`)
  }

  add(part: string | Uint8Array): void {
    this.#hasher.update(part)
  }

  /** Adds the chunks of a body while they are read. */
  async *reading(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.add(chunk)
      yield chunk
    }
  }

  end(): string {
    return this.#hasher.digest('base64url')
  }
}

/** The name under which the store has an account's key, so that no account can use the key of another. */
export function storedKeyOf(userId: string, key: string): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(['execute', userId, key])).digest('base64url')
}
