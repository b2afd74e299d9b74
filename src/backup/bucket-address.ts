import { newId } from '../domain/ids.ts'

/** A place for backups: `s3://bucket/path`. */
export type BucketAddress = {
  bucket: string
  /** The path with a slash at its end; empty for the bucket itself. */
  prefix: string
  /** Set when the address names one backup. */
  name: string | undefined
}

/** Parses `s3://bucket`, `s3://bucket/path` or `s3://bucket/path/millrace-….tar`. Undefined for anything else. */
export function parseBucketAddress(text: string): BucketAddress | undefined {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/s.exec(text) ?? []
  if (bucket === undefined || /[\s\\]/.test(path)) return undefined
  const segments = path.split('/').filter((segment) => segment !== '')
  const last = segments.at(-1)
  const name = last !== undefined && parseBackupName(last) ? segments.pop() : undefined
  return { bucket, prefix: segments.map((segment) => `${segment}/`).join(''), name }
}

/** `at`: epoch milliseconds. `installation`: 8 hex digits; undefined in names that were shortened to the time. */
export type BackupName = { at: number; installation: string | undefined }

/** A new name for a backup. Names sort by time, and no two are equal, also within a second. */
export function backupName(at: number, installation: string): string {
  const time = new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')
  return `millrace-${time}Z-${installation}-${newId().slice(0, 8)}.tar`
}

/** Undefined for names that are not those of backups. */
export function parseBackupName(name: string): BackupName | undefined {
  const [, date, hour, minute, second, installation] = pattern.exec(name) ?? []
  const at = Date.parse(`${date}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(at) ? undefined : { at, installation }
}

const pattern = /^millrace-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z(?:-([0-9a-f]{8})-[0-9a-f]{8})?\.tar$/
