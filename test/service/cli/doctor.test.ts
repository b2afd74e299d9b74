import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSecretBox, sealHeadBytes } from '../../../src/accounts/secret-box.ts'
import { sequenceAt } from '../../../src/domain/ids.ts'
import { logWrite } from '../../../src/domain/run/write.ts'
import { takeLock } from '../../../src/store/lock.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import '../../support/built.ts'
import { call, diagnose, json, type Made } from '../../support/cli/folder.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { document } from '../../support/make.ts'
import { serve } from '../../support/running-service.ts'
import { newSubscription } from '../../support/store/contract/subscription-contract.ts'
import { endedAttempt } from '../../support/store/ended-attempt.ts'
import { logRow } from '../../support/store/installed.ts'

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
  test('finds no fault in a new installation', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const { code, found } = await diagnose(folder.path)
    expect(code).toBe(0)
    const checks = ['settings', 'folder', 'disk', 'service', 'database', 'key', 'clock']
    expect(found.map(({ check }) => check)).toEqual(checks)
    expect(found.filter(({ state }) => state !== 'ok')).toEqual([])
  })

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

  test.each([
    ['--trusted-proxies', 'proxy.example.com'],
    ['--model-prices', 'no-such-file.json'],
  ])('reports an invalid %s, which would prevent the start', async (flag, value) => {
    using folder = temporaryFolder()
    const { code, out } = await call(folder.path, 'doctor', flag, value)
    expect(code).toBe(1)
    expect(out).toContain(value)
    expect(out).toMatch(/^BROKEN {2}settings/m)
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

describe('doctor reports webhook deliveries', () => {
  const now = Date.now()
  const day = 86_400_000

  /**
   * An installation with one webhook subscription and its deliveries. `due` has the due times of pending deliveries,
   * `failedAt` the times of failed ones, `untried` the end times of runs with two deliveries and no attempt yet.
   */
  const withDeliveries = async (
    folder: string,
    { due = [] as number[], failedAt = [] as number[], untried = [] as number[], secret = [1] },
  ) => {
    await json<Made>(folder, 'init')
    const store = await openSqliteStore({ directory: folder, sync: 'normal', mode: 'direct' })
    const { id: workspaceId } = (await store.listWorkspaces(null))[0]!
    const { id: workflowId } = await store.createWorkflow({
      id: null,
      workspaceId,
      document: document({ name: 'Notifies', blocks: [] }),
      at: 1,
    })
    const hook = newSubscription('hook', { secret: Uint8Array.from(secret) })
    const { number: subscription } = await store.createSubscription(workflowId, hook, 1)
    const pending = { deliveries: [{ subscription, include: 0 }], skipped: [], facts: null }
    const runs = [
      ...failedAt.map((at) => ({ at, outcome: { state: 'failed', dueAt: null } as const })),
      ...due.map((dueAt) => ({ at: now, outcome: { state: 'pending', dueAt } as const })),
    ]
    for (const [index, { at, outcome }] of runs.entries()) {
      const sequence = sequenceAt(at) + index
      await store.append([logWrite(logRow({ workspaceId, workflowId }, sequence, { webhooks: pending }))])
      await store.endAttempts([endedAttempt({ sequence, subscription }, outcome)])
    }
    const twoPending = {
      ...pending,
      deliveries: [...pending.deliveries, { subscription: subscription + 1, include: 0 }],
    }
    for (const [index, endedAt] of untried.entries()) {
      const row = logRow({ workspaceId, workflowId }, sequenceAt(now) + runs.length + index, {
        endedAt,
        webhooks: twoPending,
      })
      await store.append([logWrite(row)])
    }
    await store.close()
  }
  const reported = async (folder: string) =>
    (await diagnose(folder)).found
      .filter(({ check }) => check === 'webhooks')
      .map(({ state, message }) => [state, message])

  test('as ok if they are on time', async () => {
    using folder = temporaryFolder()
    await withDeliveries(folder.path, { due: [now + 60_000, now - 60_000], failedAt: [now - 2 * day] })
    expect(await reported(folder.path)).toEqual([
      ['ok', '1 webhook subscription; 2 deliveries pending, none failed in a day.'],
    ])
  })

  test('without an attempt as due since the end of their runs', async () => {
    using folder = temporaryFolder()
    const late = now - 600_000
    await withDeliveries(folder.path, { due: [now], untried: [now, late, now] })
    const message = `7 deliveries pending; the oldest has been due since ${new Date(late).toISOString()}.`
    expect(await reported(folder.path)).toEqual([['warning', message]])
  })

  test('in a database of an earlier version too', async () => {
    using folder = temporaryFolder()
    await withDeliveries(folder.path, { due: [now + 60_000, now - 60_000] })
    const database = new Database(join(folder.path, 'millrace.db'))
    for (const table of ['owing_runs', 'audiences', 'audience_members']) database.run(`DROP TABLE ${table}`)
    database.run('PRAGMA user_version = 1')
    database.close()
    expect(await reported(folder.path)).toEqual([
      ['ok', '1 webhook subscription; 2 deliveries pending, none failed in a day.'],
    ])
  })

  test('with a separate warning for each problem', async () => {
    using folder = temporaryFolder()
    const late = now - 600_000
    await withDeliveries(folder.path, { due: [now, late], failedAt: [now - 2 * day, now - 1_000], secret: [] })
    expect(await reported(folder.path)).toEqual([
      ['warning', 'Webhook subscriptions without their secret: 1 of 1. They send no deliveries.'],
      ['warning', `2 deliveries pending; the oldest has been due since ${new Date(late).toISOString()}.`],
      ['warning', '1 delivery of the last day failed permanently.'],
    ])
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
