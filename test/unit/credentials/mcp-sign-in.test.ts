import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { isStillFor, type McpGrant } from '../../../src/credentials/oauth/mcp/grant.ts'
import { exchangeMcpCode, mcpAuthorizationUrl } from '../../../src/credentials/oauth/mcp/sign-in.ts'
import { requestToken } from '../../../src/credentials/oauth/token-request.ts'
import type { OpenCredential } from '../../../src/domain/credential/open-credential.ts'
import { McpAuthorization } from '../../support/outbound/mcp-authorization.ts'
import { outboundOf } from '../../support/outbound/peers.ts'

const redirectUri = 'https://millrace.example.com/api/oauth/callback'
const outbound = outboundOf(['loopback'])
let server: McpAuthorization

beforeEach(() => {
  server = new McpAuthorization()
})
afterEach(() => server[Symbol.asyncDispose]())

const requests = () => ({ fetch: outbound.fetch, now: 1_000_000, signal: AbortSignal.timeout(20_000) })

function credential(fields: object = {}, secrets: Record<string, string> = {}): OpenCredential {
  return {
    ...{ id: 'id', workspaceId: 'w', name: 'tracker', kind: 'mcp_oauth', hosts: [], secrets },
    ...{ state: 'untested' as const, problem: null, updatedAt: 0, tokenVersion: 0 },
    fields: { server: server.mcpUrl, ...fields },
  }
}

type Started = { page: URL; verifier: string; grant: McpGrant }

async function start(of = credential()): Promise<Started> {
  let carried: Omit<Started, 'page'> | undefined
  const state = (verifier: string, grant: McpGrant) => {
    carried = { verifier, grant }
    return 'the state'
  }
  const page = new URL(await mcpAuthorizationUrl(of, { redirectUri, state }, requests()))
  return { page, ...carried! }
}

async function finish({ verifier, grant }: Started, received: URLSearchParams, of = credential()) {
  return await exchangeMcpCode(of, grant, { received, redirectUri, state: 'the state', verifier }, requests())
}

async function signIn(of = credential()) {
  const started = await start(of)
  return await finish(started, server.agree(started.page), of)
}

const move = (from: string, to: string, document?: unknown) => {
  const moved = document ?? server.documents[from]
  delete server.documents[from]
  server.documents[to] = moved
}
const resourcePlace = '/.well-known/oauth-protected-resource'
const serverPlace = '/.well-known/oauth-authorization-server'
/** The paths that were asked for without success. */
const tried = () => server.paths().filter((path) => path.startsWith('/.well-known'))

describe('a sign-in for an MCP server', () => {
  test('registers the service, and gets a token for this server with PKCE', async () => {
    const started = await start()
    expect(Object.fromEntries(started.page.searchParams)).toMatchObject({
      ...{ response_type: 'code', redirect_uri: redirectUri, resource: server.mcpUrl, scope: 'read write' },
      ...{ code_challenge_method: 'S256', state: 'the state', client_id: started.grant.client.id },
    })
    expect(server.seen.find(({ path }) => path === '/register')?.members).toEqual({
      ...{ client_name: 'Millrace', redirect_uris: [redirectUri], response_types: ['code'] },
      grant_types: ['authorization_code', 'refresh_token'],
      ...{ token_endpoint_auth_method: 'client_secret_basic', scope: 'read write' },
    })
    const token = await finish(started, server.agree(started.page))
    expect(token).toMatchObject({ accessToken: expect.stringContaining('access-'), expiresAt: 4_600_000 })
    expect(server.seen.at(-1)).toMatchObject({
      ...{ path: '/token', authorization: expect.stringContaining('Basic ') },
      members: { resource: server.mcpUrl },
    })
    expect(token.grant?.client.secret).toStartWith('secret-')
  })

  test('sends no secret when the server registers public clients only', async () => {
    server.documents[serverPlace] = server.serverDocument({ token_endpoint_auth_methods_supported: ['none'] })
    const token = await signIn()
    expect(token.grant?.client).toEqual({ id: expect.any(String), isRegistered: true, authMethod: 'basic' })
    expect(server.seen.at(-1)).toMatchObject({
      authorization: undefined,
      members: { client_id: token.grant?.client.id },
    })
  })

  test('asks for the scopes of the credential, else of the refusal, else of the document', async () => {
    server.challenge = 'Bearer realm="x", scope="just this"'
    expect((await start(credential({ scope: 'mine' }))).page.searchParams.get('scope')).toBe('mine')
    expect((await start()).page.searchParams.get('scope')).toBe('just this')
    server.challenge = 'Bearer'
    server.documents[`${resourcePlace}/mcp`] = server.resourceDocument({ scopes_supported: undefined })
    expect((await start()).page.searchParams.has('scope')).toBe(false)
  })

  test('asks for a refresh token where that needs a scope', async () => {
    const scopes = { scopes_supported: ['openid', 'offline_access'] }
    server.documents[serverPlace] = server.serverDocument(scopes)
    const asked = Object.fromEntries((await start()).page.searchParams)
    expect(asked).toMatchObject({ scope: 'read write offline_access', prompt: 'consent' })
    const own = Object.fromEntries((await start(credential({ scope: 'mine' }))).page.searchParams)
    expect([own['scope'], own['prompt']]).toEqual(['mine', undefined])
  })

  test('refreshes at the same server, with the rotated refresh token and the registered client', async () => {
    let token = await signIn()
    for (const place of Object.keys(server.documents)) delete server.documents[place]
    for (const _ of [1, 2]) {
      const issued = await requestToken(credential(), requests(), token)
      expect(issued.refreshToken).not.toBe(token.refreshToken!)
      expect(server.seen.at(-1)).toMatchObject({ path: '/token', members: { resource: server.mcpUrl } })
      token = { ...token, accessToken: issued.accessToken, refreshToken: issued.refreshToken! }
    }
    await expect(
      requestToken(credential(), requests(), { ...token, refreshToken: 'an older one' }),
    ).rejects.toMatchObject({ code: 'CREDENTIAL_SIGN_IN', message: expect.stringContaining('invalid_grant') })
    server.forgetClients()
    await expect(requestToken(credential(), requests(), token)).rejects.toMatchObject({
      ...{ code: 'CREDENTIAL_SIGN_IN', message: expect.stringContaining('invalid_client') },
    })
  })

  test('needs a token that somebody has signed in for', async () => {
    await expect(requestToken(credential(), requests())).rejects.toMatchObject({ code: 'CREDENTIAL_SIGN_IN' })
  })
})

