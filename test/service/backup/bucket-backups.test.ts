import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, type Installation, init, serve } from '../../support/running-service.ts'
import { S3Server } from '../files/s3-server.ts'

type Made = { file: string; bytes: number; files: number; pruned?: number }

let server: S3Server
let environment: Record<string, string>
let folder: ReturnType<typeof temporaryFolder>
let data: string
let installed: Installation
/** A path in the bucket for each test. */
let place: string

beforeAll(async () => {
  server = await S3Server.start()
  environment = {
    MILLRACE_S3_ENDPOINT: server.url,
    MILLRACE_S3_REGION: 'us-east-1',
    MILLRACE_S3_FORCE_PATH_STYLE: 'true',
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_CONFIG_FILE: '/dev/null',
  }
}, 120_000)
afterAll(() => server.stop())

beforeEach(async () => {
  folder = temporaryFolder()
  data = join(folder.path, 'data')
  installed = await init(data)
  place = `s3://files/${crypto.randomUUID()}`
})
afterEach(() => folder[Symbol.dispose]())

const draft = document({ name: 'Kept', blocks: [block('start', 'api_trigger')], edges: [] })
const run = (...words: string[]) => millrace(words, { environment })
const json = <Result>({ out }: { out: string }) => JSON.parse(out) as Result
/** The names of all files in the data folder that the service did not create by itself. */
const drafts = (path: string) => readdirSync(path).filter((name) => name.startsWith('.'))

/** The check of the backups by `millrace doctor`. */
async function backupCheck(settings: Record<string, string>) {
  const { out } = await millrace(['doctor', '--json', '--log-retention-bytes', '10MB'], { environment: settings })
  return json<{ check: string; state: string; message: string }[]>({ out }).find(({ check }) => check === 'backups')
}

/** Another client of the same bucket. */
const bucketClient = () =>
  new Bun.S3Client({
    ...{ endpoint: server.url, bucket: 'files', region: 'us-east-1' },
    ...{ accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  })

/** Sets the ID of this installation. Returns the name of a backup that it made on the first day of a year. */
function ownName(year: string): string {
  writeFileSync(join(data, 'backup-id'), '0123abcd')
  return `millrace-${year}-01-01T00-00-00Z-0123abcd-00000000.tar`
}

/** The keys below a prefix of the bucket. */
async function keysBelow(prefix: string): Promise<string[]> {
  const text = await (await fetch(`${server.url}/files?prefix=${encodeURIComponent(prefix)}`)).text()
  return Array.from(text.matchAll(/<Key>([^<]+)<\/Key>/g), ([, key]) => key!)
}

/** The S3 server as credentials see it that may write and list, but not delete. */
function withoutDeletes(): { url: string } & AsyncDisposable {
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (request.method === 'DELETE' && !search.includes('uploadId')) {
        const denied = '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'
        return new Response(denied, { status: 403, headers: { 'content-type': 'application/xml' } })
      }
      const { method, headers } = request
      // The signature covers the address of the proxy: `headers` has it as the host.
      const body = method === 'GET' ? {} : { body: await request.arrayBuffer() }
      return await fetch(server.url + pathname + search, { method, headers, ...body })
    },
  })
  return { url: `http://127.0.0.1:${proxy.port}`, [Symbol.asyncDispose]: () => proxy.stop(true) }
}

