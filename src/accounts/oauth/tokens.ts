/**
 * Codes and tokens for clients. A code and the refresh tokens after it share their first part, the family, so that a
 * second use of a token is recognised. Each refresh token is derived from the code or token that it replaces: a
 * client that sends two requests at the same time gets the same new token twice.
 *
 * Each ends with a tag, so a forged one is recognised without a query.
 */
export class OAuthTokens {
  readonly #keys: () => readonly Uint8Array[]

  /** `keys`: of the installation. The first one derives. */
  constructor(keys: () => readonly Uint8Array[]) {
    this.#keys = keys
  }

  newCode(): string {
    return this.#tagged(`${codePrefix}${random(familyBytes)}.${random(secretBytes)}`)
  }

  /** The refresh token and the access token for a code or refresh token. */
  next(presented: string): { refresh: string; access: string } {
    const family = familyOf(presented)
    return {
      refresh: this.#tagged(`${refreshPrefix}${family}.${this.#mac(`refresh\n${presented}`)}`),
      access: this.#tagged(`${accessPrefix}${this.#mac(`access\n${presented}`)}`),
    }
  }

  /** Whether this installation made a code or token, with one of the keys that it has now. */
  isGenuine(text: string): boolean {
    if (!isCode(text) && !isRefreshToken(text) && !isAccessToken(text)) return false
    const [content, tag] = [text.slice(0, -tagChars), text.slice(-tagChars)]
    return this.#keys().some((key) => isSame(tag, tagOf(key, content)))
  }

  /** A key by which this installation calls its own API for a grant, for a short time. */
  ownKey(grantId: string, at: number): string {
    const head = `${grantId}.${at}`
    return `${ownPrefix}${head}.${this.#mac(`own\n${head}`)}`
  }

  /** The grant of an own key; undefined when no process of this installation made it just now. */
  grantOf(ownKey: string, now: number): string | undefined {
    const [, head, grantId, at, mac] = ownForm.exec(ownKey) ?? []
    if (head === undefined || mac === undefined || Math.abs(now - Number(at)) > ownKeyMs) return undefined
    return this.#keys().some((key) => isSame(mac, macOf(key, `own\n${head}`))) ? grantId : undefined
  }

  #tagged(content: string): string {
    return content + tagOf(this.#key(), content)
  }

  #mac(text: string): string {
    return macOf(this.#key(), text)
  }

  #key(): Uint8Array {
    const [key] = this.#keys()
    if (!key) throw new Error('There is no key to derive tokens with')
    return key
  }
}

export const isCode = (text: string) => codeForm.test(text)
export const isRefreshToken = (text: string) => refreshForm.test(text)
export const isAccessToken = (text: string) => accessForm.test(text)
/** Whether a text looks like an access token, complete or not. */
export const seemsAccessToken = (text: string) => text.startsWith(accessPrefix)
export const isOwnKey = (text: string) => text.startsWith(ownPrefix)

/** The stored hash. Codes and tokens have 256 random bits, so one round without salt is enough. */
export function hashOf(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array
}

/** The family of a code or refresh token. */
export function familyOf(text: string): string {
  return text.slice(codePrefix.length, text.indexOf('.'))
}

/** The challenge of PKCE for a verifier, by the method S256; undefined when the text is not a verifier. */
export function challengeOf(verifier: string): string | undefined {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return undefined
  return new Bun.CryptoHasher('sha256').update(verifier).digest('base64url')
}

/** Scanners for leaked secrets can recognise the prefixes. */
const codePrefix = 'mrc_'
const refreshPrefix = 'mrr_'
const accessPrefix = 'mra_'
const ownPrefix = 'mri_'
const codeForm = /^mrc_[\w-]{22}\.[\w-]{54}$/
const refreshForm = /^mrr_[\w-]{22}\.[\w-]{54}$/
const accessForm = /^mra_[\w-]{54}$/
const ownForm = /^mri_(([\w-]{1,60})\.(\d{1,16}))\.([\w-]{43})$/
const familyBytes = 16
const secretBytes = 32
const ownKeyMs = 60_000
/** 66 bits. The tag only saves queries. */
const tagChars = 11

function random(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64url')
}

function macOf(key: Uint8Array, text: string): string {
  return new Bun.CryptoHasher('sha256', key).update(text).digest('base64url')
}

function tagOf(key: Uint8Array, content: string): string {
  return macOf(key, `tag\n${content}`).slice(0, tagChars)
}

/** Loaded on first use, because most services never need it. */
function isSame(given: string, expected: string): boolean {
  const { timingSafeEqual } = process.getBuiltinModule('node:crypto')
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
