import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block } from '../../support/make.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, until } from '../../support/ui/editor-page.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const at = (x: number) => ({ position: { x, y: 0 } })
const start = block('start', 'api_trigger', {}, at(0))
const inspector = (name: string) => visited.page.getByRole('complementary', { name: `Block ${name}` })
const run = () => visited.page.getByRole('button', { name: 'Run', exact: true }).click()

test('the reason why a run could not start goes when the next run starts', async () => {
  const { page } = visited
  const call = block('call', 'api', { url: '', onError: 'continue', retries: 0 }, at(320))
  await openWorkflow(visited, { name: 'Refused', blocks: [start, call], edges: ['start > call'] })
  await run()
  const refusal = page.getByRole('region', { name: 'Notifications' }).getByText('The workflow cannot run')
  await refusal.waitFor()
  await node(page, 'call').click()
  await inspector('call').getByLabel('URL').fill('http://localhost:1/')
  // Held with the pointer, a notification stays until something removes it.
  await refusal.hover()
  await page.keyboard.press('Control+Enter')
  await refusal.waitFor({ state: 'detached' })
  await page.getByText(/^(Succeeded in|Failed after)/).waitFor()
}, 60_000)

test('the error of a field goes when its value is right, before the change is saved', async () => {
  const { page } = visited
  const call = block('call', 'api', { url: '' }, at(320))
  await openWorkflow(visited, { name: 'Stale', blocks: [start, call], edges: ['start > call'] })
  await node(page, 'call').click()
  const error = inspector('call').getByText('URL is empty')
  await error.waitFor()
  let held = 0
  await page.route('**/api/workflows/*', async (route) => {
    if (route.request().method() === 'PUT') held += 1
    else await route.continue()
  })
  await inspector('call').getByLabel('URL').fill('https://example.com/')
  await inspector('call').getByLabel('Block name').focus()
  await until(async () => held > 0)
  expect(await error.count()).toBe(0)
  await page.unroute('**/api/workflows/*')
  await page.goto('about:blank')
}, 60_000)

test('the error of an import goes when a file is chosen', async () => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
  await page.getByRole('button', { name: 'Import' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Or paste a document').fill('nothing')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  const error = dialog.getByText('JSON', { exact: false }).and(dialog.getByRole('alert'))
  await error.waitFor()
  const file = { name: 'a.json', mimeType: 'application/json', buffer: Buffer.from('{}') }
  await page.getByLabel('Files to import').setInputFiles(file)
  await error.waitFor({ state: 'detached' })
}, 60_000)

test('suggestions in code break no rule of the content security policy', async () => {
  const { page, pageErrors } = visited
  const code = block('code', 'function', { code: '' }, at(320))
  await openWorkflow(visited, { name: 'Policy', blocks: [start, code], edges: ['start > code'] })
  await node(page, 'code').click()
  await inspector('code').locator('.cm-content').click()
  await page.keyboard.type('return <st')
  await page.getByRole('listbox').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  expect(pageErrors).toEqual([])
}, 60_000)
