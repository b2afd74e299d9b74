import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BackupBucket } from '../../backup/backup-bucket.ts'
import { type BucketAddress, parseBucketAddress } from '../../backup/bucket-address.ts'
import type { Config } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { CommandError, UsageError } from '../command.ts'
import { s3Advice } from '../support/s3-advice.ts'

type Service = Pick<Config, 's3Endpoint' | 's3Region' | 's3ForcePathStyle'>

export function isBucketAddress(text: string): boolean {
  return /^s3:/i.test(text)
}

/** The place that `text` names. Throws `UsageError`. */
export function bucketAddressOf(text: string): BucketAddress {
  const address = parseBucketAddress(text)
  if (address) return address
  throw new UsageError(`${text} is not the address of a bucket.`, 'Write s3://BUCKET or s3://BUCKET/PATH.')
}

/** Opens the bucket of an address. */
export function openBucket(address: BucketAddress, service: Service): Promise<BackupBucket> {
  const { s3Endpoint, s3Region, s3ForcePathStyle } = service
  return BackupBucket.open(address, { endpoint: s3Endpoint, region: s3Region, forcePathStyle: s3ForcePathStyle })
}

/** A failed request to the bucket, with what to do. */
export function bucketError({ bucket }: BucketAddress, error: unknown): CommandError {
  if (error instanceof CommandError) return error
  const name = error instanceof Error ? error.name : ''
  return new CommandError(
    `The bucket ${bucket} cannot be used: ${messageOf(error) || name}.`,
    s3Advice(name, advice),
    error,
  )
}

const advice = {
  noBucket: 'Create the bucket, or correct its name.',
  denied:
    'Grant the credentials s3:PutObject, s3:GetObject, s3:ListBucket, s3:DeleteObject and s3:AbortMultipartUpload.',
}

/** The name of the draft of a backup to a bucket. It contains the process that writes it. */
export function draftName(suffix: string): string {
  return `${draftPrefix}${process.pid}-${crypto.randomUUID()}${suffix}`
}

/** Removes the drafts of processes that were killed. */
export function removeOldDrafts(data: string): void {
  for (const name of readdirSync(data)) {
    if (!name.startsWith(draftPrefix)) continue
    const [pid] = name.slice(draftPrefix.length).split('-')
    if (!isAlive(Number(pid))) rmSync(join(data, name), { force: true })
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const draftPrefix = '.backup-'