describe('the documents of an MCP server are found', () => {
  test('where its refusal says, before any other place', async () => {
    move(`${resourcePlace}/mcp`, '/elsewhere')
    server.challenge = `Basic realm="a", Bearer error="x", resource_metadata="${server.url}/elsewhere"`
    await start()
    expect(server.paths()).toEqual(['/mcp', '/elsewhere', serverPlace, '/register'])
  })

  test('at the origin, when there is none for the path', async () => {
    move(`${resourcePlace}/mcp`, resourcePlace, server.resourceDocument({ resource: server.url }))
    expect((await start()).grant.resource).toBe(server.url)
    expect(tried()).toEqual([`${resourcePlace}/mcp`, resourcePlace, serverPlace])
  })

  test('when only the authorization server has one, at the origin of the MCP server', async () => {
    delete server.documents[`${resourcePlace}/mcp`]
    expect((await signIn()).grant).toMatchObject({ issuer: server.url, resource: server.mcpUrl })
  })

  test.each([
    ['with the path behind the well-known part', '/.well-known/oauth-authorization-server/tenant/one'],
    ['of OpenID Connect, with the path behind', '/.well-known/openid-configuration/tenant/one'],
    ['of OpenID Connect, with the path in front', '/tenant/one/.well-known/openid-configuration'],
  ])('for an authorization server with a path: %s', async (_, place) => {
    const issuer = `${server.url}/tenant/one`
    server.documents[`${resourcePlace}/mcp`] = server.resourceDocument({ authorization_servers: [issuer] })
    move(serverPlace, place, server.serverDocument({ issuer }))
    expect((await start()).grant.issuer).toBe(issuer)
    expect(server.paths().slice(-2)).toEqual([place, '/register'])
  })
})

