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
  const name = last !== undefined && backupTime(last) !== undefined ? segments.pop() : undefined
  return { bucket, prefix: segments.map((segment) => `${segment}/`).join(''), name }
}

/** The name of a backup made at a time. Names sort by time. */
export function backupName(at: number): string {
  const time = new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')
  return `millrace-${time}Z.tar`
}

/** When a backup was made, from its name, in epoch milliseconds. Undefined for other names. */
export function backupTime(name: string): number | undefined {
  const [, date, hour, minute, second] = /^millrace-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.tar$/.exec(name) ?? []
  const at = Date.parse(`${date}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(at) ? undefined : at
}
