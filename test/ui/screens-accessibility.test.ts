import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { node, until } from '../support/ui/editor-page.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
let id: string
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey } = visited
  const block = (name: string, type: string, x: number, params = {}) =>
    [name, { id: name, type, name, position: { x, y: 0 }, params }] as const
  const document = {
    name: 'Seen',
    blocks: Object.fromEntries([
      block('Start', 'api_trigger', 0),
      block('Code', 'function', 300, { code: 'return [1, 2]' }),
      block('Each', 'loop', 600),
    ]),
    edges: [{ id: 'e0', source: 'Start', target: 'Code' }],
  }
  id = ((await call(`${serving.url}/api/workflows`, apiKey, 'POST', document)).body as { id: string }).id
}, 120_000)
afterAll(() => visited.close())

/** The serious findings of the open page in both themes. */
async function faultsInBothThemes(): Promise<string[]> {
  const { page } = visited
  const faults: string[] = []
  for (const theme of ['light', 'dark']) {
    await page.evaluate((wanted) => {
      document.documentElement.dataset['theme'] = wanted
    }, theme)
    faults.push(...(await accessibilityFaults(page)).map((fault) => `${theme}: ${fault}`))
  }
  return faults
}

for (const path of [
  ...['workflows', 'gallery', 'logs'],
  ...['keys', 'account', 'environment', 'workspace', 'usage', 'about'].map((part) => `settings/${part}`),
]) {
  test(`the page ${path} is accessible in both themes`, async () => {
    const { page, serving, workspaceId } = visited
    await page.goto(`${serving.url}/w/${workspaceId}/${path}`)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    expect(await faultsInBothThemes()).toEqual([])
  }, 60_000)
}

test('the webhook subscriptions of a workflow are accessible in both themes', async () => {
  const { page, serving } = visited
  await page.goto(`${serving.url}/workflows/${id}/webhooks`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  expect(await faultsInBothThemes()).toEqual([])
}, 60_000)

test('the canvas, the inspector and the console are accessible in both themes, also zoomed out', async () => {
  const { page, serving } = visited
  await page.goto(`${serving.url}/workflows/${id}`)
  await node(page, 'Code').waitFor()
  await page.keyboard.press('Control+Enter')
  await page
    .getByText(/Succeeded in/)
    .first()
    .waitFor()
  await node(page, 'Code').click({ position: { x: 60, y: 12 } })
  await page.getByRole('complementary', { name: 'Block Code' }).waitFor()
  expect(await faultsInBothThemes()).toEqual([])
  await page.keyboard.press('Escape')
  const smallCard = page.locator('.compact-card').first()
  await until(async () => {
    if (await smallCard.isVisible()) return true
    await page.getByRole('button', { name: 'Zoom out' }).click()
    return smallCard.isVisible()
  })
  expect(await faultsInBothThemes()).toEqual([])
}, 60_000)

test('the dialogs of the editor are accessible in both themes', async () => {
  const { page, serving } = visited
  await page.goto(`${serving.url}/workflows/${id}`)
  await node(page, 'Code').waitFor()
  for (const name of ['Versions', 'Entry points', 'Deploy…', 'Run with custom input…', 'Variables and description']) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').last().fill(name)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('heading').first().waitFor()
    expect([name, ...(await faultsInBothThemes())]).toEqual([name])
    // The first press may only close a tooltip.
    await until(async () => {
      await page.keyboard.press('Escape')
      return (await page.getByRole('dialog').count()) === 0
    })
  }
}, 120_000)
