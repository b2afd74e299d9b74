import { BlockError } from '../../engine/block.ts'

type Place = { operation: string; bucket: string; key?: string; endpoint?: string }

/** The URL of an object, or of the bucket for a list. Throws `BlockError`. */
export function objectUrl({ operation, bucket, key = '', endpoint = '' }: Place, region: unknown): URL {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(bucket)) {
    throw new BlockError('INVALID_PARAMETER', `"${bucket.slice(0, 100)}" is not a valid name of a bucket.`)
  }
  const path = operation === 'list' ? '' : pathOf(key)
  if (endpoint !== '') {
    const base = URL.parse(endpoint)
    if (base && /^https?:$/.test(base.protocol)) {
      return new URL(`${base.origin}${base.pathname.replace(/\/+$/, '')}/${bucket}${path === '' ? '' : `/${path}`}`)
    }
    throw new BlockError('INVALID_PARAMETER', 'The endpoint must be a URL such as https://minio.example.com.')
  }
  if (typeof region !== 'string' || !/^[a-z0-9-]+$/.test(region)) {
    throw new BlockError('CREDENTIAL_FAILED', 'The credential needs a region, such as eu-central-1.')
  }
  // The certificates of Amazon do not cover names of buckets with a dot.
  const host = `s3.${region}.amazonaws.com`
  return new URL(bucket.includes('.') ? `https://${host}/${bucket}/${path}` : `https://${bucket}.${host}/${path}`)
}

function pathOf(key: string): string {
  if (key === '') throw new BlockError('INVALID_PARAMETER', 'There is no key. It is the path of a file in the bucket.')
  const segments = key.split('/')
  // A URL cannot contain them: they would lead to another object, or to another bucket.
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    throw new BlockError('INVALID_PARAMETER', 'A key cannot contain the segments "." and "..".')
  }
  return segments.map(encoded).join('/')
}

/** The escapes that signatures of AWS demand. */
function encoded(text: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, percent)
}

export type ListedObject = { key: string; size: number; lastModified: string; etag: string }

/** A page of a list. `next`: the token for the page behind it. */
export function listedObjects(xml: string): { items: ListedObject[]; next: string | undefined } {
  if (!xml.includes('<ListBucketResult')) {
    throw new BlockError('INVALID_RESPONSE', 'The server responded with something that is not a list of files.')
  }
  const isEncoded = memberOf(xml, 'EncodingType') === 'url'
  const items = Array.from(xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g), ([, content = '']) => {
    const key = memberOf(content, 'Key')
    return {
      key: isEncoded ? decoded(key) : key,
      size: Number(memberOf(content, 'Size')),
      lastModified: memberOf(content, 'LastModified'),
      etag: memberOf(content, 'ETag').replaceAll('"', ''),
    }
  })
  const next = memberOf(xml, 'NextContinuationToken')
  return { items, next: memberOf(xml, 'IsTruncated') === 'true' && next !== '' ? next : undefined }
}

/** The reason in an error of S3; empty when there is none. */
export function refusalIn(xml: string): string {
  return [memberOf(xml, 'Code'), memberOf(xml, 'Message')].filter(Boolean).join(': ').slice(0, 500)
}

/** The text of the first element of this name; empty when there is none. */
function memberOf(xml: string, name: string): string {
  const start = xml.indexOf(`<${name}>`)
  const end = start === -1 ? -1 : xml.indexOf(`</${name}>`, start)
  return end === -1 ? '' : withoutEntities(xml.slice(start + name.length + 2, end))
}

function withoutEntities(text: string): string {
  return text.replace(/&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, (whole, name, decimal, hex) => {
    if (name) return entities[name.toLowerCase()] ?? whole
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
