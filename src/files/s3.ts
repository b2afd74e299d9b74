import { open } from 'node:fs/promises'
import type { S3Client } from '@aws-sdk/client-s3'
import { safeName } from '../domain/run/file.ts'
import type { FileStorage } from './storage.ts'

export type S3Options = {
  bucket: string
  endpoint: string | undefined
  region: string | undefined
  forcePathStyle: boolean
  /** The first part of every key, without leading or trailing slashes. */
  prefix: string
  /** The bucket's endpoint for callers; the same endpoint when undefined. */
  publicEndpoint: string | undefined
  /** Epoch milliseconds. */
  now(): number
}

/**
 * Stores files in an S3 bucket or a compatible service. Credentials come from the standard AWS sources. The SDK is
 * loaded on first use: a static import would add at least 40 ms to every start.
 */
export function createS3Storage(options: S3Options): FileStorage {
  const { bucket, prefix, endpoint, publicEndpoint, now } = options
  let loading: Promise<Loaded> | undefined
  const load = () => {
    loading ??= loadClients(options)
    return loading
  }
  const inBucket = (key: string) => ({ Bucket: bucket, Key: prefix + key })
  const keysBelow = async function* (below: string): AsyncGenerator<string> {
    const { sdk, client } = await load()
    let token: string | undefined
    do {
      const page = await client.send(
        new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + below, ContinuationToken: token }),
      )
      for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key.slice(prefix.length)
      token = page.NextContinuationToken
    } while (token !== undefined)
  }
  return {
    async put(key, file, type) {
      const { sdk, client } = await load()
      const place = inBucket(key)
      const handle = await open(file.path, 'r')
      try {
        const parts = partsOf(handle, file.size)
        if (file.size <= partBytes) {
          // A buffer instead of a stream: the SDK cannot sign a stream over plain HTTP.
          const { value = Buffer.alloc(0) } = await parts.next()
          await client.send(new sdk.PutObjectCommand({ ...place, Body: value, ContentType: type }))
        } else await putParts(sdk, client, place, type, parts)
      } finally {
        await handle.close()
      }
      await file.remove()
    },
    async read(key) {
      const { sdk, client } = await load()
      try {
        const { Body } = await client.send(new sdk.GetObjectCommand(inBucket(key)))
        return Body && new Blob([(await Body.transformToByteArray()) as Uint8Array<ArrayBuffer>])
      } catch (error) {
        if (error instanceof sdk.NoSuchKey) return undefined
        throw error
      }
    },
    async urlOf(key, expiresAt, signedAt = now()) {
      const { sdk, presigner, signing } = await load()
      const name = safeName(key)
      const get = new sdk.GetObjectCommand({
        ...inBucket(key),
        ResponseContentDisposition: `attachment; filename="${name}"`,
      })
      const expiresIn = Math.max(1, Math.ceil((expiresAt - signedAt) / 1000))
      return await presigner.getSignedUrl(signing, get, { expiresIn, signingDate: new Date(signedAt) })
    },
    async removeFolder(folder) {
      const { sdk, client } = await load()
      // One at a time: a run has few files, and some services cannot delete several at once.
      for await (const key of keysBelow(`${folder}/`)) await client.send(new sdk.DeleteObjectCommand(inBucket(key)))
    },
    async *folders() {
      let last = ''
      for await (const key of keysBelow('')) {
        const folder = key.split('/').slice(0, 3).join('/')
        if (folder !== last) yield folder
        last = folder
      }
    },
  }

  async function loadClients({ region, forcePathStyle }: S3Options): Promise<Loaded> {
    const [sdk, presigner] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/s3-request-presigner')])
    const clientOf = (address: string | undefined) => {
      const client = new sdk.S3Client({
        ...(address === undefined ? {} : { endpoint: address }),
        ...(region === undefined ? {} : { region }),
        forcePathStyle,
        maxAttempts: 3,
        // Services other than Amazon's do not know the checksums that the SDK adds by default.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        requestHandler: { connectionTimeout: 3_000, requestTimeout: 60_000 },
      })
      withoutTrailingSlash(client)
      return client
    }
    const client = clientOf(endpoint)
    return { sdk, presigner, client, signing: publicEndpoint === undefined ? client : clientOf(publicEndpoint) }
  }
}

type Sdk = typeof import('@aws-sdk/client-s3')
type Loaded = {
  sdk: Sdk
  presigner: typeof import('@aws-sdk/s3-request-presigner')
  client: S3Client
  /** Signs URLs for the endpoint that callers use. */
  signing: S3Client
}

/** S3's minimum size of every part except the last. */
const partBytes = 5 * 1_048_576

async function* partsOf(handle: Awaited<ReturnType<typeof open>>, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += partBytes) {
    const part = Buffer.allocUnsafe(Math.min(partBytes, size - at))
    let filled = 0
    while (filled < part.length) {
      const { bytesRead } = await handle.read(part, filled, part.length - filled, at + filled)
      if (bytesRead === 0) throw new Error('A spooled file became shorter while it was stored')
      filled += bytesRead
    }
    yield part
  }
}

async function putParts(
  sdk: Sdk,
  client: S3Client,
  place: { Bucket: string; Key: string },
  type: string,
  parts: AsyncIterable<Buffer>,
): Promise<void> {
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ ...place, ContentType: type }))
  const upload = { ...place, UploadId }
  try {
    const Parts: { ETag: string | undefined; PartNumber: number }[] = []
    for await (const Body of parts) {
      const PartNumber = Parts.length + 1
      const { ETag } = await client.send(new sdk.UploadPartCommand({ ...upload, PartNumber, Body }))
      Parts.push({ ETag, PartNumber })
    }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
  } catch (error) {
    // Parts of an unfinished upload stay in the bucket and cost money.
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined)
    throw error
  }
}

/** Requests about the bucket itself end in a slash, which some services interpret as a key. */
function withoutTrailingSlash(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { path?: string }
      if (request.path !== undefined && request.path.length > 1) request.path = request.path.replace(/\/$/, '')
      return next(args)
    },
    { step: 'build', name: 'withoutTrailingSlash' },
  )
}
