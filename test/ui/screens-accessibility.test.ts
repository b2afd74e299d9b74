import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { node, until } from '../support/ui/editor-page.ts'
import { faultsInBothThemes } from './accessibility.ts'

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

for (const path of [
  ...['workflows', 'gallery', 'waiting', 'waiting?view=runs', 'logs', 'store'],
  ...['keys', 'account', 'environment', 'workspace', 'usage', 'about'].map((part) => `settings/${part}`),
]) {
  test(`the page ${path} is accessible in both themes`, async () => {
    const { page, serving, workspaceId } = visited
    await page.goto(`${serving.url}/w/${workspaceId}/${path}`)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
  }, 60_000)
}

test('the webhook subscriptions of a workflow are accessible in both themes', async () => {
  const { page, serving } = visited
  await page.goto(`${serving.url}/workflows/${id}/webhooks`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
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
  expect(await faultsInBothThemes(page)).toEqual([])
  await page.keyboard.press('Escape')
  const smallCard = page.locator('.compact-card').first()
  await until(async () => {
    if (await smallCard.isVisible()) return true
    await page.getByRole('button', { name: 'Zoom out' }).click()
    return smallCard.isVisible()
  })
  expect(await faultsInBothThemes(page)).toEqual([])
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
    expect([name, ...(await faultsInBothThemes(page))]).toEqual([name])
    // The first press may only close a tooltip.
    await until(async () => {
      await page.keyboard.press('Escape')
      return (await page.getByRole('dialog').count()) === 0
    })
  }
}, 120_000)

test('the find bar with its matches and the replacement is accessible in both themes', async () => {
  const { page, serving } = visited
  await page.goto(`${serving.url}/workflows/${id}`)
  await node(page, 'Code').waitFor()
  await page.keyboard.press('Control+f')
  await page.keyboard.type('return')
  await page.getByText('1 match').first().waitFor()
  await page
    .getByRole('button', { name: /^Replace/ })
    .first()
    .click()
  expect(await faultsInBothThemes(page)).toEqual([])
}, 60_000)

test('the command palette with results and the dialog of keys are accessible in both themes', async () => {
  const { page, serving } = visited
  await page.goto(`${serving.url}/workflows/${id}`)
  await node(page, 'Code').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').last().fill('co')
  await page.getByRole('option', { name: 'Code' }).first().waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('combobox').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
}, 60_000)

test('the preview of a ready workflow is accessible in both themes', async () => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/gallery`)
  await page.getByRole('button', { name: /Start with a small endpoint/ }).click()
  await page.getByRole('button', { name: 'Use this workflow' }).waitFor()
  await page.locator('.react-flow__node').first().waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
}, 60_000)

test('an open log entry is accessible in both themes, with every tab', async () => {
  const { page, serving, workspaceId, apiKey } = visited
  const failing = {
    name: 'Fails',
    blocks: {
      Start: { id: 'Start', type: 'api_trigger', name: 'Start', position: { x: 0, y: 0 }, params: {} },
      Trip: {
        ...{ id: 'Trip', type: 'function', name: 'Trip', position: { x: 300, y: 0 } },
        params: { code: 'throw new Error("No")' },
      },
    },
    edges: [{ id: 'e0', source: 'Start', target: 'Trip' }],
  }
  const made = (await call(`${serving.url}/api/workflows`, apiKey, 'POST', failing)).body as { id: string }
  await call(`${serving.url}/api/workflows/${made.id}/deploy`, apiKey, 'POST')
  await call(`${serving.url}/api/workflows/${made.id}/execute`, apiKey, 'POST', {})
  await page.goto(`${serving.url}/w/${workspaceId}/logs`)
  await page.getByRole('row').filter({ hasText: 'Fails' }).click()
  const panel = page.getByRole('complementary', { name: 'Log entry' })
  await panel.getByText('Error: No').first().waitFor()
  for (const tab of await panel.getByRole('tab').all()) {
    await tab.click()
    // The previous tab's panel fades out first. Until then, there are two.
    await panel.locator('[role=tabpanel]:not([inert])').waitFor()
    await panel.locator('[role=tabpanel][inert]').waitFor({ state: 'detached' })
    expect([await tab.textContent(), ...(await faultsInBothThemes(page))]).toEqual([await tab.textContent()])
  }
}, 120_000)

test('the menus of blocks, lines and the canvas, and the toolbar of a selection, are accessible in both themes', async () => {
  const { page, serving } = visited
  await page.goto(`${serving.url}/workflows/${id}`)
  await node(page, 'Code').waitFor()
  const { x, y, height } = (await page.locator('.react-flow__pane').boundingBox())!
  const opened: [string, () => Promise<void>][] = [
    ['Selection', () => node(page, 'Code').click({ button: 'right', position: { x: 60, y: 12 } })],
    ['Canvas', () => page.mouse.click(x + 200, y + height - 120, { button: 'right' })],
    ['Connection', () => page.keyboard.press('Shift+F10')],
  ]
  for (const [name, open] of opened) {
    if (name === 'Connection') await page.locator('.react-flow__edge').first().focus()
    await open()
    await page.getByRole('menu', { name }).waitFor()
    expect([name, ...(await faultsInBothThemes(page))]).toEqual([name])
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
  }
  await page.keyboard.press('Control+a')
  await page.getByRole('toolbar', { name: 'Selection' }).waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
}, 120_000)
