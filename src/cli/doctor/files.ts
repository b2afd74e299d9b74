import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { bucketOf } from '../../files/open.ts'
import { Spool } from '../../files/spool.ts'
import { s3Advice } from '../support/s3-advice.ts'
import type { Diagnosis } from './diagnosis.ts'

/** Checks whether a file can be stored in the bucket, read, downloaded by a signed URL, and deleted. */
export async function examineFiles(config: Config): Promise<Diagnosis> {
  const check = 'storage'
  const bucket = bucketOf(config, Date.now)
  if (!bucket) return { check, state: 'ok', message: 'Files of runs are stored in the data folder.' }
  const spool = new Spool(join(tmpdir(), `millrace-doctor-${newId()}`), { isDurable: false })
  const folder = `millrace-doctor/check/${newId()}`
  const key = `${folder}/${newId()}/check.txt`
  let step = 'stored (s3:PutObject)'
  try {
    await bucket.put(key, await spool.hold(Buffer.from('check')), 'text/plain')
    step = 'read (s3:GetObject)'
    if (!(await bucket.read(key))) throw new Error('the file is missing')
    step = 'downloaded by a signed URL'
    const { status } = await fetch(await bucket.urlOf(key, Date.now() + 60_000))
    if (status !== 200) throw new Error(`the response status was ${status}`)
    step = 'listed and deleted (s3:ListBucket, s3:DeleteObject)'
    await bucket.removeFolder(folder)
    return { check, state: 'ok', message: `Files can be written to and read from the bucket ${config.s3Bucket}.` }
  } catch (error) {
    const name = error instanceof Error ? error.name : ''
    const message = `In the bucket ${config.s3Bucket}, a file could not be ${step}: ${messageOf(error) || name}.`
    return { check, state: 'broken', message, advice: s3Advice(name, advice) }
  } finally {
    spool.clear()
  }
}

const advice = {
  noBucket: 'Create the bucket, or correct MILLRACE_S3_BUCKET.',
  denied: 'Grant the credentials the permission that the message names.',
}
