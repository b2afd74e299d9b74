import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { verifyPassword } from '../../../src/accounts/passwords.ts'
import { hashToken, linkAgeMaxMs } from '../../../src/accounts/sessions.ts'
import { call, findKey, json, type Made, withStore } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'

type ListedUser = { id: string; email: string; plan: string | null; hasPassword: boolean; createdAt: string }
type ListedWorkspace = { id: string; name: string; ownerId: string; members: { email: string; role: string }[] }

let folder: ReturnType<typeof temporaryFolder>
let path: string
let owner: Made
beforeEach(async () => {
  folder = temporaryFolder()
  path = folder.path
  owner = await json<Made>(path, 'init')
})
afterEach(() => folder[Symbol.dispose]())

const createUser = (email: string, ...more: string[]) => json<Made>(path, 'users', 'create', email, ...more)
const listUsers = () => json<ListedUser[]>(path, 'users', 'list')

describe('users', () => {
  test('are created with a workspace and a key for it, and are listed', async () => {
    const ada = await createUser('ada@example.com', '--plan', 'pro')
    expect(await findKey(path, ada.apiKey)).toMatchObject({
      userId: ada.userId,
      workspaceId: null,
      roles: { [ada.workspaceId]: 'owner' },
    })
    const numbers: object = { externalPerMinute: null, syncPerMinute: null, asyncPerMinute: null, usdPerMonth: null }
    const createdAt = expect.stringMatching(/Z$/)
    expect(await listUsers()).toEqual([
      { id: owner.userId, email: 'owner@localhost', plan: null, ...numbers, hasPassword: false, createdAt },
      { id: ada.userId, email: 'ada@example.com', plan: 'pro', ...numbers, hasPassword: false, createdAt },
    ])
    expect((await call(path, 'users', 'list')).out).toContain('ada@example.com  (tier pro, no password)')
    expect((await call(path, 'users', 'list')).out).not.toContain(ada.apiKey)
  })

  test.each([
    [['ada'], 2, '"ada" is not an e-mail address'],
    [['ada@b c'], 2, 'is not an e-mail address'],
    [
      ['OWNER@localhost'],
      1,
      'The e-mail address OWNER@localhost already belongs to another account. Choose another one.',
    ],
    [['ada@example.com', '--plan', 'gold'], 2, 'Unknown tier "gold"'],
    [[], 2, 'EMAIL is missing'],
  ])('create %j is rejected and creates nothing', async (words, code, message) => {
    const refused = await call(path, 'users', 'create', ...words)
    expect(refused).toMatchObject({ code, out: '' })
    expect(refused.words).toContain(message)
    expect(await listUsers()).toHaveLength(1)
    expect(await json<unknown[]>(path, 'workspaces', 'list')).toHaveLength(1)
  })

  test('get a tier by id or email address, and their own limits on the tier enterprise', async () => {
    const { userId } = await createUser('ada@example.com')
    const setTier = (...words: string[]) => json<object>(path, 'users', 'plan', ...words)
    const none = { externalPerMinute: null, syncPerMinute: null, asyncPerMinute: null, usdPerMonth: null }
    const own = ['--external-per-minute', '7', '--sync-per-minute', '0', '--usd-per-month', '1.5']
    expect(await setTier('ADA@example.com', 'enterprise', ...own)).toEqual({
      ...{ userId, plan: 'enterprise' },
      ...{ ...none, externalPerMinute: 7, syncPerMinute: 0, usdPerMonth: 1.5 },
    })
    expect(await withStore(path, (store) => store.findUser(userId))).toMatchObject({
      plan: 'enterprise',
      numbers: { externalPerMinute: 7, syncPerMinute: 0, usdPerMonth: 1.5 },
    })
    expect(await setTier(userId, 'team')).toEqual({ userId, plan: 'team', ...none })
    expect(await setTier(userId, 'default')).toEqual({ userId, plan: null, ...none })
    expect((await listUsers())[1]).toMatchObject({ plan: null, ...none })
  })

  test.each([
    [['nobody', 'pro'], 1, 'Unknown account nobody'],
    [['owner@localhost', 'gold'], 2, 'Unknown tier "gold"'],
    [['owner@localhost', 'pro', '--sync-per-minute', '3'], 2, 'Only an enterprise account'],
    [['owner@localhost', 'enterprise', '--sync-per-minute', '1.5'], 2, 'must be a whole number from 0'],
    [['owner@localhost', 'enterprise', '--usd-per-month', 'much'], 2, 'must be a number from 0'],
  ])('users plan %j is rejected and changes nothing', async (words, code, message) => {
    const refused = await call(path, 'users', 'plan', ...words)
    expect(refused).toMatchObject({ code, out: '' })
    expect(refused.words).toContain(message)
    expect(await listUsers()).toMatchObject([{ plan: null }])
  })
})

