import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSecretBox, sealHeadBytes } from '../../../src/accounts/secret-box.ts'
import { takeLock } from '../../../src/store/lock.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import '../../support/built.ts'
import { call, diagnose, json, type Made } from '../../support/cli/folder.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { serve } from '../../support/running-service.ts'
import { reportedWebhooks, withDeliveries } from './deliveries.ts'

/** Overwrites some bytes in the middle of the first page of a table. */
function damage(folder: string, table: string): void {
  const path = join(folder, 'millrace.db')
  const database = new Database(path, { readwrite: true })
  const page = database
    .query<{ pageno: number }, [string]>('SELECT pageno FROM dbstat WHERE name = ?')
    .get(table)!.pageno
  const size = database.query<{ page_size: number }, []>('PRAGMA page_size').get()!.page_size
  database.close()
  const bytes = readFileSync(path)
  const start = (page - 1) * size
  bytes.fill(0x5a, start + 4, start + 40)
  writeFileSync(path, bytes)
}

describe('doctor', () => {
  test('names the process that serves the folder', async () => {
    using folder = temporaryFolder()
    const lock = takeLock(folder.path)
    expect((await diagnose(folder.path)).of('service')?.message).toContain(`process ${process.pid}`)
    lock.release()
    expect((await diagnose(folder.path)).of('service')?.message).toBe('No service uses the folder.')
  })

  test('reports an invalid address rule and a folder that others may read', async () => {
    using folder = temporaryFolder()
    mkdirSync(join(folder.path, 'open'))
    chmodSync(join(folder.path, 'open'), 0o755)
    expect((await diagnose(join(folder.path, 'open'))).of('folder')).toMatchObject({ state: 'warning' })
    const { code, out } = await call(folder.path, 'doctor', '--outbound-allow', '10.0.0.0/99')
    expect(code).toBe(1)
    expect(out).toMatch(/BROKEN {2}settings .*10\.0\.0\.0\/99/)
  })

  test('warns when the log may outgrow the disk', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const { code, of } = await diagnose(folder.path, '--log-retention-bytes', '1000TB')
    expect(code).toBe(0)
    expect(of('disk')).toMatchObject({
      state: 'warning',
      advice: expect.stringContaining('MILLRACE_LOG_RETENTION_BYTES'),
    })
  })

  test('reports an empty database file as a missing database', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, 'millrace.db'), '')
    expect((await diagnose(folder.path)).of('database')).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('no database'),
    })
  })
})

describe('a damaged database', () => {
  test('is reported with the command that restores a backup', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    damage(folder.path, 'keys')
    const { code, of } = await diagnose(folder.path)
    expect(code).toBe(1)
    expect(of('database')).toMatchObject({
      state: 'broken',
      message: expect.stringContaining('is damaged'),
      advice: expect.stringContaining(`millrace restore BACKUP --data ${folder.path}-restored`),
    })
  })

  test.each([
    ['its header', 0, 100],
    ['its first page', 100, 4_000],
    ['everything else', 4_096, Number.POSITIVE_INFINITY],
  ])('is found wherever the damage is (%s)', async (_, from, to) => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const path = join(folder.path, 'millrace.db')
    const bytes = readFileSync(path)
    bytes.fill(0xff, from, Math.min(to, bytes.length))
    writeFileSync(path, bytes)
    const { code, of } = await diagnose(folder.path)
    expect(code).toBe(1)
    expect(of('database')).toMatchObject({ state: 'broken', advice: expect.stringContaining('millrace restore') })
  })

  test('is found while a service uses it', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const healthy = await serve(folder.path)
    expect((await diagnose(folder.path)).of('database')).toMatchObject({ state: 'ok' })
    await healthy.kill('SIGTERM')
    damage(folder.path, 'logs')
    const service = await serve(folder.path)
    const { code, of } = await diagnose(folder.path)
    expect(code).toBe(1)
    expect(of('service')?.message).toContain(`process ${service.pid}`)
    expect(of('database')).toMatchObject({ state: 'broken', message: expect.stringContaining('is damaged') })
    await service.kill('SIGTERM')
  })

  test.each([
    ['header', 0, 100],
    ['schema', 100, 4_000],
  ])('prevents the start of the service, which suggests doctor (%s)', async (_, from, to) => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const path = join(folder.path, 'millrace.db')
    const bytes = readFileSync(path)
    bytes.fill(0x5a, from, to)
    writeFileSync(path, bytes)
    const { code, out, words } = await millrace(['serve', '--port', '0', '--data', folder.path])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(words).toContain(path)
    expect(words).toContain('millrace doctor')
    expect(words.split('\n').filter((line) => line !== '')).toHaveLength(1)
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })
})

