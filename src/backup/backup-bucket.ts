import { open } from 'node:fs/promises'
import type { S3Client } from '@aws-sdk/client-s3'
import { type S3Address, type S3Sdk, s3ClientOf, uploadParts } from '../files/s3-client.ts'
import { type BackupName, type BucketAddress, parseBackupName } from './bucket-address.ts'

/** A backup in the bucket. `storedAt`: when the storage received it, in epoch milliseconds. */
export type StoredBackup = BackupName & { name: string; bytes: number; storedAt: number }

/** The backups in a bucket of S3 or a compatible service. It ignores all other objects. */
export class BackupBucket {
  readonly #address: BucketAddress
  readonly #sdk: S3Sdk
  readonly #client: S3Client

  static async open(address: BucketAddress, service: S3Address): Promise<BackupBucket> {
    const sdk = await import('@aws-sdk/client-s3')
    return new BackupBucket(address, sdk, s3ClientOf(sdk, service))
  }

  private constructor(address: BucketAddress, sdk: S3Sdk, client: S3Client) {
    this.#address = address
    this.#sdk = sdk
    this.#client = client
  }

  /** All backups, the newest first. */
  async list(): Promise<StoredBackup[]> {
    const { bucket, prefix } = this.#address
    const found: StoredBackup[] = []
    let token: string | undefined
    do {
      const page = await this.#client.send(
        new this.#sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}millrace-`, ContinuationToken: token }),
      )
      for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
        const name = Key.slice(prefix.length)
        const parsed = parseBackupName(name)
        if (parsed) found.push({ ...parsed, name, bytes: Size, storedAt: LastModified?.getTime() ?? 0 })
      }
      token = page.NextContinuationToken
    } while (token !== undefined)
    return found.sort((a, b) => b.at - a.at || b.storedAt - a.storedAt)
  }

  /** Stores a backup in parts as its pieces arrive, until `signal` aborts. Returns its size in bytes. */
  async put(name: string, pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number> {
    let bytes = 0
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const part of partsOf(pieces)) {
        signal.throwIfAborted()
        bytes += part.length
        yield part
      }
    }
    const type = 'application/x-tar'
    await uploadParts({ sdk: this.#sdk, client: this.#client, place: this.#place(name), type, parts: counted() })
    return bytes
  }

  /** Downloads a backup into a new file. */
  async download(name: string, path: string): Promise<void> {
    const { Body } = await this.#client.send(new this.#sdk.GetObjectCommand(this.#place(name)))
    const file = await open(path, 'wx', 0o600)
    try {
      for await (const piece of Body as unknown as AsyncIterable<Uint8Array>) {
        for (let at = 0; at < piece.length; ) at += (await file.write(piece, at, piece.length - at)).bytesWritten
      }
      await file.sync()
    } finally {
      await file.close()
    }
  }

  /**
   * Deletes backups of one installation. Keeps `made`, also when a wrong clock gave it an old name, and the newest
   * others: `keep` in all. Returns how many it deleted. The oldest go first, so that one that is protected for a time
   * stops only the deletion of newer ones.
   */
  async prune(installation: string, keep: number, made: string): Promise<number> {
    const own = (await this.list()).filter((stored) => stored.installation === installation)
    const others = own.filter(({ name }) => name !== made)
    const old = others.slice(Math.max(0, keep - 1)).reverse()
    for (const { name } of old) await this.#client.send(new this.#sdk.DeleteObjectCommand(this.#place(name)))
    return old.length
  }

  #place(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#address.bucket, Key: this.#address.prefix + name }
  }
}

/**
 * Joins pieces into parts. S3 accepts 10,000 parts, so the parts grow by 16 MB after each thousand: a backup may have
 * 880 GB.
 */
async function* partsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = []
  let bytes = 0
  let parts = 0
  for await (const piece of pieces) {
    held.push(piece)
    bytes += piece.length
    if (bytes < partBytes * (1 + Math.floor(parts / 1_000))) continue
    yield Buffer.concat(held)
    parts += 1
    held = []
    bytes = 0
  }
  if (bytes > 0 || parts === 0) yield Buffer.concat(held)
}

const partBytes = 16 * 1_048_576
