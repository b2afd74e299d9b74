/** Fewer characters than this can be guessed whatever the hash. */
export const passwordCharsMin = 8
/** More are an accident: a file that was sent instead of a password. */
export const passwordCharsMax = 1_000

/** What is kept of a password: argon2id with a salt of its own, some 50 ms and 64 MB. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(normalised(password), { algorithm: 'argon2id' })
}

/** Whether a password is the one that was hashed. Takes as long as hashing it. */
export function verifyPassword(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(normalised(password), hash)
}

/** One keyboard writes "é" as one character, another as two: they are the same password. */
function normalised(password: string): string {
  return password.normalize('NFC')
}
