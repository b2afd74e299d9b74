import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import '../../support/built.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { S3Server } from '../files/s3-server.ts'

type Diagnosis = { check: string; state: string; message: string; advice?: string }

const credentials = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
/** Prevents the SDK from querying the EC2 metadata service and from reading files in the home directory. */
const noOtherSources = {
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_CONFIG_FILE: '/dev/null',
}
const folder = temporaryFolder()
let server: S3Server

beforeAll(async () => {
  server = await S3Server.start()
  await millrace(['init', '--data', folder.path])
}, 120_000)
afterAll(async () => {
  await server.stop()
  folder[Symbol.dispose]()
})

/** The storage finding of `doctor`, with its exit code. */
async function examine(flags: Record<string, string> = {}, environment: Record<string, string> = credentials) {
  const given = Object.entries({ ...server.flags, ...flags }).flatMap(([name, value]) => [`--${name}`, value])
  const bound = ['--log-retention-bytes', '10MB']
  const { code, out } = await millrace(['doctor', '--json', '--data', folder.path, ...bound, ...given], { environment })
  return { code, ...(JSON.parse(out) as Diagnosis[]).find(({ check }) => check === 'storage') }
}

/** Runs `doctor` against a proxy that rejects some requests with an S3 error code. */
async function examineBehindProxy(isRejected: (method: string, path: string) => boolean, code: string) {
  using proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (isRejected(request.method, pathname)) {
        const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>refused here</Message></Error>`
        return new Response(body, { status: 403, headers: { 'content-type': 'application/xml' } })
      }
      const body = request.method === 'PUT' ? await request.arrayBuffer() : null
      return await fetch(server.url + pathname + search, { method: request.method, headers: request.headers, body })
    },
  })
  return await examine({ 's3-endpoint': `http://127.0.0.1:${proxy.port}` })
}

describe('doctor tests the bucket and', () => {
  test('reports success, and leaves no file behind', async () => {
    expect(await examine()).toMatchObject({ code: 0, state: 'ok' })
    const listed = await fetch(`${server.url}/files`)
    expect(await listed.text()).not.toContain('millrace-doctor')
  })

  test('names a missing bucket', async () => {
    const { code, state, message, advice } = await examine({ 's3-bucket': 'nothing' })
    expect({ code, state }).toEqual({ code: 1, state: 'broken' })
    expect(message).toContain('nothing')
    expect(advice).toContain('MILLRACE_S3_BUCKET')
  })

  for (const [permission, method] of [
    ['s3:PutObject', 'PUT'],
    ['s3:DeleteObject', 'DELETE'],
  ] as const) {
    test(`names the missing permission ${permission}`, async () => {
      const { state, message, advice } = await examineBehindProxy((asked) => asked === method, 'AccessDenied')
      expect(state).toBe('broken')
      expect(message).toContain(permission)
      expect(advice).toContain('permission')
    })
  }

  test('names the missing permission s3:GetObject', async () => {
    const reads = (method: string, path: string) => method === 'GET' && path.endsWith('.txt')
    expect(await examineBehindProxy(reads, 'AccessDenied')).toMatchObject({
      message: expect.stringContaining('s3:GetObject'),
    })
  })

  test('reports a clock difference', async () => {
    const { advice } = await examineBehindProxy((method) => method === 'PUT', 'RequestTimeTooSkewed')
    expect(advice).toContain('clocks')
  })

  test('reports missing or wrong credentials', async () => {
    for (const environment of [
      { ...noOtherSources, AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
      { ...credentials, AWS_SECRET_ACCESS_KEY: 'wrong' },
    ]) {
      const { state, advice } = await examine({}, environment)
      expect(state).toBe('broken')
      expect(advice).toContain('AWS_ACCESS_KEY_ID')
    }
  })

  test('reports an unreachable endpoint', async () => {
    const { state, message, advice } = await examine({ 's3-endpoint': 'http://127.0.0.1:1' })
    expect({ state, message }).toEqual({ state: 'broken', message: expect.stringContaining('files') })
    expect(advice).toContain('MILLRACE_S3_ENDPOINT')
  })
})
