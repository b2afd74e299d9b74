import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { emptyWorkflow } from '../../support/ui/editor-page.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited?.close())

test('without a model, the editor hides the assistant, and shows the owner how to turn it on', async () => {
  const { page, context } = visited
  await emptyWorkflow(visited, 'Off')
  await page.getByRole('region', { name: 'What starts it?' }).waitFor()
  expect(await page.getByRole('button', { name: /Describe it/ }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Assistant' }).count()).toBe(0)
  await page.getByRole('button', { name: 'More', exact: true }).click()
  const opened = context.waitForEvent('page')
  await page.getByRole('menuitem', { name: 'Turn the assistant on' }).click()
  const docs = await opened
  await docs.getByRole('heading', { name: 'Turn it on' }).waitFor()
  expect(visited.pageErrors).toEqual([])
}, 120_000)
