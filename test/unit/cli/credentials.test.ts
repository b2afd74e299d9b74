import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, json, type Made } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { Recorder } from '../../support/outbound/recorder.ts'
import { storedBytes } from '../../support/store/stored-bytes.ts'

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(async () => {
  folder = temporaryFolder()
  path = folder.path
  await json<Made>(path, 'init')
})
afterEach(() => folder[Symbol.dispose]())

const show = (name: string) => json<object>(path, 'credentials', 'show', name)
const bearer = ['--kind', 'bearer', '--hosts', 'a.example, *.b.example', '--secret', 'token']

describe('credentials', () => {
  test('set creates one with a secret from standard input, and never prints it', async () => {
    const made = await call(path, 'credentials', 'set', 'crm', ...bearer, { input: 'token-1234\n' })
    expect(made).toEqual({ code: 0, out: '', words: 'crm is set.\n' })
    expect(await show('crm')).toMatchObject({
      ...{ name: 'crm', kind: 'bearer', hosts: ['a.example', '*.b.example'], fields: {}, secrets: ['token'] },
      ...{ state: 'untested', problem: null, lastUsedAt: null },
    })
    expect((await call(path, 'credentials', 'list')).out).toMatch(
      /crm +bearer {2}untested {2}a\.example, \*\.b\.example/,
    )
    expect((await call(path, 'credentials', 'show', 'crm')).out).not.toContain('token-1234')
    const stored = await storedBytes(path)
    expect(stored.length).toBeGreaterThan(0)
    for (const { bytes } of stored) expect(Buffer.from(bytes).includes('token-1234')).toBe(false)
  })

  test('set changes what it names and leaves the rest', async () => {
    const fields = ['--field', 'accessKeyId=AK', '--field', 'region=r=1', '--field', 'service=s3']
    const secrets = ['--secret', 'secretAccessKey', '--secret', 'sessionToken']
    const words = ['--kind', 'aws_sigv4', '--hosts', 'x.example', ...fields, ...secrets]
    expect((await call(path, 'credentials', 'set', 'aws', ...words, { input: 'one\ntwo\n' })).code).toBe(0)
    const changed = await call(path, 'credentials', 'set', 'aws', '--field', 'service=ses')
    expect(changed.words).toBe('aws is changed.\n')
    expect(await show('aws')).toMatchObject({
      fields: { accessKeyId: 'AK', region: 'r=1', service: 'ses' },
      secrets: ['secretAccessKey', 'sessionToken'],
      hosts: ['x.example'],
    })
  })

  test('set takes an object of texts as JSON', async () => {
    const fields = ['tokenUrl={{URL}}', 'clientId=c', 'parameters={"a": "b"}'].flatMap((field) => ['--field', field])
    const words = ['--kind', 'oauth2_client_credentials', '--hosts', 'x.example', ...fields, '--secret', 'clientSecret']
    expect((await call(path, 'credentials', 'set', 'oauth', ...words, { input: 'secret-1' })).words).toBe(
      'oauth is set.\n',
    )
    expect(await show('oauth')).toMatchObject({
      fields: { tokenUrl: '{{URL}}', clientId: 'c', parameters: { a: 'b' } },
    })
  })

  test('set reads certificates and keys from files', async () => {
    const file = join(path, 'key.pem')
    writeFileSync(file, 'line one\nline two\n')
    const kind = ['--kind', 'client_certificate', '--hosts', 'x.example']
    const parts = ['--field', `certificate=@${file}`, '--secret', `privateKey=@${file}`]
    expect((await call(path, 'credentials', 'set', 'mtls', ...kind, ...parts)).words).toBe('mtls is set.\n')
    expect(await show('mtls')).toMatchObject({ fields: { certificate: 'line one\nline two\n' } })
    const missing = await call(path, 'credentials', 'set', 'mtls', '--secret', 'privateKey=@nowhere.pem')
    expect(missing).toMatchObject({ code: 1, words: expect.stringContaining('nowhere.pem cannot be read') })
  })

  test.each([
    [['--secret', 'token'], 'token-1234', 'needs --kind and --hosts', 2],
    [['--kind', 'nothing', '--hosts', 'a.example'], '', 'is not a kind of credential', 1],
    [[...bearer, '--field', 'prefix'], 'token-1234', 'write NAME=VALUE', 2],
    [bearer, '', 'A value is missing', 1],
    [[...bearer, '--secret', 'other'], 'one\ntwo\nthree\n', 'has 3 lines, but there are 2 secrets', 1],
    [['--kind', 'bearer', '--hosts', '*.com', '--secret', 'token'], 'token-1234', 'not a valid host', 1],
  ])('set refuses %j', async (words, input, problem, code) => {
    const refused = await call(path, 'credentials', 'set', 'crm', ...words, { input })
    expect(refused).toMatchObject({ code, out: '', words: expect.stringContaining(problem) })
    expect(await json<object[]>(path, 'credentials', 'list')).toEqual([])
  })

  test('delete removes one, once', async () => {
    await call(path, 'credentials', 'set', 'crm', ...bearer, { input: 'token-1234' })
    expect(await call(path, 'credentials', 'delete', 'crm')).toEqual({ code: 0, out: '', words: 'crm is gone.\n' })
    const again = await call(path, 'credentials', 'delete', 'crm')
    expect(again).toMatchObject({ code: 1, words: expect.stringContaining('credentials list') })
    expect((await call(path, 'credentials', 'show', 'crm')).code).toBe(1)
  })
})

test('run FILE --credentials sends requests with credentials from a file', async () => {
  const service = new Recorder()
  const file = join(path, 'call.json')
  const draft = document({
    blocks: [block('start', 'manual_trigger'), block('call', 'api', { url: `${service.url}/x`, credential: 'crm' })],
    edges: ['start > call'],
  })
  writeFileSync(file, JSON.stringify({ ...draft, name: 'Call' }))
  const written = {
    kind: 'basic',
    hosts: [service.host],
    fields: { username: 'ada' },
    secrets: { password: 'p-1234567' },
  }
  const credentials = join(path, 'credentials.json')
  writeFileSync(credentials, JSON.stringify({ crm: written }))
  const run = (...more: string[]) => call(path, 'run', file, '--outbound-allow', 'loopback', ...more)
  expect((await run('--credentials', credentials)).code).toBe(0)
  expect(service.requests).toMatchObject([{ url: '/x', headers: { authorization: `Basic ${btoa('ada:p-1234567')}` } }])
  expect(await run()).toMatchObject({ code: 1 })
  writeFileSync(credentials, JSON.stringify({ crm: { ...written, hosts: [] } }))
  expect((await run('--credentials', credentials)).words).toContain('crm.hosts: Name at least one host')
  service.stop()
})
