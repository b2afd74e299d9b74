/** The last word of header names that carry a credential, as in `X-Vault-Token` or `Ocp-Apim-Subscription-Key`. */
const secretWords = new Set([
  ...['auth', 'authorization', 'cookie', 'credential', 'credentials', 'key', 'apikey', 'passphrase', 'passwd'],
  ...['password', 'secret', 'signature', 'token', 'accesstoken', 'authtoken', 'secretkey', 'accesskey'],
])

/** Names that end like those of credentials, but carry none. */
const harmlessNames = new Set(['idempotency-key', 'x-idempotency-key', 'cache-key', 'surrogate-key', 'partition-key'])

/** Whether a request header with this name usually carries a credential. */
export function isSecretHeader(name: string): boolean {
  const lower = name.trim().toLowerCase()
  if (harmlessNames.has(lower)) return false
  return secretWords.has(lower.slice(Math.max(lower.lastIndexOf('-'), lower.lastIndexOf('_')) + 1))
}
