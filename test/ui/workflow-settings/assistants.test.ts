import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block } from '../../support/make.ts'
import { connectMcp } from '../../support/mcp-client.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { openWorkflow, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

test('a workflow is offered to assistants by keyboard, and is a tool when it is deployed', async () => {
  const { page, pageErrors, serving, apiKey } = visited
  const id = await openWorkflow(visited, { name: 'Find an order', blocks: [block('Start', 'manual_trigger')] })
  const stored = async () =>
    ((await call(`${serving.url}/api/workflows/${id}`, apiKey)).body as { mcp?: Record<string, unknown> }).mcp
  await page.getByRole('button', { name: 'More', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Offer to assistants (MCP)' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  const offer = dialog.getByRole('switch', { name: 'Offer this workflow as a tool' })
  await offer.focus()
  await page.keyboard.press('Space')
  await until(async () => Bun.deepEquals(await stored(), { expose: true }))
  await dialog.getByText('Assistants cannot call it yet: add an API trigger').waitFor()
  const name = dialog.getByLabel('Name of the tool')
  expect(await name.getAttribute('placeholder')).toBe('find_an_order')
  await name.focus()
  await page.keyboard.type('find/order')
  await dialog.getByText('Use 1 to 64 letters, digits, "-" and "_".').waitFor()
  expect(await name.getAttribute('aria-invalid')).toBe('true')
  await name.fill('find_order')
  await dialog.getByLabel('Description for the assistant').fill('Finds an order by its number.')
  const all = { expose: true, name: 'find_order', description: 'Finds an order by its number.' }
  await until(async () => Bun.deepEquals(await stored(), all))
  const { workspaceId } = (await call(`${serving.url}/api/workflows/${id}`, apiKey)).body as { workspaceId: string }
  const address = await dialog.getByLabel('Address for assistants').inputValue()
  expect(new URL(address).pathname).toBe(`/mcp/${workspaceId}`)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await accessibilityFaults(page)).toEqual([])
      const shots = process.env['SHOTS']
      if (shots !== undefined) await page.screenshot({ path: `${shots}/assistants-${colorScheme}-${width}.png` })
    }
  }
  // The deployment warns of a tool that nobody can call.
  const deploy = () => call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  expect((await deploy()).body as object).toMatchObject({ warnings: [{ code: 'TOOL_WITHOUT_TRIGGER' }] })
  const { body } = await call(`${serving.url}/api/workflows/${id}`, apiKey)
  const start = { id: 'start', type: 'api_trigger', name: 'Api' }
  const draft = body as { blocks: object }
  const put = { ...draft, blocks: { ...draft.blocks, start } }
  expect((await call(`${serving.url}/api/workflows/${id}`, apiKey, 'PUT', put)).status).toBe(200)
  expect((await deploy()).body as object).toMatchObject({ warnings: [] })
  const client = await connectMcp(serving.url, apiKey, { path: new URL(address).pathname })
  const { tools } = await client.listTools()
  await client.close()
  expect(tools.find((tool) => tool.name === 'find_order')).toMatchObject({ description: all.description })
  await offer.focus()
  await page.keyboard.press('Space')
  await until(async () => (await stored())?.['expose'] === false)
  await dialog.getByLabel('Address for assistants').waitFor({ state: 'detached' })
  expect(pageErrors).toEqual([])
}, 120_000)