describe('doctor checks the secret key', () => {
  /** An installation with one variable, which is encrypted with its key file. */
  const withSecret = async (folder: string) => {
    const { workspaceId } = await json<Made>(folder, 'init')
    const store = await openSqliteStore({ directory: folder, sync: 'full', mode: 'direct' })
    const sealHeads = () => store.sealHeads(sealHeadBytes)
    const box = await openSecretBox({ directory: folder, secretKey: undefined, sealHeads })
    const sealed = box.seal('secret', 'x')
    await store.setVariable({ workspaceId, name: 'NAME', sealed, plain: false, at: 1 })
    await store.close()
    return join(folder, 'millrace.key')
  }

  test('and reports a valid key as ok', async () => {
    using folder = temporaryFolder()
    const path = await withSecret(folder.path)
    const { code, of } = await diagnose(folder.path)
    expect(code).toBe(0)
    expect(of('key')).toEqual({ check: 'key', state: 'ok', message: expect.stringContaining(path) })
  })

  test.each([
    ['missing', (path: string) => rmSync(path), 'is missing'],
    [
      'different',
      (path: string) => writeFileSync(path, `${Buffer.alloc(32, 7).toString('base64')}\n`),
      'a different key',
    ],
    ['damaged', (path: string) => writeFileSync(path, 'nothing'), 'is damaged'],
  ])('and reports a key file that is %s', async (_, change, message) => {
    using folder = temporaryFolder()
    change(await withSecret(folder.path))
    const { code, of } = await diagnose(folder.path)
    expect(code).toBe(1)
    expect(of('key')).toMatchObject({
      state: 'broken',
      message: expect.stringContaining(message),
      advice: expect.stringContaining('backup'),
    })
  })

  test('and reports a key file that others may read', async () => {
    using folder = temporaryFolder()
    const path = await withSecret(folder.path)
    chmodSync(path, 0o644)
    expect((await diagnose(folder.path)).of('key')).toMatchObject({ state: 'warning', advice: `chmod 600 ${path}` })
  })
})

describe('a database of an earlier version', () => {
  test('has its webhook deliveries counted', async () => {
    using folder = temporaryFolder()
    const now = Date.now()
    await withDeliveries(folder.path, now, { due: [now + 60_000, now - 60_000] })
    const database = new Database(join(folder.path, 'millrace.db'))
    for (const table of ['owing_runs', 'audiences', 'audience_members']) database.run(`DROP TABLE ${table}`)
    database.run('PRAGMA user_version = 1')
    database.close()
    expect(await reportedWebhooks(folder.path)).toEqual([
      ['ok', '1 webhook subscription; 2 deliveries pending, none failed in a day.'],
    ])
  })

  test('has its keys examined', async () => {
    using folder = temporaryFolder()
    const { workspaceId } = await json<Made>(folder.path, 'init')
    const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
    const sealHeads = () => store.sealHeads(sealHeadBytes)
    const box = await openSecretBox({ directory: folder.path, secretKey: undefined, sealHeads })
    await store.setVariable({ workspaceId, name: 'A', sealed: box.seal('value', 'x'), plain: false, at: 1 })
    await store.close()
    const database = new Database(join(folder.path, 'millrace.db'))
    for (const name of ['workflows', 'deployments', 'drafts']) database.run(`DROP INDEX ${name}_sealed`)
    database.run('DROP TABLE pins')
    database.run('PRAGMA user_version = 3')
    database.close()
    const known = await diagnose(folder.path)
    expect(known.of('key')).toMatchObject({ state: 'ok', message: expect.stringContaining('can be decrypted') })
    expect(known.found.filter(({ state }) => state === 'broken')).toEqual([])

    writeFileSync(join(folder.path, 'millrace.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`)
    expect((await diagnose(folder.path)).of('key')).toMatchObject({
      state: 'broken',
      message: expect.stringContaining('encrypted with a different key'),
    })
  })
})
