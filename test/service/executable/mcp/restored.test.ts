import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import '../../../support/built.ts'
import { millrace, temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { callTool, resultOfTool } from '../../../support/mcp-client.ts'
import { consent, DesktopClient } from '../../../support/mcp-oauth-client.ts'
import { serve } from '../../../support/running-service.ts'

const draft = document({
  blocks: [
    block('start', 'api_trigger', { inputFormat: [{ name: 'who', type: 'string' }] }),
    block('greet', 'function', { code: 'return `Hello, ${<start.who>}.`' }),
  ],
  edges: ['start > greet'],
})
const greets = { name: 'Greets', input: { who: 'Ada' }, expect: { output: { result: 'Hello, Ada.' } } }

test('a restored backup has the sign-ins of MCP clients and the tests of workflows as they were', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const service = await serve(data)
  const { url } = service
  const connected = async (provider: DesktopClient) => {
    const client = new Client({ name: 'Desk', version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider })
    await client.connect(transport as Parameters<Client['connect']>[0])
    return client
  }
  const link = /http:\/\/\S+\/sign-in\?token=\S+/.exec(service.output())?.[0] ?? ''
  const cookie = (await fetch(link, { redirect: 'manual' })).headers.get('set-cookie')?.split(';')[0] ?? ''
  const me = await fetch(`${url}/api/editor/me`, { headers: { cookie } })
  const { workspaces } = (await me.json()) as { workspaces: { id: string }[] }
  const signIn = async () => {
    const provider = new DesktopClient()
    await connected(provider).catch(() => undefined)
    const back = await consent(url, cookie, provider.opened!, workspaces[0]?.id)
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider })
    await transport.finishAuth(back.searchParams.get('code') ?? '')
    return { provider, client: await connected(provider) }
  }
  const [steady, refreshed] = [await signIn(), await signIn()]
  const { workflowId } = await resultOfTool<{ workflowId: string }>(steady.client, 'create_workflow', {
    ...{ name: 'Greeting', document: draft },
  })
  await resultOfTool(steady.client, 'set_tests', { workflowId, tests: [greets] })
  const file = join(folder.path, 'backup.tar')
  expect((await millrace(['backup', file, '--data', data])).code).toBe(0)

  // After the backup, one client gets new tokens, and the tests are removed.
  const expired = (provider: DesktopClient) => ({ ...provider.kept!, access_token: `mra_${'x'.repeat(54)}` })
  refreshed.provider.kept = expired(refreshed.provider)
  await resultOfTool(refreshed.client, 'set_tests', { workflowId, remove: ['Greets'] })
  await service.kill('SIGKILL')
  await Promise.all([steady.client.close(), refreshed.client.close()])

  const restored = join(folder.path, 'restored')
  expect((await millrace(['restore', file, '--data', restored])).code).toBe(0)
  const again = await serve(restored, { MILLRACE_PORT: new URL(url).port })
  const client = await connected(steady.provider)
  expect(await resultOfTool(client, 'run_tests', { workflowId })).toMatchObject({ passed: 1, failed: 0 })
  const before = steady.provider.kept?.refresh_token
  steady.provider.kept = expired(steady.provider)
  expect((await callTool(client, 'list_workflows')).isError).toBeUndefined()
  expect(steady.provider.kept.refresh_token).not.toBe(before)
  await client.close()

  // The tokens of the other client are newer than the backup, so it signs in again.
  expect(await connected(refreshed.provider).catch((error: unknown) => error)).toBeInstanceOf(UnauthorizedError)
  const once = await signIn()
  await once.client.close()
  expect(await again.kill('SIGTERM')).toBe(0)
}, 120_000)