describe('a backup in a bucket', () => {
  test('restores the whole installation, and leaves no drafts', async () => {
    const service = await serve(data, environment)
    const created = await call(`${service.url}/api/workflows`, installed.apiKey, 'POST', draft)
    expect(created.status).toBe(201)
    // More than one part of 16 MB.
    const large = crypto.getRandomValues(new Uint8Array(65_536)).toBase64().repeat(400)
    mkdirSync(join(data, 'files'), { recursive: true })
    writeFileSync(join(data, 'files', 'large.txt'), large)
    const made = await run('backup', place, '--data', data, '--json')
    expect(made).toMatchObject({ code: 0, words: '' })
    const { file, files, bytes } = json<Made>(made)
    expect(file).toMatch(/\/millrace-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[0-9a-f]{8}-[0-9a-f]{8}\.tar$/)
    expect(file.startsWith(place)).toBe(true)
    expect(files).toBe(1)
    expect(bytes).toBeGreaterThan(large.length)
    await service.kill('SIGTERM')

    const target = join(folder.path, 'restored')
    const restored = await run('restore', '--from', place, '--data', target, '--json')
    expect(restored).toMatchObject({ code: 0, words: '' })
    expect(json<{ from: string }>(restored).from).toBe(file)
    expect([...drafts(data), ...drafts(target)]).toEqual([])
    expect(await Bun.file(join(target, 'files', 'large.txt')).text()).toBe(large)
    const again = await serve(target, environment)
    const listed = await call(`${again.url}/api/workflows?workspaceId=${installed.workspaceId}`, installed.apiKey)
    expect((listed.body as { data: { name: string }[] }).data.map(({ name }) => name)).toContain('Kept')
    await again.kill('SIGTERM')
  }, 60_000)

  test('can be restored by its name, also when there are newer ones', async () => {
    const first = json<Made>(await run('backup', place, '--data', data, '--json'))
    const second = json<Made>(await run('backup', place, '--data', data, '--json'))
    expect(second.file).not.toBe(first.file)
    const restored = await run('restore', '--from', first.file, '--data', join(folder.path, 'old'), '--json')
    expect(json<{ from: string }>(restored).from).toBe(first.file)
  }, 30_000)

  test('--prune keeps the newest ones and does not touch other objects', async () => {
    const prefix = `${place.slice('s3://files/'.length)}/`
    const old = [ownName('2020'), ownName('2021')]
    const another = 'millrace-2020-01-01T00-00-00Z-00000000-00000000.tar'
    const others = [another, 'notes.txt', 'millrace-notes.tar', 'deeper/millrace-2020-01-01T00-00-00Z.tar']
    const client = bucketClient()
    for (const name of [...old, ...others]) await client.write(prefix + name, 'x')
    const made = json<Made>(await run('backup', place, '--data', data, '--prune', '--backup-keep', '2', '--json'))
    expect(made.pruned).toBe(1)
    const left = (await keysBelow(prefix)).map((key) => key.slice(prefix.length))
    expect(left.toSorted()).toEqual([...others, old[1]!, made.file.split('/').at(-1)!].toSorted())
  }, 30_000)

  test('never deletes those of another installation at the same path, not even of one restored from it', async () => {
    const first = json<Made>(await run('backup', place, '--data', data, '--json'))
    const copy = join(folder.path, 'copy')
    expect((await run('restore', '--from', place, '--data', copy)).code).toBe(0)
    const prune = ['--prune', '--backup-keep', '1', '--json']
    const settings = { ...environment, MILLRACE_DATA: copy, MILLRACE_BACKUP: place }
    expect((await backupCheck(settings))?.message).toContain('There is no backup of this installation')
    const second = json<Made>(await run('backup', place, '--data', copy, ...prune))
    expect(await backupCheck(settings)).toMatchObject({ state: 'ok' })
    const third = json<Made>(await run('backup', place, '--data', copy, ...prune))
    expect([second.pruned, third.pruned]).toEqual([0, 1])
    const keys = await keysBelow(place.slice('s3://files/'.length))
    const keysOf = [first.file, third.file].map((file) => file.slice('s3://files/'.length))
    expect(keys.toSorted()).toEqual(keysOf.toSorted())
    const restored = await run('restore', '--from', third.file, '--data', join(folder.path, 'third'), '--json')
    expect(restored).toMatchObject({ code: 0, words: '' })
    const newest = await run('restore', '--from', place, '--data', join(folder.path, 'newest'))
    expect(newest.code).toBe(0)
    expect(newest.words).toContain('The newest backup of another installation: ')
  }, 60_000)

  test('is not deleted by its own --prune when others have later times, because the clock was set back', async () => {
    const prefix = `${place.slice('s3://files/'.length)}/`
    const later = [ownName('2998'), ownName('2999')]
    for (const name of later) await bucketClient().write(prefix + name, 'x')
    const made = json<Made>(await run('backup', place, '--data', data, '--prune', '--backup-keep', '2', '--json'))
    expect(made.pruned).toBe(1)
    expect((await keysBelow(prefix)).toSorted()).toEqual([made.file.slice('s3://files/'.length), prefix + later[1]])
  }, 30_000)

  test('counts as made when the credentials may not delete old ones', async () => {
    await using proxy = withoutDeletes()
    const settings = { ...environment, MILLRACE_S3_ENDPOINT: proxy.url, MILLRACE_DATA: data }
    const old = `${place.slice('s3://files/'.length)}/${ownName('2020')}`
    await bucketClient().write(old, 'x')
    const words = ['backup', place, '--prune', '--backup-keep', '1']
    const made = await millrace([...words, '--json'], { environment: settings })
    expect(made).toMatchObject({ code: 0, words: '' })
    expect(json<{ pruneFailure: string }>(made).pruneFailure).toContain('s3:DeleteObject')

    const scheduled = { ...settings, MILLRACE_BACKUP: place, MILLRACE_BACKUP_KEEP: '1', MILLRACE_BACKUP_EVERY: '1h' }
    const service = await serve(data, scheduled)
    while (!service.errors().includes('old backups could not be deleted')) await Bun.sleep(100)
    const text = await (await fetch(`${service.url}/metrics`)).text()
    expect(text).toContain('millrace_backups_total{outcome="succeeded"} 1')
    expect(text).toContain('millrace_backups_total{outcome="failed"} 0')
    await service.kill('SIGTERM')
    expect(await keysBelow(old)).toEqual([old])
    expect(await backupCheck(scheduled)).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('There are 3 instead of 1'),
    })
  }, 60_000)

  test('that cannot be written says why, and leaves nothing behind', async () => {
    const noBucket = await run('backup', 's3://missing-bucket/a', '--data', data)
    expect(noBucket.code).toBe(1)
    expect(noBucket.words).toContain('The bucket missing-bucket cannot be used')
    expect(noBucket.words).toContain('Create the bucket')
    const wrong = await run('backup', 's3://A_B', '--data', data)
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.words).toContain('Write s3://BUCKET or s3://BUCKET/PATH.')
    expect(drafts(data)).toEqual([])
  }, 30_000)

  test('that does not exist or is damaged restores nothing', async () => {
    const target = join(folder.path, 'new')
    const none = await run('restore', '--from', place, '--data', target)
    expect(none).toMatchObject({ code: 1 })
    expect(none.words).toContain(`There is no backup in ${place}.`)
    const prefix = `${place.slice('s3://files/'.length)}/`
    const client = bucketClient()
    await client.write(`${prefix}millrace-2026-01-01T00-00-00Z.tar`, 'not a tar file')
    const damaged = await run('restore', '--from', place, '--data', target)
    expect(damaged).toMatchObject({ code: 1 })
    expect(damaged.words).toContain('could not be restored')
    expect(readdirSync(target).filter((name) => name !== 'millrace.lock')).toEqual([])
    const both = await run('restore', 'a.tar', '--from', place, '--data', target)
    expect(both).toMatchObject({ code: 2 })
  }, 30_000)
})

