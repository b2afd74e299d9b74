import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { ProtectedMcpServer } from '../../support/mcp-protected-server.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node } from '../../support/ui/editor-page.ts'
import { faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
let server: ProtectedMcpServer
beforeAll(async () => {
  server = await ProtectedMcpServer.start()
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
}, 120_000)
afterAll(async () => {
  await visited.close()
  await server[Symbol.asyncDispose]()
})

test('a person creates a credential for an MCP server in its block, signs in, and sees the tools', async () => {
  const { page, serving, apiKey } = visited
  const made = document({
    name: 'Tools',
    blocks: [
      block('start', 'api_trigger', {}, { position: { x: 0, y: 0 } }),
      block('call', 'mcp', { server: server.url, tool: '' }, { position: { x: 300, y: 0 } }),
    ],
    edges: ['start > call'],
  })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  await page.goto(`${serving.url}/workflows/${(body as { id: string }).id}`)
  await node(page, 'call').click()
  const form = page.getByRole('complementary', { name: 'Block call' })
  await form.getByText('create a credential of the kind "MCP server: sign in"').waitFor()
  await form.getByRole('button', { name: 'New', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'New credential' })
  await dialog.getByLabel('Name', { exact: true }).fill('tracker')
  expect(await dialog.getByLabel('Kind').inputValue()).toBe('mcp_oauth')
  expect(await dialog.getByLabel('Server', { exact: true }).inputValue()).toBe(server.url)
  expect(await faultsInBothThemes(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Create credential' }).click()
  const signIn = page.getByRole('dialog', { name: 'Sign in with tracker' })
  await signIn.waitFor()
  expect(await signIn.getByText('Redirect URL').count()).toBe(0)
  expect(await faultsInBothThemes(page)).toEqual([])
  // The authorization server sends the browser back at once.
  await signIn.getByRole('button', { name: 'Go to the provider' }).click()
  await page.getByText('You are signed in with tracker.').waitFor()
  expect(page.url()).not.toContain('signed-in')
  await node(page, 'call').click()
  await form.getByRole('combobox', { name: 'Tool', exact: true }).selectOption('add')
  await form.getByText('Adds two numbers').waitFor()
}, 120_000)
