import { open } from 'node:fs/promises'
import type { S3Client } from '@aws-sdk/client-s3'
import { type LocalFile, safeName } from '../domain/run/file.ts'
import { type S3Address, type S3Sdk, s3ClientOf, uploadParts } from './s3-client.ts'
import type { Spool } from './spool.ts'
import type { FileStorage } from './storage.ts'

export type S3Options = S3Address & {
  bucket: string
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
  const { bucket, prefix, now } = options
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
        } else await uploadParts({ sdk, client, place, type, parts })
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
    async open(key, spool) {
      const { sdk, client } = await load()
      try {
        const { Body } = await client.send(new sdk.GetObjectCommand(inBucket(key)))
        return Body && (await copied(Body.transformToWebStream(), spool))
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
}

/** Copies a body to a file of the spool, a piece at a time. */
async function copied(body: ReadableStream<Uint8Array>, spool: Spool): Promise<LocalFile> {
  const file = spool.create()
  try {
    for await (const piece of body) {
      file.write(piece)
      await file.flush()
    }
    file.end()
    await file.flush()
    return { path: file.path, size: file.size, close: () => file.remove() }
  } catch (error) {
    await file.remove()
    throw error
  }
}

type Loaded = {
  sdk: S3Sdk
  presigner: typeof import('@aws-sdk/s3-request-presigner')
  client: S3Client
  /** Signs URLs for the endpoint that callers use. */
  signing: S3Client
}

async function loadClients(options: S3Options): Promise<Loaded> {
  const [sdk, presigner] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/s3-request-presigner')])
  const { publicEndpoint } = options
  const client = s3ClientOf(sdk, options)
  const signing = publicEndpoint === undefined ? client : s3ClientOf(sdk, { ...options, endpoint: publicEndpoint })
  return { sdk, presigner, client, signing }
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