test('a new sign-in link for an account invalidates the previous one', async () => {
  const made = () => json<{ userId: string; url: string; expiresAt: string }>(path, 'users', 'link', 'owner@localhost')
  const first = await made()
  const second = await made()
  expect(first.userId).toBe(owner.userId)
  expect(first.url).toStartWith('http://127.0.0.1:3000/sign-in?token=')
  const redeem = ({ url }: { url: string }) =>
    withStore(path, (store) => {
      const token = hashToken(new URL(url).searchParams.get('token') ?? '')
      const at = Date.now()
      return store.redeemSignInToken(token, at - linkAgeMaxMs, { hash: token, createdAt: at, expiresAt: at + 1000 })
    })
  expect(await redeem(first)).toBeUndefined()
  expect(await redeem(second)).toBe(owner.userId)
  const named = await call(path, 'users', 'link', 'owner@localhost', '--base-url', 'https://flows.example.com/')
  expect(named.out).toStartWith('https://flows.example.com/sign-in?token=')
  expect((await call(path, 'users', 'link', 'nobody')).code).toBe(1)
})

describe('a password', () => {
  const stored = () => withStore(path, async (store) => (await store.findPassword('owner@localhost'))?.passwordHash)

  test('is read from standard input and stored only as an argon2id hash', async () => {
    const text = 'correct horse é'
    const set = await call(path, 'users', 'password', 'owner@localhost', { input: `${text}\n` })
    expect(set).toMatchObject({ code: 0, out: '' })
    const hash = (await stored()) ?? ''
    expect(hash).toStartWith('$argon2id$')
    expect(await verifyPassword(text, hash)).toBe(true)
    expect(await verifyPassword(text.normalize('NFD'), hash)).toBe(true)
    expect(await verifyPassword(`${text}\n`, hash)).toBe(false)
    expect(await listUsers()).toMatchObject([{ hasPassword: true }])
    expect((await call(path, 'users', 'password', 'owner@localhost', text)).code).toBe(2)
  })

  test.each([['short'], [''], ['x'.repeat(1_001)]])('%j is rejected', async (input) => {
    const refused = await call(path, 'users', 'password', 'owner@localhost', { input })
    expect(refused.code).toBe(2)
    expect(refused.words).toContain('A password ')
    expect(await stored()).toBeUndefined()
  })
})

