import { expect, test } from 'bun:test'
import { agreeAt, startRealProvider } from '../../../support/outbound/real-provider.ts'
import { ExecutionWorld } from '../execution-world.ts'

test('a person signs in at a real OpenID provider, and the token is refreshed there', async () => {
  const world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  const callback = `${world.url}/api/oauth/callback`
  const provider = await startRealProvider(callback, 2)
  try {
    const credentials = `/api/workspaces/${world.workspaceId}/credentials`
    const browser = await world.signIn()
    const fields = {
      issuer: provider.issuer,
      clientId: 'millrace',
      scope: 'openid offline_access',
      refreshStatuses: '401',
    }
    const written = { name: 'oidc', kind: 'oauth2_authorization_code', hosts: [new URL(provider.issuer).host], fields }
    const parameters = { prompt: 'consent' }
    const body = { ...written, fields: { ...fields, parameters }, secrets: { clientSecret: 'secret-of-the-client' } }
    expect((await world.call(credentials, { body })).status).toBe(201)
    const started = await world.call(`${credentials}/oidc/sign-in`, { key: null, headers: browser, body: {} })
    expect(started.status).toBe(200)
    const back = await agreeAt(started.json.url, callback)
    const headers = { cookie: browser['cookie']!, 'sec-fetch-site': 'cross-site' }
    const finished = await fetch(back, { headers, redirect: 'manual' })
    expect([finished.status, await finished.text()]).toEqual([303, ''])
    expect((await world.call(`${credentials}/oidc`)).json).toMatchObject({ state: 'ok', problem: null })
    // The provider's own user information needs a valid token. Each one is valid for two seconds.
    for (let use = 0; use < 3; use += 1) {
      if (use > 0) await Bun.sleep(2_100)
      const used = await world.call(`${credentials}/oidc/test`, { body: { url: `${provider.issuer}/me` } })
      expect(used.json).toEqual({ ok: true, status: 200 })
    }
  } finally {
    await provider.stop()
    await world.close()
  }
}, 60_000)
