import type { Config } from '../../config.ts'
import { filesName } from '../backups/contents.ts'
import type { FilesPlan } from './files.ts'
import type { Side } from './sides.ts'

export type MovedFacts = {
  from: Side
  to: Side
  files: FilesPlan | undefined
  config: Pick<Config, 's3Bucket' | 'secretKey'>
}

/** Tells the user how to continue on the target. */
export function nextSteps({ from, to, files, config }: MovedFacts): string[] {
  const needsKey = to.kind === 'postgres' || config.secretKey !== undefined
  const withKey = needsKey ? ', with MILLRACE_SECRET_KEY as it is set now' : ''
  return [
    to.kind === 'postgres'
      ? `Start the service with MILLRACE_STORE=${to.name}${withKey}.`
      : `Start the service without MILLRACE_STORE${withKey}: millrace serve --data ${to.name}`,
    ...filesTexts(to, files, config.s3Bucket),
    `${from.name} is unchanged. Start no service on it any more: schedules and webhooks would run twice.`,
  ]
}

function filesTexts(to: Side, files: FilesPlan | undefined, bucket: string | undefined): string[] {
  if (!files) return []
  const folder = `${files.from}/${filesName}`
  if (bucket !== undefined) {
    return [
      `Files of earlier runs are in ${folder}. Copy them to the bucket, below MILLRACE_S3_PREFIX: ` +
        `aws s3 sync ${folder} s3://${bucket}/`,
    ]
  }
  const used = files.to ?? files.from
  if (to.kind === 'sqlite') return []
  return [
    `Files of runs are in ${used}/${filesName}: start the service with --data ${used}. Only one process can use a folder. ` +
      'For several, copy the files to a bucket (aws s3 sync) and set MILLRACE_S3_BUCKET.',
  ]
}