describe('workspaces', () => {
  const list = (...words: string[]) => json<ListedWorkspace[]>(path, 'workspaces', 'list', ...words)

  test('are created for the owner or another account, and listed with their members', async () => {
    const ada = await createUser('ada@example.com')
    const mine = await json<{ id: string }>(path, 'workspaces', 'create', '--name', 'Sales')
    const hers = await json<{ id: string }>(path, 'workspaces', 'create', '--name', 'Lab', '--user', 'ada@example.com')
    expect((await list()).map(({ id, name, members }) => [id, name, members.map(({ email }) => email)])).toEqual([
      [owner.workspaceId, 'Default', ['owner@localhost']],
      [ada.workspaceId, 'Workspace of ada@example.com', ['ada@example.com']],
      [mine.id, 'Sales', ['owner@localhost']],
      [hers.id, 'Lab', ['ada@example.com']],
    ])
    expect((await list('--user', ada.userId)).map(({ id }) => id)).toEqual([ada.workspaceId, hers.id])
    expect(await findKey(path, ada.apiKey)).toMatchObject({
      roles: { [ada.workspaceId]: 'owner', [hers.id]: 'owner' },
    })
    expect((await call(path, 'workspaces', 'create')).code).toBe(2)
    expect((await call(path, 'workspaces', 'create', '--name', 'x', '--user', 'nobody')).code).toBe(1)
  })

  test('can be shared with a role that can change, until the sharing ends', async () => {
    const ada = await createUser('ada@example.com')
    const { workspaceId } = owner
    const role = async () => (await findKey(path, ada.apiKey))?.roles[workspaceId]
    const share = (...words: string[]) => call(path, 'workspaces', 'share', workspaceId, 'ada@example.com', ...words)
    expect((await share('--role', 'viewer')).code).toBe(0)
    expect(await role()).toBe('viewer')
    expect((await share('--role', 'editor')).words).toContain('ada@example.com is now editor of the workspace')
    expect(await role()).toBe('editor')
    expect((await list())[0]?.members).toMatchObject([
      { email: 'owner@localhost', role: 'owner' },
      { email: 'ada@example.com', role: 'editor' },
    ])
    for (const words of [['--role', 'owner'], ['--role', 'admin'], []]) expect((await share(...words)).code).toBe(2)
    expect((await call(path, 'workspaces', 'unshare', workspaceId, ada.userId)).code).toBe(0)
    expect(await role()).toBeUndefined()
    const again = await call(path, 'workspaces', 'unshare', workspaceId, ada.userId)
    expect(again).toMatchObject({ code: 1, words: expect.stringContaining('is not a member') })
  })

  test('always keep their owner', async () => {
    for (const words of [['unshare'], ['share', '--role', 'viewer']]) {
      const refused = await call(path, 'workspaces', ...words, owner.workspaceId, 'owner@localhost')
      expect(refused).toMatchObject({
        code: 1,
        words: expect.stringContaining('The role of the owner cannot be changed'),
      })
    }
    const nowhere = await call(path, 'workspaces', 'share', 'nowhere', 'owner@localhost', '--role', 'viewer')
    expect(nowhere).toMatchObject({ code: 1, words: expect.stringContaining('no workspace nowhere') })
    expect((await findKey(path, owner.apiKey))?.roles).toEqual({ [owner.workspaceId]: 'owner' })
  })

  test('of other accounts get no key', async () => {
    const ada = await createUser('ada@example.com')
    const create = ['keys', 'create', '--name', 'x', '--user', 'ada@example.com', '--workspace']
    expect(await call(path, ...create, owner.workspaceId)).toMatchObject({ code: 1, out: '' })
    const { apiKey } = await json<{ apiKey: string }>(path, ...create, ada.workspaceId)
    expect(await findKey(path, apiKey)).toMatchObject({ userId: ada.userId, workspaceId: ada.workspaceId })
  })
})

test('keys list shows when each key was last used', async () => {
  const keys = () => json<{ id: string; lastUsedAt: string | null }[]>(path, 'keys', 'list')
  expect(await keys()).toMatchObject([{ lastUsedAt: null }])
  expect((await call(path, 'keys', 'list')).out).toContain('never used')
  const at = Date.UTC(2026, 0, 2)
  const [key] = await keys()
  await withStore(path, (store) => store.recordKeyUses([{ keyId: key?.id ?? '', at }]))
  expect(await keys()).toMatchObject([{ lastUsedAt: '2026-01-02T00:00:00.000Z' }])
  expect((await call(path, 'keys', 'list')).out).toContain('last used 2026-01-02T00:00:00.000Z')
})
