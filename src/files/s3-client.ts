import type { S3Client } from '@aws-sdk/client-s3'

export type S3Sdk = typeof import('@aws-sdk/client-s3')

/** How to reach an S3 service. Credentials come from the standard AWS sources. */
export type S3Address = {
  endpoint: string | undefined
  region: string | undefined
  forcePathStyle: boolean
}

/** An object in a bucket. */
export type S3Place = { Bucket: string; Key: string }

export function s3ClientOf(sdk: S3Sdk, { endpoint, region, forcePathStyle }: S3Address): S3Client {
  const client = new sdk.S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
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

export type PartsUpload = {
  sdk: S3Sdk
  client: S3Client
  place: S3Place
  type: string
  parts: AsyncIterable<Uint8Array>
}

/** Stores an object in parts. Every part except the last must have at least 5 MB. Nothing is left after a failure. */
export async function uploadParts({ sdk, client, place, type, parts }: PartsUpload): Promise<void> {
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
