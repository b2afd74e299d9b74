import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { OAuthGrants } from '../../../src/accounts/oauth/grants.ts'
import { isRegistered } from '../../../src/accounts/oauth/redirect-uri.ts'
import { challengeOf, OAuthTokens } from '../../../src/accounts/oauth/tokens.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { type Installed, install } from '../../support/store/installed.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

const redirectUri = 'https://desk.example/'
const verifier = 'v'.repeat(43)
const key = (n: number) => new Uint8Array(32).fill(n)

let folder: ReturnType<typeof temporaryFolder>
let store: Store
let home: Installed
let clock: ManualClock
let keys: Uint8Array[]
let tokens: OAuthTokens
let grants: OAuthGrants
let clientId: string

beforeEach(async () => {
  folder = temporaryFolder()
  store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
  home = await install(store)
  clock = new ManualClock()
  keys = [key(1)]
  tokens = new OAuthTokens(() => keys)
  grants = new OAuthGrants({ store, tokens, clock, used: () => undefined })
  clientId = (await grants.register({ name: 'Desk', redirectUris: [redirectUri] })).id
})
afterEach(async () => {
  await store.close()
  folder[Symbol.dispose]()
})

async function code(): Promise<string> {
  return await grants.grant({
    ...{ client: await grants.findClient(clientId, redirectUri), redirectUri, resource: 'https://m.example/mcp' },
    ...{ challenge: challengeOf(verifier)!, userId: home.userId, workspaceId: home.workspaceId },
  })
}
const exchange = async (code: string) =>
  await grants.exchange({ clientId, resource: undefined, code, verifier, redirectUri })
const refresh = async (refreshToken: string) => await grants.exchange({ clientId, resource: undefined, refreshToken })
const minute = 60_000
const day = 86_400_000

describe('time', () => {
  test('ends a code after a minute', async () => {
    const [early, late] = [await code(), await code()]
    clock.advance(minute - 1)
    expect((await exchange(early)).expiresInS).toBe(3_600)
    clock.advance(1)
    expect(await rejectionOf(exchange(late))).toMatchObject({ code: 'invalid_grant' })
  })

  test('ends an access token after an hour, and a sign-in 60 days after its last refresh', async () => {
    const first = await exchange(await code())
    clock.advance(60 * minute - 1)
    expect(await grants.find(first.accessToken)).toMatchObject({ userId: home.userId, workspaceId: home.workspaceId })
    clock.advance(1)
    expect(await grants.find(first.accessToken)).toBeUndefined()
    clock.advance(59 * day)
    const second = await refresh(first.refreshToken)
    clock.advance(60 * day - 1)
    const third = await refresh(second.refreshToken)
    clock.advance(60 * day)
    expect(await rejectionOf(refresh(third.refreshToken))).toMatchObject({ code: 'invalid_grant' })
  })

  test('turns a second use of a refresh token from a repetition into a theft', async () => {
    const first = await exchange(await code())
    const second = await refresh(first.refreshToken)
    clock.advance(9_999)
    expect(await refresh(first.refreshToken)).toEqual({ ...second, expiresInS: 3_590 })
    clock.advance(1)
    expect(await rejectionOf(refresh(first.refreshToken))).toMatchObject({ code: 'invalid_grant' })
    expect(await grants.find(second.accessToken)).toBeUndefined()
    expect(await rejectionOf(refresh(second.refreshToken))).toMatchObject({ code: 'invalid_grant' })
  })

  test('ends a key for calls of the installation to itself after a minute', async () => {
    const { accessToken } = await exchange(await code())
    const own = grants.ownKey((await grants.find(accessToken))!.id)
    clock.advance(minute)
    expect(await grants.lookUpOwn(own)).toMatchObject({ roles: { [home.workspaceId]: 'owner' } })
    clock.advance(1)
    expect(await grants.lookUpOwn(own)).toBeUndefined()
  })
})

test('tokens outlive a change of the key, and only tokens of this installation are genuine', async () => {
  const first = await exchange(await code())
  keys = [key(2), key(1)]
  expect(grants.isGenuine(first.accessToken)).toBe(true)
  const second = await refresh(first.refreshToken)
  keys = [key(2)]
  expect([grants.isGenuine(first.accessToken), grants.isGenuine(second.accessToken)]).toEqual([false, true])
  expect(await grants.find(second.accessToken)).toBeDefined()
  const last = second.accessToken.at(-1) === 'A' ? 'B' : 'A'
  expect(grants.isGenuine(second.accessToken.slice(0, -1) + last)).toBe(false)
})

test('only the port of a loopback address may differ from the registered one', () => {
  const cases: [registered: string, uri: string, may: boolean][] = [
    ['http://127.0.0.1/cb', 'http://127.0.0.1:4711/cb', true],
    ['http://127.0.0.1:1/cb', 'http://127.0.0.1/cb', true],
    ['http://[::1]/cb', 'http://[::1]:4711/cb', true],
    ['http://localhost/cb', 'http://127.0.0.1/cb', false],
    ['http://127.0.0.1/cb', 'https://127.0.0.1/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1/cb/', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:1/cb#x', false],
    ['http://127.0.0.1/cb', 'http://me@127.0.0.1/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1.example/cb', false],
    ['https://desk.example/cb', 'https://desk.example:444/cb', false],
    ['https://desk.example/cb', 'https://desk.example/CB', false],
    ['desk:/cb', 'desk:/cb', true],
    ['desk:/cb', 'desk:/cb?x', false],
  ]
  for (const [registered, uri, may] of cases) expect([uri, isRegistered([registered], uri)]).toEqual([uri, may])
})
