import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../../src/domain/clock.ts'
import { Files } from '../../../src/files/files.ts'
import { bucketOf } from '../../../src/files/open.ts'
import { Spool } from '../../../src/files/spool.ts'
import { temporaryFolder } from '../../support/executable.ts'

const quota = { take: async () => undefined, failed: () => undefined, deleted: () => undefined }

test('without credentials for signing, only responses with files fail', async () => {
  using folder = temporaryFolder()
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
  const before = names.map((name) => process.env[name])
  for (const name of names) delete process.env[name]
  process.env['AWS_EC2_METADATA_DISABLED'] = 'true'
  try {
    const settings = { s3Bucket: 'files', s3Endpoint: 'http://127.0.0.1:1', s3Region: 'us-east-1' }
    const storage = bucketOf({ ...settings, s3ForcePathStyle: true, s3Prefix: '' }, Date.now)!
    const spool = new Spool(join(folder.path, '.incoming'), { isDurable: false })
    const files = new Files({ storage, spool, quota, clock: systemClock, urlTtlS: 60 })
    const url = 'http://127.0.0.1:1/files/w/f/e/1/a.txt?X-Amz-Expires=60'
    const recorded = JSON.stringify([
      { key: 'w/f/e/1/a.txt', file: { url, name: 'a.txt', size: 1, type: 'text/plain' } },
    ])
    const refused = await Promise.resolve(files.freshen(`[{"url":"${url}"}]`, [recorded])).catch((error) => error)
    expect(refused).toMatchObject({ code: 'STORAGE_UNAVAILABLE', retryAfterS: expect.any(Number) })
    expect(refused.message).toContain('doctor')
    expect(await files.freshen('[{"id":"log_1"}]', [])).toBe('[{"id":"log_1"}]')
  } finally {
    for (const [index, name] of names.entries()) if (before[index] !== undefined) process.env[name] = before[index]
  }
})
