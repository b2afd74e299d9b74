/** Identifies an item in the memory of its poll: 16 bytes of a digest, as 22 characters. */
export function hashOfItem(id: string): string {
  const digest = new Bun.CryptoHasher('sha256').update(id).digest()
  return new Uint8Array(digest.buffer, digest.byteOffset, hashBytes).toBase64({
    alphabet: 'base64url',
    omitPadding: true,
  })
}

const hashBytes = 16
