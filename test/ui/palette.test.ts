import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { block, document as draftOf } from '../support/make.ts'
import { call, deploy } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { node, openWorkflow, until } from '../support/ui/editor-page.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey } = visited
  const blocks = [block('start', 'api_trigger'), block('sum', 'function', { code: "throw new Error('no stock left')" })]
  const failing = draftOf({ name: 'Order intake', blocks, edges: ['start > sum'] })
  await call(await deploy(serving.url, apiKey, failing), apiKey, 'POST', {})
}, 120_000)
afterAll(() => visited.close())

const palette = (page: Page) => page.getByRole('dialog', { name: 'Command palette' })
/** Opens a page of the workspace. */
async function open(path: string): Promise<void> {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/${path}`)
  await page.getByRole('button', { name: /^Account/ }).waitFor()
}

/** Types into the palette, and picks the first entry once it has the name. */
async function pick(typed: string, group: string, option: RegExp | string): Promise<void> {
  const { page } = visited
  await page.keyboard.press('Control+k')
  await palette(page).getByRole('combobox').fill(typed)
  await palette(page).getByRole('group', { name: group }).getByRole('option', { name: option }).first().click()
  await palette(page).waitFor({ state: 'detached' })
}

const small = {
  blocks: [
    { id: 'start', type: 'api_trigger', name: 'Start', position: { x: 0, y: 0 }, params: {} },
    { id: 'near', type: 'function', name: 'Near', position: { x: 300, y: 0 }, params: { code: 'return 1' } },
    { id: 'far', type: 'function', name: 'Far away', position: { x: 9_000, y: 0 }, params: { code: 'return 2' } },
  ],
  edges: ['start > near', 'near > far'],
}

describe('the command palette', () => {
  test('goes to a block of the open workflow, which comes into view', async () => {
    const { page, pageErrors } = visited
    await openWorkflow(visited, { ...small, name: 'Wide' })
    await pick('far', 'Blocks', 'Far away')
    await page.getByRole('complementary', { name: 'Block Far away' }).waitFor()
    await until(async () => {
      const box = await node(page, 'Far away').boundingBox()
      return box !== null && box.x > 0 && box.x + box.width < 1_200
    })
    expect(pageErrors).toEqual([])
  }, 60_000)

  test('finds workflows, pages of the settings and runs from any screen', async () => {
    const { page } = visited
    await open('logs')
    await pick('order int', 'Workflows', 'Order intake')
    await page.waitForURL(/\/workflows\/[^/]+$/)
    await node(page, 'sum').waitFor()

    await pick('credentials', 'Settings', 'Settings: Credentials')
    await page.waitForURL(/\/settings\/credentials$/)

    await pick('no stock', 'Runs', /Order intake.*no stock left.*Failed/s)
    await page.waitForURL(/\/logs\/[^/?]+/)
    await page.getByText('no stock left').first().waitFor()
  }, 60_000)

  test('searches all logs for what was typed', async () => {
    const { page } = visited
    await open('workflows')
    await pick('no stock', 'Runs', 'Search all logs for “no stock”')
    await page.waitForURL((url) => url.pathname.endsWith('/logs') && url.searchParams.get('search') === 'no stock')
    await page.getByRole('searchbox').and(page.locator('[value="no stock"]')).first().waitFor()
  }, 60_000)

  test('finds sections of the documentation, which open beside the work', async () => {
    const { context, serving } = visited
    await open('logs')
    const opened = context.waitForEvent('page')
    await pick('schedules', 'Documentation', /Schedules/)
    const docs = await opened
    await docs.waitForURL((url) => url.href.startsWith(`${serving.url}/docs/`))
    await docs.close()
    // No title has the word, but a text does.
    const again = context.waitForEvent('page')
    await pick('cron', 'Documentation', /Schedule|Triggers/)
    await (await again).close()
  }, 60_000)

  test('creates a workflow from the logs', async () => {
    const { page } = visited
    await open('logs')
    await pick('new work', 'Create', 'New workflow')
    await page.waitForURL(/\/workflows\/[^/]+$/)
    await page.getByText('What starts it?').waitFor()
  }, 60_000)

  test('is read as groups of options, and says how many results it has', async () => {
    const { page } = visited
    await open('logs')
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('option', { name: 'Order intake' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await palette(page).getByRole('combobox').fill('zzqx')
    await palette(page).getByRole('status').getByText('1 result').waitFor()
    await page.keyboard.press('Escape')
    await palette(page).waitFor({ state: 'detached' })
  }, 60_000)
})

describe('the keys', () => {
  test('are listed behind ?, but not while somebody types', async () => {
    const { page } = visited
    await openWorkflow(visited, { ...small, name: 'Keys' })
    const dialog = page.getByRole('dialog', { name: 'Keys' })
    await page.keyboard.press('?')
    await dialog.getByText('Pin the output, or unpin it').waitFor()
    expect(await dialog.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
      ...['Everywhere', 'Editor', 'Workflows', 'Gallery', 'Logs'],
    ])
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+f')
    const field = page.getByRole('search').getByLabel('Find', { exact: true })
    await field.press('?')
    await until(async () => (await field.inputValue()) === '?')
    expect(await dialog.count()).toBe(0)
    await open('logs')
    await page.keyboard.press('?')
    await dialog.waitFor()
  }, 60_000)

  test('lead to the canvas in three steps, and mean the block that has the focus', async () => {
    const { page } = visited
    await openWorkflow(visited, { ...small, name: 'Focus' })
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-id') ?? '')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to canvas')
    await page.keyboard.press('Enter')
    await until(async () => (await focused()) === 'start')
    expect(await node(page, 'Start').getAttribute('class')).not.toContain('selected')
    await page.keyboard.press('c')
    await page.getByRole('combobox', { name: /Connect/ }).waitFor()
    await page.keyboard.press('Escape')
    expect(await node(page, 'Start').getAttribute('class')).toContain('selected')
  }, 60_000)

  test('that are letters do nothing on a button of the inspector', async () => {
    const { page } = visited
    await openWorkflow(visited, { ...small, name: 'Letters' })
    await node(page, 'Near').click()
    const panel = page.getByRole('complementary', { name: 'Block Near' })
    await panel.getByRole('button', { name: 'Block actions' }).focus()
    for (const key of ['n', 'd', 'Delete']) await page.keyboard.press(key)
    // The palette opens after the keys were handled.
    await page.keyboard.press('Control+k')
    await palette(page).waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('.react-flow__node').count()).toBe(2)
    await panel.waitFor()
    expect(await node(page, 'Near').getByText('Disabled').count()).toBe(0)
  }, 60_000)
})

test('one Escape closes the dialog of a run with other input, which has the focus in its input', async () => {
  const { page } = visited
  await openWorkflow(visited, { ...small, name: 'Input' })
  await page.keyboard.press('Control+Shift+Enter')
  const dialog = page.getByRole('dialog', { name: 'Run with custom input' })
  await until(() =>
    dialog
      .locator('[data-code]')
      .evaluate((code) => code.shadowRoot?.activeElement?.classList.contains('cm-content') === true),
  )
  expect(await page.getByRole('tooltip').count()).toBe(0)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}, 60_000)

test('an address of the settings that does not exist says so', async () => {
  const { page } = visited
  await open('settings/members')
  await page.getByText('The settings have no page “members”').waitFor()
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Name and members' }).click()
  await page.waitForURL(/\/settings\/workspace$/)
}, 60_000)
