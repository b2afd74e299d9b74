import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { s3 } from '../../../src/blocks/s3.ts'
import { authorizationOf } from '../../../src/credentials/authorization.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { makeContext } from '../../unit/blocks/context.ts'
import { S3Server } from '../files/s3-server.ts'

let server: S3Server
let endpoint = ''

beforeAll(async () => {
  server = await S3Server.start()
  endpoint = server.url
})
afterAll(() => server.stop())

async function call(params: Record<string, unknown>, secretAccessKey = 'S3RVER', hosts = [new URL(endpoint).host]) {
  using context = makeContext({
    credential: async (name) =>
      authorizationOf(
        {
          ...{ id: 'c1', workspaceId: 'w1', name, kind: 'aws_sigv4', hosts, state: 'ok', problem: null },
          ...{ updatedAt: 0, tokenVersion: 0, secrets: { secretAccessKey } },
          fields: { accessKeyId: 'S3RVER', region: 'us-east-1', service: 's3' },
        },
        { tokens: { tokenOf: async () => '', refused: async () => false }, clock: systemClock, used: () => {} },
      ),
  })
  const usual = { credential: 'aws', bucket: 'files', endpoint, limit: 1_000, expiresS: 60, timeoutMs: 10_000 }
  const { outputs } = await s3.run({ ...usual, onError: 'stop', ...params }, context)
  const file = outputs['file'] as { url: string; name: string; type: string; size: number } | null
  return { ...outputs, file, text: file ? await (await context.files.read(file.url))?.text() : undefined }
}

describe('a bucket', () => {
  test('gives back the files that were written to it', async () => {
    for (const key of ['a.txt', "folder/ä +&%?#='()*!.txt", 'folder//double', 'x'.repeat(200)]) {
      expect(await call({ operation: 'put', key, body: `content of ${key}` })).toMatchObject({ error: null })
      const read = await call({ operation: 'get', key })
      expect(read).toMatchObject({ error: null, text: `content of ${key}`, file: { type: 'text/plain' } })
    }
    await call({ operation: 'put', key: 'data.json', body: { rows: [1] } })
    const json = await call({ operation: 'get', key: 'data.json' })
    expect(json).toMatchObject({ text: '{"rows":[1]}', file: { type: 'application/json', name: 'data.json' } })
    await call({ operation: 'put', key: 'bytes', body: 'x', contentType: 'image/png' })
    expect(await call({ operation: 'get', key: 'bytes' })).toMatchObject({ file: { type: 'image/png' } })
  })

  test('lists its files by prefix, in pages, up to a limit', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `list/${String(index).padStart(2, '0')}`)
    await Promise.all(names.map((key) => call({ operation: 'put', key, body: key })))
    const all = await call({ operation: 'list', prefix: 'list/' })
    expect((all as unknown as { items: { key: string }[] }).items.map(({ key }) => key).sort()).toEqual(names)
    const [first] = (all as unknown as { items: object[] }).items
    expect(first).toMatchObject({ size: 7, etag: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(all).toMatchObject({ hasMore: false })
  })

  // The test server cannot continue a list, so this one stands for a server with more files.
  test('lists the pages of a long list up to its limit', async () => {
    const asked: string[] = []
    using pages = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { searchParams } = new URL(request.url)
        const from = Number(searchParams.get('continuation-token') ?? 0)
        const count = Math.min(Number(searchParams.get('max-keys')), 1_000)
        asked.push(`${from}+${count}`)
        const contents = Array.from({ length: count }, (_, index) => {
          return `<Contents><Key>a%26b+${from + index}</Key><Size>1</Size><ETag>&quot;e&quot;</ETag></Contents>`
        })
        return new Response(
          `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>${contents.join('')}` +
            `<NextContinuationToken>${from + count}</NextContinuationToken></ListBucketResult>`,
        )
      },
    })
    const endpoint = `http://127.0.0.1:${pages.port}`
    const listed = await call({ operation: 'list', endpoint, limit: 2_500 }, 'key', [new URL(endpoint).host])
    const { items, hasMore } = listed as unknown as { items: { key: string }[]; hasMore: boolean }
    expect(asked).toEqual(['0+1000', '1000+1000', '2000+500'])
    expect({ count: items.length, last: items.at(-1), hasMore }).toMatchObject({
      count: 2_500,
      last: { key: 'a&b 2499', etag: 'e' },
      hasMore: true,
    })
  })

  test('deletes files, and makes links that anyone can open', async () => {
    await call({ operation: 'put', key: 'shared/a b.txt', body: 'shared' })
    const { url } = (await call({ operation: 'presign', key: 'shared/a b.txt' })) as unknown as { url: string }
    expect(await (await fetch(url)).text()).toBe('shared')
    expect((await fetch(url.replace(/Signature=[0-9a-f]{6}/, 'Signature=000000'))).status).toBe(403)
    expect(await call({ operation: 'delete', key: 'shared/a b.txt' })).toMatchObject({ error: null })
    expect(await call({ operation: 'get', key: 'shared/a b.txt' })).toMatchObject({
      error: { code: 'HTTP_ERROR', message: expect.stringContaining('NoSuchKey') },
    })
  })

  test('refuses a wrong key, another host, and keys that lead elsewhere', async () => {
    const wrong = await call({ operation: 'get', key: 'a.txt' }, 'not-the-key')
    expect(wrong).toMatchObject({
      error: { code: 'HTTP_ERROR', message: expect.stringContaining('SignatureDoesNotMatch') },
    })
    for (const operation of ['get', 'presign'])
      expect(await call({ operation, key: 'a.txt' }, 'S3RVER', ['other.example'])).toMatchObject({
        error: { code: 'CREDENTIAL_HOST' },
      })
    for (const key of ['', '..', 'a/../b', './a'])
      expect(await call({ operation: 'get', key })).toMatchObject({ error: { code: 'INVALID_PARAMETER' } })
    for (const bucket of ['../x', 'a/b', 'a?b', 'a@b', ''])
      expect(await call({ operation: 'get', key: 'a', bucket })).toMatchObject({ error: { code: 'INVALID_PARAMETER' } })
    expect(await call({ operation: 'list', bucket: 'missing' })).toMatchObject({
      error: { message: expect.stringContaining('NoSuchBucket') },
    })
  })
})
