/** API keys: `mrk_`, 30 random base-62 characters, and 6 that hold the CRC-32 of those 30 (decisions §11). */

/** `random` fills the array it is given, as `crypto.getRandomValues` does. */
export function makeKey(random: (bytes: Uint8Array) => void): string {
  let body = ''
  const bytes = new Uint8Array(64)
  while (body.length < bodyChars) {
    random(bytes)
    for (const byte of bytes) {
      // 248 is the largest multiple of 62 in a byte: beyond it the first digits would come up more often.
      if (byte < 248 && body.length < bodyChars) body += digits[byte % 62]
    }
  }
  return prefix + body + checkSum(body)
}

/**
 * Whether a text could be a key. Tells nothing about any real key, so it need not take constant time; it turns away
 * typing errors and noise before anything is looked up.
 */
export function isKeyShaped(text: string): boolean {
  if (text.length !== keyChars || !shape.test(text)) return false
  const body = text.slice(prefix.length, -checkChars)
  return text.endsWith(checkSum(body))
}

/** What is kept of a key. 30 random characters hold 178 bits, so one round of SHA-256 without salt is enough. */
export function hashKey(key: string): Uint8Array {
  return Bun.SHA256.hash(key) as Uint8Array
}

export function lastFourOf(key: string): string {
  return key.slice(-4)
}

const prefix = 'mrk_'
const bodyChars = 30
const checkChars = 6
const keyChars = prefix.length + bodyChars + checkChars
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const shape = /^mrk_[0-9A-Za-z]{36}$/

function checkSum(body: string): string {
  let rest = Bun.hash.crc32(body)
  let text = ''
  for (let digit = 0; digit < checkChars; digit += 1) {
    text = digits[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
