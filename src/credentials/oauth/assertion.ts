/** A signed JSON Web Token (RS256) with these claims. `privateKey`: PEM. */
export function signedAssertion(privateKey: string, keyId: string | undefined, claims: object): string {
  const { sign } = process.getBuiltinModule('node:crypto')
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) }
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${content}.${sign('RSA-SHA256', Buffer.from(content), privateKey).toString('base64url')}`
}

/** A private key in PEM, for signing with the usual algorithm of its kind. */
export async function signingKey(pem: string): Promise<CryptoKey> {
  const { createPrivateKey } = process.getBuiltinModule('node:crypto')
  const key = createPrivateKey(pem)
  const der = new Uint8Array(key.export({ type: 'pkcs8', format: 'der' }))
  return await crypto.subtle.importKey('pkcs8', der, algorithmOf(key.asymmetricKeyType), false, ['sign'])
}

function algorithmOf(type: string | undefined) {
  if (type === 'ec') return { name: 'ECDSA', namedCurve: 'P-256' }
  return type === 'ed25519' ? { name: 'Ed25519' } : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
}
