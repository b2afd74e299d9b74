import { expect, test } from 'bun:test'
import { hashToken, newToken } from '../../../../src/accounts/sessions.ts'
import { HttpWorld } from '../world.ts'

test('the first password of an account is set only within 10 minutes of a sign-in', async () => {
  const world = await HttpWorld.open()
  const userId = await world.accounts.addUser()
  const signedInAt = async (createdAt: number) => {
    const [link, token] = [newToken(), newToken()]
    await world.store.createSignInToken({ hash: hashToken(link), userId, createdAt: Date.now() })
    const session = { hash: hashToken(token), createdAt, expiresAt: Date.now() + 3_600_000 }
    await world.store.redeemSignInToken(hashToken(link), 0, session)
    return { 'sec-fetch-site': 'same-origin', cookie: `millrace_session=${token}` }
  }
  const set = (headers: Record<string, string>) =>
    world.call('PUT', '/api/editor/me/password', { key: null, headers, body: { password: 'correct horse' } })
  const old = await signedInAt(Date.now() - 10 * 60_000 - 1)
  const late = await set(old)
  expect([late.status, late.json.code]).toEqual([403, 'FORBIDDEN'])
  expect(late.json.error).toContain('at most 10 minutes old. Open a new sign-in link.')
  expect(late.json.error).toContain(`millrace users link ${userId}@example.com`)
  expect((await world.get('/api/editor/me', { key: null, headers: old })).json.user.hasPassword).toBe(false)

  expect((await set(await signedInAt(Date.now() - 9 * 60_000))).status).toBe(204)
  await world.close()
}, 30_000)
