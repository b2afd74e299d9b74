import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import '../../../support/built.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { callTool } from '../../../support/mcp-client.ts'
import { consent, DesktopClient } from '../../../support/mcp-oauth-client.ts'
import { type Serving, serve } from '../../../support/running-service.ts'

// The official client, unmodified, knows only the address of the server and signs in to the executable.

let folder: ReturnType<typeof temporaryFolder>
let service: Serving
let cookie: string
let workspaceId: string

beforeAll(async () => {
  folder = temporaryFolder()
  service = await serve(folder.path)
  const link = /http:\/\/\S+\/sign-in\?token=\S+/.exec(service.output())?.[0] ?? ''
  const opened = await fetch(link, { redirect: 'manual' })
  cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const me = (await (await page('GET', '/api/editor/me')).json()) as { workspaces: { id: string }[] }
  workspaceId = me.workspaces[0]?.id ?? ''
}, 120_000)
afterAll(async () => {
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

const page = (method: string, path: string, body?: unknown) =>
  fetch(service.url + path, {
    method,
    headers: { cookie, origin: service.url },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

function transportOf(provider: DesktopClient, path = '/mcp'): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(service.url + path), { authProvider: provider })
}

async function connected(provider: DesktopClient, path?: string): Promise<Client> {
  const client = new Client({ name: 'Desk', version: '1.0.0' })
  await client.connect(transportOf(provider, path) as Parameters<Client['connect']>[0])
  return client
}

/** The whole sign-in: the first request is refused, the browser opens the page, and the client gets the code. */
async function signIn(provider: DesktopClient, path?: string): Promise<Client> {
  const refused = await connected(provider, path).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(UnauthorizedError)
  const back = await consent(service.url, cookie, provider.opened!, workspaceId)
  expect(back.origin + back.pathname).toBe(provider.redirectUrl)
  expect([back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual(['a state', service.url])
  await transportOf(provider, path).finishAuth(back.searchParams.get('code') ?? '')
  return await connected(provider, path)
}

async function post(path: string, form: Record<string, string>) {
  const response = await fetch(service.url + path, { method: 'POST', body: new URLSearchParams(form) })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

describe('an MCP client that knows only the address', () => {
  test('signs in, builds and runs a workflow, refreshes its tokens, and is disconnected', async () => {
    const provider = new DesktopClient()
    const client = await signIn(provider)
    const made = await callTool(client, 'create_workflow', {
      name: 'Made by Desk',
      document: document({ blocks: [block('start', 'api_trigger', { inputFormat: [] })], edges: [] }),
    })
    expect([made.isError, made.content[0]?.text]).toMatchObject([undefined, expect.stringContaining('Made by Desk')])
    const { workflowId } = made.structuredContent as { workflowId: string }
    const run = await callTool(client, 'run_draft', { workflowId })
    expect([run.isError, run.structuredContent]).toMatchObject([undefined, {}])

    const { access_token: before = '', refresh_token: refresh = '' } = provider.kept ?? {}
    const clientId = provider.client?.client_id ?? ''
    // The client refreshes by itself when a token is refused.
    provider.kept = { ...provider.kept!, access_token: `mra_${'x'.repeat(54)}` }
    expect((await callTool(client, 'list_workflows')).isError).toBeUndefined()
    expect(provider.kept.access_token).not.toBe(before)
    expect(provider.kept.refresh_token).not.toBe(refresh)

    // The token is for /mcp only.
    const token = provider.kept.access_token
    for (const headers of [{ 'x-api-key': token }, { authorization: `Bearer ${token}` }]) {
      expect((await fetch(`${service.url}/api/workflows`, { headers })).status).toBe(401)
    }

    const last = provider.kept.refresh_token ?? ''
    const { data } = (await (await page('GET', '/api/editor/applications')).json()) as { data: { id: string }[] }
    expect(data).toMatchObject([{ name: 'Desk', sentTo: 'this computer (127.0.0.1:4711)', workspaceId, role: 'owner' }])
    expect((await page('DELETE', `/api/editor/applications/${data[0]?.id}`)).status).toBe(204)
    const refused = await client.callTool({ name: 'list_workflows', arguments: {} }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(UnauthorizedError)
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: last }
    expect(await post('/oauth/token', form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    await client.close()
  }, 60_000)

  test('signs in at the address of a workspace', async () => {
    const provider = new DesktopClient('desk.example:/callback')
    const refused = await connected(provider, `/mcp/${workspaceId}`).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(UnauthorizedError)
    expect(provider.opened?.searchParams.get('resource')).toBe(`${service.url}/mcp/${workspaceId}`)
    const back = await consent(service.url, cookie, provider.opened!, workspaceId)
    expect(back.protocol).toBe('desk.example:')
    await transportOf(provider, `/mcp/${workspaceId}`).finishAuth(back.searchParams.get('code') ?? '')
    const client = await connected(provider, `/mcp/${workspaceId}`)
    expect((await callTool(client, 'list_workflows')).isError).toBeUndefined()

    const [clientId, token] = [provider.client?.client_id ?? '', provider.kept?.access_token ?? '']
    expect(await post('/oauth/revoke', { client_id: clientId, token })).toEqual({ status: 200, body: {} })
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp"`,
    )
    await client.close()
  }, 60_000)

  test('learns that the person denied access', async () => {
    const provider = new DesktopClient()
    await connected(provider).catch(() => undefined)
    const back = await consent(service.url, cookie, provider.opened!, undefined)
    expect(Object.fromEntries(back.searchParams)).toEqual({
      ...{ error: 'access_denied', state: 'a state', iss: service.url },
    })
  }, 60_000)
})

test('without sign-in, the page asks for consent only, and serves this machine only', async () => {
  using data = temporaryFolder()
  const open = await serve(data.path, { MILLRACE_NO_AUTH: 'true' })
  try {
    const provider = new DesktopClient()
    const transport = () => new StreamableHTTPClientTransport(new URL(`${open.url}/mcp`), { authProvider: provider })
    const connect = async () => {
      const client = new Client({ name: 'Desk', version: '1.0.0' })
      await client.connect(transport() as Parameters<Client['connect']>[0])
      return client
    }
    expect(await connect().catch((error: unknown) => error)).toBeInstanceOf(UnauthorizedError)
    const query = provider.opened!.search.slice(1)
    const asked = `${open.url}/api/editor/applications/consent?query=${encodeURIComponent(query)}`
    const { workspaces } = (await (await fetch(asked)).json()) as { workspaces: { id: string }[] }
    expect((await fetch(asked, { headers: { 'x-forwarded-for': '192.0.2.1' } })).status).toBe(403)
    const back = await consent(open.url, '', provider.opened!, workspaces[0]?.id)
    await transport().finishAuth(back.searchParams.get('code') ?? '')
    const client = await connect()
    expect((await callTool(client, 'list_workflows')).isError).toBeUndefined()
    await client.close()
  } finally {
    await open.kill('SIGTERM')
  }
}, 60_000)
