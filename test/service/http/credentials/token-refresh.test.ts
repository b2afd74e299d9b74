import { afterEach, beforeEach, expect, test } from 'bun:test'
import { openSecretBox } from '../../../../src/accounts/secret-box.ts'
import { Tokens } from '../../../../src/credentials/oauth/tokens.ts'
import { systemClock } from '../../../../src/domain/clock.ts'
import type { OpenCredential } from '../../../../src/domain/credential/open-credential.ts'
import { newId } from '../../../../src/domain/ids.ts'
import type { Store } from '../../../../src/store/store.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { outboundOf } from '../../../support/outbound/peers.ts'
import { TokenServer } from '../../../support/outbound/token-server.ts'
import { newCredential } from '../../../support/store/contract/credential-contract.ts'
import { install } from '../../../support/store/installed.ts'
import { openStoreOf, secretKey } from '../../../support/store/test-store.ts'

let folder: ReturnType<typeof temporaryFolder>
let store: Store
let server: TokenServer
let credential: OpenCredential
let aheadMs: number
let makeTokens: (owner?: Store) => Tokens

/** The clock of the machine, ahead by a time that tests choose. */
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }

beforeEach(async () => {
  folder = temporaryFolder()
  store = await openStoreOf(folder.path)
  server = new TokenServer()
  aheadMs = 0
  const home = await install(store)
  const key = { directory: folder.path, secretKey, sealHeads: () => store.sealHeads(5) }
  const box = await openSecretBox(key)
  const fields = { tokenUrl: `${server.url}/token`, clientId: 'client' }
  const row = newCredential(home, 'crm', { kind: 'oauth2_client_credentials', hosts: [server.host], fields })
  const created = await store.createCredential(row)
  credential = { ...created, secrets: { clientSecret: 'secret-1234' } }
  const { fetch } = outboundOf(['loopback'])
  makeTokens = () =>
    new Tokens({ store, box, fetch, hide: () => {}, owner: newId(), redact: async (_, text) => text, clock })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await store.close()
  folder[Symbol.dispose]()
})

const stored = () => store.getCredential(credential.workspaceId, 'crm')

test('a token is refreshed once for each time it is about to expire, however many requests need it', async () => {
  const processes = [makeTokens(), makeTokens(), makeTokens()]
  for (let refreshes = 1; refreshes <= 20; refreshes += 1) {
    const asked = Array.from({ length: 48 }, (_, index) => processes[index % 3]!.tokenOf(credential))
    expect(new Set(await Promise.all(asked))).toEqual(new Set([`token-number-${refreshes}`]))
    expect(server.issued).toBe(refreshes)
    // Five minutes before its end, another one is needed.
    aheadMs += (3_600 - 300) * 1_000
  }
}, 30_000)

test('a refused token is replaced once, however many requests were refused', async () => {
  const processes = [makeTokens(), makeTokens()]
  const first = await processes[0]!.tokenOf(credential)
  expect(await processes[1]!.tokenOf(credential)).toBe(first)
  const outcomes = Array.from({ length: 20 }, (_, index) => processes[index % 2]!.refused(credential, first))
  expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => true))
  expect(server.issued).toBe(2)
})

test('a later start uses the stored token, which is sealed', async () => {
  const token = await makeTokens().tokenOf(credential)
  const { token: sealed, state, expiresAt } = (await stored())!
  expect(Buffer.from(sealed!).includes(token)).toBe(false)
  expect({ state, isLater: expiresAt! > clock.now() }).toEqual({ state: 'ok', isLater: true })
  expect(await makeTokens().tokenOf(credential)).toBe(token)
  expect(server.issued).toBe(1)
})

test('a process that was killed while it asked for a token delays the others until its lease ends', async () => {
  await store.takeCredentialLease(credential.id, 'a process that is gone', clock.now(), clock.now() + 300)
  expect(await makeTokens().tokenOf(credential)).toBe('token-number-1')
})

test('a token of former settings is not stored over a change', async () => {
  const gate = Promise.withResolvers<void>()
  server.gate = gate.promise
  const asked = makeTokens().tokenOf(credential)
  while (server.requests.length === 0) await Bun.sleep(5)
  const { name, kind, hosts, fields, sealed, updatedBy } = (await stored())!
  const change = { name, kind, hosts, fields, sealed, at: 99, by: updatedBy, keepsToken: false }
  await store.updateCredential(credential.id, change)
  gate.resolve()
  await asked
  expect(await stored()).toMatchObject({ token: null, state: 'untested' })
})

test('a change of the credential makes another token necessary', async () => {
  const tokens = makeTokens()
  await tokens.tokenOf(credential)
  const other = { ...credential, secrets: { clientSecret: 'secret-5678' } }
  await store.saveCredentialToken(credential.id, 'nobody', 1, {
    token: null,
    state: 'untested',
    problem: null,
    expiresAt: null,
  })
  expect(await tokens.tokenOf(other)).toBe('token-number-2')
  expect(server.requests[1]?.authorization).toBe(`Basic ${btoa('client:secret-5678')}`)
})
