/** Digest authentication of HTTP (RFC 7616): `MD5` and `SHA-256`, with and without `-sess`, and `qop=auth`. */

export type DigestChallenge = {
  realm: string
  nonce: string
  opaque: string | undefined
  algorithm: string
  qop: 'auth' | undefined
}

/** The strongest challenge of a `WWW-Authenticate` header that can be answered; undefined when there is none. */
export function digestChallengeOf(header: string): DigestChallenge | undefined {
  const challenges = header
    .slice(0, headerCharsMax)
    .split(/(?:^|,)\s*(?=[A-Za-z]+\s+[A-Za-z]+\s*=)/)
    .flatMap((text) => challengeOf(text) ?? [])
    .sort((one, other) => Number(other.algorithm.startsWith('SHA-256')) - Number(one.algorithm.startsWith('SHA-256')))
  return challenges[0]
}

/** Challenges are much shorter. The service that sends the header chooses its length. */
const headerCharsMax = 8_192

function challengeOf(text: string): DigestChallenge | undefined {
  const [, rest] = /^\s*Digest\s+(.*)$/is.exec(text) ?? []
  if (rest === undefined) return undefined
  const members = new Map<string, string>()
  for (const [, name = '', quoted, plain] of rest.matchAll(/\b([a-z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi)) {
    members.set(name.toLowerCase(), quoted === undefined ? (plain ?? '') : quoted.replace(/\\(.)/g, '$1'))
  }
  const { realm, nonce, opaque, algorithm = 'MD5', qop } = Object.fromEntries(members)
  const upper = algorithm.toUpperCase()
  if (realm === undefined || nonce === undefined || !/^(MD5|SHA-256)(-SESS)?$/.test(upper)) return undefined
  const offered = qop?.split(',').map((each) => each.trim().toLowerCase())
  if (offered && !offered.includes('auth')) return undefined
  return { realm, nonce, opaque, algorithm: upper, qop: offered ? 'auth' : undefined }
}

export type DigestUse = {
  challenge: DigestChallenge
  username: string
  password: string
  method: string
  /** The path with the query. */
  uri: string
  /** How often the nonce was used, with this use. */
  count: number
  clientNonce: string
}

/** The value of `Authorization`. */
export function digestAuthorization(use: DigestUse): string {
  const { challenge, username, uri, count, clientNonce } = use
  const { realm, nonce, opaque, algorithm, qop } = challenge
  const nc = count.toString(16).padStart(8, '0')
  const parts = [
    ['username', quoted(username)],
    ['realm', quoted(realm)],
    ['nonce', quoted(nonce)],
    ['uri', quoted(uri)],
    ['response', quoted(responseOf(use, nc))],
    ['algorithm', algorithm],
    ...(opaque === undefined ? [] : [['opaque', quoted(opaque)]]),
    ...(qop === undefined
      ? []
      : [
          ['qop', qop],
          ['nc', nc],
          ['cnonce', quoted(clientNonce)],
        ]),
  ]
  return `Digest ${parts.map(([name, value]) => `${name}=${value}`).join(', ')}`
}

function responseOf({ challenge, username, password, method, uri, clientNonce }: DigestUse, nc: string): string {
  const { realm, nonce, algorithm, qop } = challenge
  const hash = (text: string) =>
    new Bun.CryptoHasher(algorithm.startsWith('SHA-256') ? 'sha256' : 'md5').update(text).digest('hex')
  const plain = hash(`${username}:${realm}:${password}`)
  const user = algorithm.endsWith('-SESS') ? hash(`${plain}:${nonce}:${clientNonce}`) : plain
  const request = hash(`${method}:${uri}`)
  return hash(
    qop === undefined ? `${user}:${nonce}:${request}` : `${user}:${nonce}:${nc}:${clientNonce}:${qop}:${request}`,
  )
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
