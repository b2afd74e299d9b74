import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block } from '../../support/make.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, until } from '../../support/ui/editor-page.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(async () => {
  expect(visited.pageErrors).toEqual([])
  await visited.close()
})

const at = (x: number, y: number) => ({ position: { x, y } })

async function open(): Promise<string> {
  return await openWorkflow(visited, {
    name: `Keys ${crypto.randomUUID()}`,
    blocks: [
      block('start', 'api_trigger', {}, at(0, 0)),
      block('left', 'function', { code: 'return 1' }, at(340, 0)),
      block('right', 'function', { code: 'return 2' }, at(340, 240)),
      block('last', 'response', { data: 1, status: 200 }, at(680, 0)),
    ],
    edges: ['start > left', 'start > right', 'left > last'],
  })
}

/** The id of the block or line with the focus, or the name of the control. */
const focused = () =>
  visited.page.evaluate(() => {
    const { activeElement: active } = document
    return active?.getAttribute('data-id') ?? active?.getAttribute('aria-label') ?? active?.textContent
  })
const succeeded = () =>
  visited.page
    .getByText(/^Succeeded in/)
    .first()
    .waitFor()

test('a run that succeeds leaves the focus where it was: at the button, a block or a field', async () => {
  const { page } = visited
  await open()
  await page.getByRole('button', { name: 'Run', exact: true }).focus()
  await page.keyboard.press('Enter')
  await succeeded()
  expect(await focused()).toBe('Run')

  await open()
  await page.locator('[data-id="last"]').focus()
  await page.keyboard.press('Control+Enter')
  await succeeded()
  expect(await focused()).toBe('last')

  await open()
  await node(page, 'last').click({ position: { x: 60, y: 12 } })
  const field = page.getByLabel('Status')
  await field.focus()
  await page.keyboard.press('Control+Enter')
  await succeeded()
  expect(await field.evaluate((one) => one === document.activeElement)).toBe(true)

  await open()
  await page.keyboard.press('Control+Shift+Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Run with custom input' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
  await succeeded()
  expect(await focused()).toBe('Run with custom input')
}, 120_000)

test('Ctrl Enter in a field runs the workflow with what was typed there, and keeps the focus', async () => {
  const { page } = visited
  await openWorkflow(visited, {
    name: 'Typed',
    variables: { word: { type: 'string', value: '' } },
    blocks: [
      block('start', 'api_trigger', {}, at(0, 0)),
      block('set', 'variables', { assign: [{ name: 'word', value: 'old' }] }, at(340, 0)),
    ],
    edges: ['start > set'],
  })
  await node(page, 'set').click({ position: { x: 60, y: 12 } })
  const rows = page.getByRole('list', { name: 'Blocks that ran' })

  const name = page.getByLabel('Block name')
  await name.fill('Renamed')
  await name.press('Control+Enter')
  await rows.getByText('Renamed').waitFor()
  await succeeded()
  expect(await focused()).toBe('Block name')

  // An open list of suggestions does not keep the key for itself.
  const value = page.getByRole('combobox', { name: 'value' })
  await value.fill('new <sta')
  await page.getByRole('listbox').waitFor()
  await value.press('Control+Enter')
  await rows.getByText('Renamed').click()
  await page.getByRole('region', { name: 'Output' }).getByText('"new <sta"').waitFor()
}, 60_000)

test('a double click on Run does not stop the run that it started', async () => {
  const { page } = visited
  await openWorkflow(visited, {
    name: 'Slow',
    blocks: [block('start', 'api_trigger', {}, at(0, 0)), block('slow', 'wait', { ms: 1_500 }, at(340, 0))],
    edges: ['start > slow'],
  })
  await page.getByRole('button', { name: 'Run', exact: true }).dblclick()
  await succeeded()
}, 60_000)

test('Tab stops at the block and then at the lines that leave it, before it goes on', async () => {
  const { page } = visited
  await open()
  await page.getByRole('button', { name: 'Fit to view' }).click()
  const stops: (string | null | undefined)[] = []
  await page.locator('[data-id="start"]').focus()
  for (const key of ['Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Tab', 'Tab', 'Tab']) {
    await page.keyboard.press(key)
    stops.push(await focused())
  }
  expect(stops.slice(0, 6)).toEqual(['e0', 'e1', 'e0', 'start', 'e0', 'e1'])
  expect(['e0', 'e1', 'e2', 'start', 'left', 'right', 'last']).not.toContain(stops[6] as string)

  // Nothing of the canvas is a stop before the block.
  await page.locator('[data-id="start"]').focus()
  await page.keyboard.press('Shift+Tab')
  expect(['e0', 'e1', 'e2']).not.toContain((await focused()) as string)

  await page.locator('[data-id="start"]').focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Delete')
  await until(async () => (await page.locator('.react-flow__edge').count()) === 2)
}, 60_000)

test('the toolbar and the menu of a selection start with Copy and end with Delete', async () => {
  const { page } = visited
  await open()
  await page.keyboard.press('Control+a')
  const toolbar = page.getByRole('toolbar', { name: 'Selection' })
  await toolbar.waitFor()
  const names = await toolbar
    .getByRole('button')
    .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''))
  expect(names.slice(0, 3)).toEqual(['Copy', 'Duplicate', 'Disable'])
  expect(names.at(-1)).toBe('Delete')
  await node(page, 'last').click({ button: 'right' })
  const items = await page.getByRole('menuitem').allTextContents()
  const copying = items
    .filter((text) => /^(Copy|Paste|Duplicate)/.test(text))
    .map((text) => /^[A-Z][a-z]+/.exec(text)![0])
  expect(copying).toEqual(['Copy', 'Paste', 'Duplicate'])
  expect(items.at(-1)).toStartWith('Delete')
}, 60_000)

test('a dialog starts with its content: the first Escape closes it', async () => {
  const { page } = visited
  await open()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByRole('dialog').getByRole('tab', { name: 'Deploy' }).waitFor()
  await until(async () => (await focused()) === 'Deploy')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}, 60_000)
