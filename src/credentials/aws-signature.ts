import type { UnauthorizedRequest } from '../domain/outbound-request.ts'

export type AwsKey = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
  region: string
  service: string
}

/** Signs a request with AWS signature v4: adds its headers. */
export async function signForAws(request: UnauthorizedRequest, key: AwsKey, at: number): Promise<void> {
  const { method, url, headers, body } = request
  const signer = await signerOf(key)
  const query: Record<string, string | string[]> = {}
  for (const name of new Set(url.searchParams.keys())) query[name] = url.searchParams.getAll(name)
  const signed = await signer.sign(
    {
      ...{ method, query, protocol: url.protocol, hostname: url.hostname, path: url.pathname },
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      headers: { ...signedHeadersOf(headers), host: url.host },
      body: body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : body,
    },
    { signingDate: new Date(at) },
  )
  for (const [name, value] of Object.entries(signed.headers)) if (name !== 'host') headers.set(name, value)
}

/** A URL with a signature that is valid for some seconds. */
export async function presignForAws(url: URL, key: AwsKey, at: number, expiresS: number): Promise<string> {
  const signer = await signerOf(key)
  const port = url.port === '' ? {} : { port: Number(url.port) }
  const request = { method: 'GET', protocol: url.protocol, hostname: url.hostname, ...port, path: url.pathname }
  // The signature covers no content, because the request has none.
  const headers = { host: url.host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
  const signed = await signer.presign(
    { ...request, query: {}, headers },
    { signingDate: new Date(at), expiresIn: expiresS },
  )
  const pairs = Object.entries(signed.query ?? {}).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  )
  return `${url.origin}${url.pathname}?${pairs.join('&')}`
}

async function signerOf({ accessKeyId, secretAccessKey, sessionToken, region, service }: AwsKey) {
  const { SignatureV4 } = await import('@smithy/signature-v4')
  return new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) },
    ...{ region, service, sha256: Sha256 },
    // S3 takes the path as it is sent. All other services escape it once more.
    uriEscapePath: service !== 's3',
  })
}

/** Headers that a proxy on the way may change are not signed. */
function signedHeadersOf(headers: Headers): Record<string, string> {
  const names = ['content-type', 'content-md5']
  const isSigned = (name: string) => names.includes(name) || name.startsWith('x-amz-')
  return Object.fromEntries([...headers].filter(([name]) => isSigned(name)))
}

/** SHA-256 in the form that the signer expects; with a secret, HMAC. */
class Sha256 {
  #hasher: Bun.CryptoHasher
  readonly #secret: string | ArrayBuffer | ArrayBufferView | undefined

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret
    this.#hasher = this.#made()
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hasher.update(data as string)
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hasher.digest())
  }

  reset(): void {
    this.#hasher = this.#made()
  }

  #made(): Bun.CryptoHasher {
    return new Bun.CryptoHasher('sha256', this.#secret as string | undefined)
  }
}
