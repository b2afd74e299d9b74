import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node } from '../../support/ui/editor-page.ts'
import { faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
let workflowId: string
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey, page } = visited
  const made = document({
    name: 'Tables',
    blocks: [
      block('start', 'api_trigger', {}, { position: { x: 0, y: 0 } }),
      block('read', 'data', { operation: 'csv_parse', input: '<start.csv>' }, { position: { x: 300, y: 0 } }),
    ],
    edges: ['start > read'],
  })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  workflowId = (body as { id: string }).id
  await page.goto(`${serving.url}/workflows/${workflowId}`)
  await node(page, 'read').click()
}, 120_000)
afterAll(() => visited.close())

test('the form of a data block shows the options of its operation', async () => {
  const { serving, apiKey, page } = visited
  const form = page.getByRole('complementary', { name: 'Block read' })
  const operation = form.getByRole('combobox', { name: 'Operation', exact: true })
  const options = form.getByRole('group', { name: 'Options' })
  const saved = async () =>
    ((await call(`${serving.url}/api/workflows/${workflowId}`, apiKey)).body as { blocks: Record<string, unknown> })
      .blocks['read'] as { params: Record<string, unknown> }
  const expectSaved = async (wanted: Record<string, unknown>) => {
    while (!Bun.deepEquals((await saved()).params, wanted)) await Bun.sleep(50)
  }
  await options.getByLabel('Delimiter', { exact: true }).fill('semicolon')
  await options.getByLabel('Most rows', { exact: true }).fill('10')
  await options.getByRole('switch', { name: 'Header' }).click()
  await options.getByRole('combobox', { name: 'Types' }).selectOption('auto')
  expect(await options.getByLabel('Secret', { exact: true }).count()).toBe(0)
  expect(await faultsInBothThemes(page)).toEqual([])
  const input = '<start.csv>'
  const chosen = { delimiter: 'semicolon', limit: 10, header: false, types: 'auto' }
  await expectSaved({ operation: 'csv_parse', input, options: chosen })
  // Options that do not belong to the new operation go.
  await operation.selectOption('csv_write')
  await options.getByRole('switch', { name: 'Escape formulas' }).click()
  const kept = { delimiter: 'semicolon', header: false, escapeFormulas: true }
  await expectSaved({ operation: 'csv_write', input, options: kept })
  await operation.selectOption('zip_list')
  await options.waitFor({ state: 'detached' })
  await expectSaved({ operation: 'zip_list', input })
  await operation.selectOption('html_select')
  await options.getByRole('textbox', { name: 'Fields' }).waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
}, 60_000)