describe('scheduled backups', () => {
  test('appear in the bucket, in the metrics and in the answer of doctor', async () => {
    const settings = { ...environment, MILLRACE_BACKUP: place, MILLRACE_BACKUP_EVERY: '1h', MILLRACE_DATA: data }
    const service = await serve(data, settings)
    const metrics = async () => await (await fetch(`${service.url}/metrics`)).text()
    while (!(await metrics()).includes('millrace_backups_total{outcome="succeeded"} 1')) await Bun.sleep(100)
    const [key] = await keysBelow(place.slice('s3://files/'.length))
    expect(key).toMatch(/millrace-.*\.tar$/)
    const text = await metrics()
    const at = Number(/^millrace_backup_last_success_timestamp_seconds (\S+)/m.exec(text)?.[1])
    expect(Date.now() / 1000 - at).toBeLessThan(60)
    expect(await backupCheck(settings)).toMatchObject({ state: 'ok' })
    await service.kill('SIGTERM')
    // The next process does not begin with a backup: the last one is remembered.
    const again = await serve(data, settings)
    while (!(await (await fetch(`${again.url}/metrics`)).text()).includes(`last_success_timestamp_seconds ${at}`))
      await Bun.sleep(20)
    await again.kill('SIGTERM')
    expect(drafts(data)).toEqual([])
  }, 60_000)

  test('that fail are logged with the reason, and the service goes on', async () => {
    const settings = { ...environment, MILLRACE_BACKUP: 's3://missing-bucket/a', MILLRACE_DATA: data }
    const service = await serve(data, settings)
    while (!service.errors().includes('the scheduled backup failed')) await Bun.sleep(100)
    expect(service.errors()).toContain('The bucket missing-bucket cannot be used')
    expect((await fetch(`${service.url}/health`)).status).toBe(200)
    const text = await (await fetch(`${service.url}/metrics`)).text()
    expect(text).toContain('millrace_backups_total{outcome="failed"} 1')
    await service.kill('SIGTERM')
  }, 60_000)
})
