/** Shorter passwords can be guessed, however they are hashed. */
export const passwordCharsMin = 8
/** A longer text is a mistake, such as a file sent instead of a password. */
export const passwordCharsMax = 1_000

/** The stored hash of a password: argon2id with its own salt, about 50 ms and 64 MB. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(normalised(password), { algorithm: 'argon2id' })
}

/** Whether the password matches the hash. Takes as long as hashing. */
export function verifyPassword(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(normalised(password), hash)
}

/** Keyboards differ in whether "é" is one character or two. Both are the same password. */
function normalised(password: string): string {
  return password.normalize('NFC')
}
