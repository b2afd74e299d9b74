import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createDiskStorage } from '../../../src/files/disk.ts'
import { bucketOf } from '../../../src/files/open.ts'
import { UrlSigner } from '../../../src/files/signed-url.ts'
import { Spool } from '../../../src/files/spool.ts'
import type { FileStorage } from '../../../src/files/storage.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { S3Server } from './s3-server.ts'

const folder = temporaryFolder()
const spool = new Spool(join(folder.path, '.incoming'), { isDurable: false })
const signer = new UrlSigner(
  () => [new Uint8Array(32)],
  () => 'http://files.test',
)
let server: S3Server
beforeAll(async () => {
  process.env['AWS_ACCESS_KEY_ID'] = process.env['AWS_SECRET_ACCESS_KEY'] = 'S3RVER'
  server = await S3Server.start()
})
afterAll(async () => {
  await server.stop()
  folder[Symbol.dispose]()
})

const bucket = () => {
  const settings = { s3Bucket: 'files', s3Endpoint: server.url, s3Region: 'us-east-1', s3ForcePathStyle: true }
  return bucketOf({ ...settings, s3Prefix: '/some/prefix/' }, Date.now)!
}
contract('the disk', () => createDiskStorage({ root: folder.path, signer, isDurable: true }))
contract('a bucket', bucket)

/** The contract of every storage. */
function contract(name: string, open: () => FileStorage): void {
  describe(name, () => {
    test.each([0, 1, 5 * 1_048_576, 5 * 1_048_576 + 1, 12_000_000])(
      'returns a stored file of %d bytes unchanged',
      async (size) => {
        const storage = open()
        const bytes = Buffer.alloc(size, crypto.randomUUID())
        const key = `w/f/e/${crypto.randomUUID()}/a.bin`
        await storage.put(key, await spool.hold(bytes), 'image/png')
        const blob = await storage.read(key)
        expect(Buffer.from(await blob!.arrayBuffer()).equals(bytes)).toBe(true)
        expect(await storage.read(`${key}.none`)).toBeUndefined()
        await storage.removeFolder('w/f/e')
      },
    )

    test('deletes only the files of one run, however similar the names are', async () => {
      const storage = open()
      const keys = ['w/f/e1/1/a', 'w/f/e1/2/b', 'w/f/e12/3/c', 'w/f2/e1/4/d', 'w2/f/e1/5/e']
      for (const key of keys) await storage.put(key, await spool.hold(Buffer.from(key)), 'text/plain')
      const folders: string[] = []
      for await (const each of storage.folders()) folders.push(each)
      expect(folders.toSorted()).toEqual(['w/f/e1', 'w/f/e12', 'w/f2/e1', 'w2/f/e1'])
      await storage.removeFolder('w/f/e1')
      await storage.removeFolder('w/f/e1')
      const left = await Promise.all(keys.map(async (key) => (await storage.read(key)) !== undefined))
      expect(left).toEqual([false, false, true, true, true])
      for (const each of folders) await storage.removeFolder(each)
    })
  })
}

test('a signed bucket URL opens one file for a limited time, cannot be changed, and names the download', async () => {
  const storage = bucket()
  const key = `w/f/e/${crypto.randomUUID()}/a.txt`
  await storage.put(key, await spool.hold(Buffer.from('0123456789')), 'text/plain')
  const url = await storage.urlOf(key, Date.now() + 60_000)
  const response = await fetch(url)
  expect([response.status, await response.text()]).toEqual([200, '0123456789'])
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="a.txt"')
  const part = await fetch(url, { headers: { range: 'bytes=2-4' } })
  expect([part.status, await part.text()]).toEqual([206, '234'])
  expect((await fetch(url.replace('a.txt?', 'b.txt?'))).status).toBe(403)
  const past = bucketOf(
    {
      s3Bucket: 'files',
      s3Endpoint: server.url,
      s3Region: 'us-east-1',
      s3ForcePathStyle: true,
      s3Prefix: 'some/prefix',
    },
    () => Date.now() - 120_000,
  )!
  expect((await fetch(await past.urlOf(key, Date.now() - 60_000))).status).toBe(403)
})
