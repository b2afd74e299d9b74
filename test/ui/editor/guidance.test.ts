import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { emptyWorkflow, node } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

test('an empty canvas asks what starts the workflow, and accepts a block dropped on it', async () => {
  const { page } = visited
  await emptyWorkflow(visited, 'Empty')
  const words = page.getByRole('heading', { name: 'What starts it?' })
  await words.waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  const trigger = page.getByRole('complementary', { name: 'Blocks' }).getByRole('button', { name: 'API trigger' })
  expect(await trigger.getAttribute('title')).not.toContain('Already added')
  const [from, to] = [(await trigger.boundingBox())!, (await words.boundingBox())!]
  await page.mouse.move(from.x + 20, from.y + 10)
  await page.mouse.down()
  await page.mouse.move(to.x + 20, to.y, { steps: 5 })
  await page.mouse.move(to.x + 30, to.y + 5, { steps: 5 })
  await page.mouse.up()
  await node(page, 'Start').waitFor()
  expect(await words.count()).toBe(0)
  expect(await trigger.isDisabled()).toBe(true)
  expect(await trigger.getAttribute('title')).toContain('Already added')
  await node(page, 'Start').click()
  await page.keyboard.press('Delete')
  await words.waitFor()
}, 120_000)

test('errors that prevent a deployment are listed apart from warnings, and a problem leads to its block', async () => {
  const { page, serving, apiKey } = visited
  const blocks = [
    block('Start', 'api_trigger', {}, { position: { x: 0, y: 0 } }),
    block('Fetch', 'api', { url: '' }, { position: { x: 320, y: 0 } }),
    block('Lost', 'wait', { ms: 1 }, { position: { x: 0, y: 240 } }),
  ]
  const draft = document({ name: 'Problems', blocks, edges: ['Start > Fetch'] })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', draft)
  await page.goto(`${serving.url}/workflows/${(body as { id: string }).id}`)
  await page.getByRole('button', { name: '2 problems' }).click()
  const entry = page.getByRole('button', { name: /Lost:/ })
  await entry.click()
  await page.getByRole('complementary', { name: 'Block Lost' }).waitFor()
  await entry.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const dialog = page.getByRole('dialog')
  const first = dialog.getByRole('region', { name: 'Errors to fix before deploying' })
  await first.getByText('Fetch').waitFor()
  expect(await first.getByText('Lost').count()).toBe(0)
  expect(await dialog.getByRole('region', { name: 'Warnings' }).getByText('Lost').count()).toBe(1)
  expect(visited.pageErrors).toEqual([])
}, 120_000)