describe('a sign-in for an MCP server is refused', () => {
  const refused = async (of?: OpenCredential) => {
    const error = await start(of).then(
      () => undefined,
      (reason: Error & { code?: string }) => reason,
    )
    expect(error?.code).toBe('CREDENTIAL_FAILED')
    expect(server.paths()).not.toContain('/token')
    return error!.message
  }

  test('when the document is for another server', async () => {
    for (const resource of ['https://other.example/mcp', `${server.url}/other`, `${server.mcpUrl}2`, 3, undefined]) {
      server.documents[`${resourcePlace}/mcp`] = server.resourceDocument({ resource })
      expect(await refused()).toContain('not the MCP server')
    }
  })

  test('when the authorization server calls itself something else', async () => {
    for (const issuer of ['https://other.example', `${server.url}/x`, undefined]) {
      server.documents[serverPlace] = server.serverDocument({ issuer })
      expect(await refused()).toContain('not the authorization server')
    }
  })

  test('when an address is not safe to open or to send a secret to', async () => {
    for (const name of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint']) {
      for (const address of ['http://evil.example/x', 'javascript:alert(1)', 'x']) {
        server.documents[serverPlace] = server.serverDocument({ [name]: address })
        expect(await refused()).toMatch(/must be called over https|has no valid/)
      }
    }
    server.documents[`${resourcePlace}/mcp`] = server.resourceDocument({
      authorization_servers: ['http://as.example'],
    })
    expect(await refused()).toContain('http://as.example must be called over https')
  })

  test('when the server knows PKCE only without a hash, or no PKCE', async () => {
    for (const methods of [['plain'], [], 'S256']) {
      server.documents[serverPlace] = server.serverDocument({ code_challenge_methods_supported: methods })
      expect(await refused()).toContain('PKCE')
    }
  })

  test('when nothing says where people sign in', async () => {
    for (const place of Object.keys(server.documents)) delete server.documents[place]
    expect(await refused()).toContain('does not say where people sign in')
  })

  test('when the server registers nobody, with what to do about it', async () => {
    server.documents[serverPlace] = server.serverDocument({ registration_endpoint: undefined })
    expect(await refused()).toContain(`Create a client there with the redirect URL ${redirectUri}`)
  })

  test('when the registration fails', async () => {
    const error = { error: 'invalid_client_metadata', error_description: 'no such scope' }
    server.registered = () => Response.json(error, { status: 400 })
    expect(await refused()).toContain('invalid_client_metadata: no such scope')
    server.registered = () => new Response('<html>', { status: 403 })
    expect(await refused()).toContain('status 403')
    for (const members of [{}, { client_id: 7 }, { client_id: 'x'.repeat(2_000) }, { client_id: 'a\nb' }]) {
      server.registered = () => Response.json(members, { status: 201 })
      expect(await refused()).toContain('without a valid client ID')
    }
  })

  test('when a document has a text that is too long for a URL', async () => {
    const long = 'x'.repeat(2_000)
    server.documents[serverPlace] = server.serverDocument({ token_endpoint: `${server.url}/${long}` })
    expect(await refused()).toContain('has no valid token_endpoint')
    server.documents[`${resourcePlace}/mcp`] = server.resourceDocument({
      resource: `${server.url}/${'\n'.repeat(2_000)}`,
    })
    expect(await refused()).toContain('not the MCP server')
    server.documents[`${resourcePlace}/mcp`] = server.resourceDocument({
      scopes_supported: Array.from({ length: 50 }, () => 'y'.repeat(500)),
    })
    server.documents[serverPlace] = server.serverDocument()
    expect(await refused()).toContain('too many scopes')
  })

  test('when the MCP server does not use the authorization server of the credential', async () => {
    expect(await refused(credential({ issuer: 'https://mine.example' }))).toContain('does not use')
    expect(server.paths()).not.toContain('/register')
  })

  test('when another authorization server sends the person back', async () => {
    const started = await start()
    const received = server.agree(started.page)
    received.set('iss', 'https://other.example')
    await expect(finish(started, received)).rejects.toMatchObject({ message: expect.stringContaining('iss') })
    received.delete('iss')
    await expect(finish(started, received)).rejects.toMatchObject({ message: expect.stringContaining('iss') })
    expect(server.paths()).not.toContain('/token')
  })
})

describe('a client that somebody has created', () => {
  const mine = () => credential({ clientId: 'mine', issuer: server.url }, { clientSecret: 'my secret' })

  test('is used in place of a registration, and its secret is not kept with the token', async () => {
    server.addClient('mine', 'my secret')
    server.documents[serverPlace] = server.serverDocument({ registration_endpoint: undefined })
    const token = await signIn(mine())
    expect(server.paths()).not.toContain('/register')
    expect(JSON.stringify(token)).not.toContain('my secret')
    expect((await requestToken(mine(), requests(), token)).accessToken).toStartWith('access-')
    server.forgetClients()
    const message = expect.stringContaining('invalid_client')
    await expect(requestToken(mine(), requests(), token)).rejects.toMatchObject({ code: 'CREDENTIAL_FAILED', message })
  })

  test('makes a token useless for a credential that names another server, client or issuer', async () => {
    server.addClient('mine', 'my secret')
    const { grant } = await signIn(mine())
    expect(isStillFor(mine(), grant!)).toBe(true)
    const changes = [
      { server: 'https://other.example/mcp' },
      { clientId: 'other' },
      { issuer: 'https://other.example' },
    ]
    for (const change of changes) {
      expect(isStillFor(credential({ clientId: 'mine', issuer: server.url, ...change }), grant!)).toBe(false)
    }
    expect(isStillFor(credential(), grant!)).toBe(false)
  })
})
