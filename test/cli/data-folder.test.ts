import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isKeyShaped } from '../../src/accounts/keys.ts'
import { takeLock } from '../../src/store/lock.ts'
import { temporaryFolder } from '../executable.ts'
import { call, findKey, json, type Made } from './folder.ts'

type ListedKey = { id: string; name: string; lastFour: string; state: string; workspaceId: string | null }

describe('init', () => {
  test('makes an owner, a workspace and a key that works, in a folder for nobody else', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'new', 'data')
    const { userId, workspaceId, apiKey } = await json<Made>(path, 'init')
    expect(isKeyShaped(apiKey)).toBe(true)
    expect(await findKey(path, apiKey)).toMatchObject({ userId, revokedAt: null, roles: { [workspaceId]: 'owner' } })
    expect(statSync(path).mode & 0o777).toBe(0o700)
    for (const file of readdirSync(path)) expect(readFileSync(join(path, file)).includes(apiKey)).toBe(false)
  })

  test('leaves an installation that is there alone', async () => {
    using folder = temporaryFolder()
    const { apiKey } = await json<Made>(folder.path, 'init')
    const again = await call(folder.path, 'init', '--json')
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.words).toContain('holds an installation already')
    expect(await findKey(folder.path, apiKey)).toBeDefined()
    expect(await json<ListedKey[]>(folder.path, 'keys', 'list')).toHaveLength(1)
  })
})

describe('keys', () => {
  test('are made, listed without their text, and revoked for good', async () => {
    using folder = temporaryFolder()
    const { path } = folder
    const { workspaceId, userId } = await json<Made>(path, 'init')
    const made = await json<{ id: string; apiKey: string }>(
      path,
      'keys',
      'create',
      '--name',
      'ci',
      '--workspace',
      workspaceId,
    )
    expect(await findKey(path, made.apiKey)).toMatchObject({ id: made.id, name: 'ci', userId, workspaceId })
    const listed = await call(path, 'keys', 'list', '--json')
    expect(listed.out).not.toContain(made.apiKey)
    const row = (JSON.parse(listed.out) as ListedKey[]).find(({ id }) => id === made.id)
    expect(row).toMatchObject({ name: 'ci', lastFour: made.apiKey.slice(-4), state: 'valid', workspaceId })

    expect((await call(path, 'keys', 'revoke', made.id)).code).toBe(0)
    expect((await findKey(path, made.apiKey))?.revokedAt).toBeNumber()
    expect((await call(path, 'keys', 'revoke', made.id)).code).toBe(1)
    expect((await call(path, 'keys', 'list')).out).toMatch(/revoked +ci/)
  })

  test('may end at a date', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const create = (date: string) =>
      json<{ apiKey: string }>(folder.path, 'keys', 'create', '--name', 'x', '--expires', date)
    expect((await findKey(folder.path, (await create('2999-01-31')).apiKey))?.expiresAt).toBe(Date.UTC(2999, 0, 31))
    const zoned = await create('2999-01-31T12:00:00+02:00')
    expect((await findKey(folder.path, zoned.apiKey))?.expiresAt).toBe(Date.UTC(2999, 0, 31, 10))
  })

  test.each([
    [['--name', ' '], 2, 'A key needs a name'],
    [['--name', 'x', '--expires', '2999-02-31'], 2, '--expires is "2999-02-31"'],
    [['--name', 'x', '--expires', 'tomorrow'], 2, '--expires is "tomorrow"'],
    [['--name', 'x', '--expires', '2001-01-01'], 2, 'which has passed'],
    [['--name', 'x', '--workspace', 'nowhere'], 1, 'There is no workspace nowhere'],
    [['--name', 'x', '--user', 'nobody'], 1, 'There is no account nobody'],
    [['--name', 'x', '--user', 'nobody@example.com'], 1, 'There is no account nobody@example.com'],
  ])('create %j is refused', async (words, code, message) => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const refused = await call(folder.path, 'keys', 'create', ...words)
    expect(refused).toMatchObject({ code, out: '' })
    expect(refused.words).toContain(message)
    expect(await json<ListedKey[]>(folder.path, 'keys', 'list')).toHaveLength(1)
  })
})

test('commands on a folder without an installation say so and make none', async () => {
  using folder = temporaryFolder()
  for (const words of [
    ['keys', 'list'],
    ['keys', 'create', '--name', 'x'],
    ['workspaces', 'list'],
    ['workspaces', 'create', '--name', 'x'],
    ['workspaces', 'share', 'x', 'y', '--role', 'viewer'],
    ['users', 'list'],
    ['users', 'create', 'a@example.com'],
    ['users', 'password', 'a@example.com'],
    ['users', 'plan', 'a@example.com', 'pro'],
  ]) {
    const { code, words: said } = await call(join(folder.path, 'none'), ...words)
    expect(code).toBe(1)
    expect(said).toContain('There is no installation in')
    expect(said).toContain('millrace init --data')
  }
  expect(existsSync(join(folder.path, 'none'))).toBe(false)
})

describe('doctor', () => {
  type Diagnosis = { check: string; state: string; message: string; advice?: string }
  const diagnose = async (folder: string) => {
    const { code, out } = await call(folder, 'doctor', '--json')
    const found = JSON.parse(out) as Diagnosis[]
    return { code, found, of: (check: string) => found.find((one) => one.check === check) }
  }

  test('finds a new installation in order', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const { code, found } = await diagnose(folder.path)
    expect(code).toBe(0)
    expect(found.map(({ check }) => check)).toEqual(['settings', 'folder', 'disk', 'service', 'database', 'clock'])
    expect(found.filter(({ state }) => state !== 'ok')).toEqual([])
  })

  test('says which process serves from the folder', async () => {
    using folder = temporaryFolder()
    const lock = takeLock(folder.path)
    expect((await diagnose(folder.path)).of('service')?.message).toContain(`process ${process.pid}`)
    lock.release()
    expect((await diagnose(folder.path)).of('service')?.message).toBe('No service runs on the folder.')
  })

  test('finds a damaged database, says what to do, and exits with 1', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const database = join(folder.path, 'millrace.db')
    const bytes = readFileSync(database)
    bytes.fill(0xff, 4096, bytes.length - 4096)
    writeFileSync(database, bytes)
    const { code, of } = await diagnose(folder.path)
    expect(code).toBe(1)
    expect(of('database')).toMatchObject({ state: 'broken', advice: expect.stringContaining('backup') })
  })

  test('tells a wrong address rule and an open folder', async () => {
    using folder = temporaryFolder()
    mkdirSync(join(folder.path, 'open'))
    chmodSync(join(folder.path, 'open'), 0o755)
    expect((await diagnose(join(folder.path, 'open'))).of('folder')).toMatchObject({ state: 'warning' })
    const { code, out } = await call(folder.path, 'doctor', '--outbound-allow', '10.0.0.0/99')
    expect(code).toBe(1)
    expect(out).toMatch(/BROKEN {2}settings .*10\.0\.0\.0\/99/)
  })
})
