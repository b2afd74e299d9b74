import { describe, expect, test } from 'bun:test'
import { isKeyShaped } from '../../../src/accounts/keys.ts'
import { createInstallation } from '../../../src/cli/installation/installation.ts'
import { call, findKey, json, type Made, withStore } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'

type ListedKey = { id: string; name: string; lastFour: string; state: string; workspaceId: string | null }

describe('init', () => {
  test('creates an owner, a workspace and a working key', async () => {
    using folder = temporaryFolder()
    const { userId, workspaceId, apiKey } = await json<Made>(folder.path, 'init')
    expect(isKeyShaped(apiKey)).toBe(true)
    expect(await findKey(folder.path, apiKey)).toMatchObject({
      ...{ userId, revokedAt: null, roles: { [workspaceId]: 'owner' } },
    })
  })

  test('creates another key if it was killed before it showed the first one', async () => {
    using folder = temporaryFolder()
    const cut = (await withStore(folder.path, (store) => createInstallation(store, Date.now())))!
    const { apiKey, userId } = await json<Made>(folder.path, 'init')
    expect(userId).toBe(cut.userId)
    expect(await findKey(folder.path, apiKey)).toMatchObject({ userId })
    expect(await findKey(folder.path, cut.apiKey)).toBeUndefined()
    expect((await call(folder.path, 'init')).code).toBe(1)
  })

  test('does not change an existing installation', async () => {
    using folder = temporaryFolder()
    const { apiKey } = await json<Made>(folder.path, 'init')
    const again = await call(folder.path, 'init', '--json')
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.words).toContain('already contains an installation')
    expect(await findKey(folder.path, apiKey)).toBeDefined()
    expect(await json<ListedKey[]>(folder.path, 'keys', 'list')).toHaveLength(1)
  })
})

describe('keys', () => {
  test('are created, listed without their text, and revoked permanently', async () => {
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

  test('can have an expiry date', async () => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const create = (date: string) =>
      json<{ apiKey: string }>(folder.path, 'keys', 'create', '--name', 'x', '--expires', date)
    expect((await findKey(folder.path, (await create('2999-01-31')).apiKey))?.expiresAt).toBe(Date.UTC(2999, 0, 31))
    const withOffset = await create('2999-01-31T12:00:00+02:00')
    expect((await findKey(folder.path, withOffset.apiKey))?.expiresAt).toBe(Date.UTC(2999, 0, 31, 10))
  })

  test.each([
    [['--name', ' '], 2, 'A key needs a name'],
    [['--name', 'x', '--expires', '2999-02-31'], 2, '--expires is "2999-02-31"'],
    [['--name', 'x', '--expires', 'tomorrow'], 2, '--expires is "tomorrow"'],
    [['--name', 'x', '--expires', '2001-01-01'], 2, 'which is in the past'],
    [['--name', 'x', '--workspace', 'nowhere'], 1, 'This account is not a member of a workspace nowhere'],
    [['--name', 'x', '--user', 'nobody'], 1, 'Unknown account nobody'],
    [['--name', 'x', '--user', 'nobody@example.com'], 1, 'Unknown account nobody@example.com'],
  ])('create %j is rejected', async (words, code, message) => {
    using folder = temporaryFolder()
    await json<Made>(folder.path, 'init')
    const refused = await call(folder.path, 'keys', 'create', ...words)
    expect(refused).toMatchObject({ code, out: '' })
    expect(refused.words).toContain(message)
    expect(await json<ListedKey[]>(folder.path, 'keys', 'list')).toHaveLength(1)
  })
})
