import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../support/make.ts'
import { SdkServer } from '../support/mcp-server.ts'
import { call } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { node } from '../support/ui/editor-page.ts'
import { faultsInBothThemes } from './accessibility.ts'

let visited: Visit
let server: SdkServer
let workflowId: string
beforeAll(async () => {
  server = await SdkServer.start()
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
  const { serving, apiKey, page } = visited
  const made = document({
    name: 'Tools',
    blocks: [
      block('start', 'api_trigger', {}, { position: { x: 0, y: 0 } }),
      block('call', 'mcp', { server: '', tool: '' }, { position: { x: 300, y: 0 } }),
    ],
    edges: ['start > call'],
  })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  workflowId = (body as { id: string }).id
  await page.goto(`${serving.url}/workflows/${workflowId}`)
  await node(page, 'call').click()
}, 120_000)
afterAll(async () => {
  await visited.close()
  await server[Symbol.asyncDispose]()
})

test('the form of an MCP tool offers the tools of the server, and a field for each argument', async () => {
  const { serving, apiKey, page } = visited
  const form = page.getByRole('complementary', { name: 'Block call' })
  await form.getByLabel('Server', { exact: true }).fill(server.url)
  const tool = form.getByRole('combobox', { name: 'Tool', exact: true })
  await tool.selectOption('add')
  await form.getByText('Adds two numbers').waitFor()
  await form.getByLabel('a', { exact: true }).fill('20')
  await form.getByLabel('b', { exact: true }).fill('<api.n>')
  await form.getByLabel('b', { exact: true }).blur()
  expect(await faultsInBothThemes(page)).toEqual([])
  const saved = async () =>
    ((await call(`${serving.url}/api/workflows/${workflowId}`, apiKey)).body as { blocks: Record<string, unknown> })
      .blocks['call'] as { params: Record<string, unknown> }
  const wanted = { server: server.url, tool: 'add', arguments: { a: 20, b: '<api.n>' } }
  while (!Bun.deepEquals((await saved()).params, wanted)) await Bun.sleep(50)
}, 60_000)
