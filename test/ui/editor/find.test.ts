import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, saved, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

const block = (id: string, type: string, name: string, x: number, params: Record<string, unknown>) => ({
  ...{ id, type, name, position: { x, y: 0 }, params },
})

const code = 'const lines = <order.data.lines>\nreturn lines.map(\n  (line) => line.price * line.count,\n)'
const draft = {
  blocks: [
    block('start', 'api_trigger', 'Start', 0, { inputFormat: [{ name: 'orderId', type: 'string' }] }),
    block('order', 'api', 'Order', 300, { url: 'https://shop.example/order?id=<api.orderId>', method: 'GET' }),
    block('total', 'function', 'Total', 600, { code }),
    block('far', 'response', 'Far away', 6_000, { data: { sum: '<total.result>', of: '<order.data.id>' } }),
  ],
  edges: ['start > order', 'order > total', 'total > far'],
  notes: { n: { id: 'n', text: 'The price is in cents', position: { x: 0, y: 300 } } },
}

describe('finding in a workflow', () => {
  let visited: Visit
  beforeAll(async () => {
    visited = await visit()
  }, 120_000)
  afterAll(() => visited.close())

  const bar = (page: Page) => page.getByRole('search', { name: 'Find in this workflow' })
  /** The text selected in the focused field or code editor. */
  const selection = (page: Page) =>
    page.evaluate(() => {
      const root = document.activeElement?.shadowRoot
      if (root) return (root as unknown as Document).getSelection()?.toString() ?? ''
      const at = document.activeElement as HTMLInputElement
      return at.value.slice(at.selectionStart ?? 0, at.selectionEnd ?? 0)
    })

  test('Ctrl F lists the matches by block, and Enter steps through them and shows each', async () => {
    const { page, pageErrors } = visited
    await openWorkflow(visited, { ...draft, name: 'List' })
    await page.keyboard.press('Control+f')
    await page.keyboard.insertText('price')
    await bar(page).getByRole('status').getByText('2 matches').waitFor()
    expect(await bar(page).getByRole('heading').allInnerTexts()).toEqual(['Total\n1', 'Note\n1'])
    await bar(page).getByRole('button', { name: 'Code, line 3' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])

    await page.keyboard.press('Enter')
    await bar(page).getByRole('status').getByText('1 of 2').waitFor()
    await page.getByRole('complementary', { name: 'Block Total' }).waitFor()
    await until(() => page.locator('[data-code] .cm-found', { hasText: 'price' }).isVisible())
    expect(
      await bar(page)
        .getByLabel('Find', { exact: true })
        .evaluate((field) => field === document.activeElement),
    ).toBe(true)
    await page.keyboard.press('Shift+Enter')
    await bar(page).getByRole('status').getByText('2 of 2').waitFor()
    expect(await node(page, 'The price is in cents').getAttribute('class')).toContain('selected')

    await bar(page).getByRole('button', { name: 'Code, line 3' }).click()
    await until(async () => (await selection(page)) === 'price')
    expect(pageErrors).toEqual([])
  }, 60_000)

  test('a match in a field is selected there, and a block that is out of view comes into view', async () => {
    const { page } = visited
    await openWorkflow(visited, { ...draft, name: 'Field' })
    await page.keyboard.press('Control+f')
    await page.keyboard.insertText('shop')
    await bar(page).getByRole('button', { name: 'URL' }).click()
    await until(async () => (await selection(page)) === 'shop')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe(null)

    // The selected text is looked for.
    await page.keyboard.press('Control+f')
    await bar(page).getByRole('status').getByText('1 match').waitFor()
    await page.keyboard.insertText('total.result')
    await bar(page).getByRole('button', { name: 'sum' }).click()
    const far = node(page, 'Far away')
    await until(async () => {
      const box = await far.boundingBox()
      return box !== null && box.x > 0 && box.x + box.width < 1_000 && box.width > 100
    })
    await until(async () => (await selection(page)) === 'total.result')
    await page.keyboard.press('Control+f')
    await page.keyboard.press('Escape')
    await bar(page).waitFor({ state: 'detached' })
  }, 60_000)

  test('all matches are replaced as one step, with the references to renamed blocks', async () => {
    const { page } = visited
    const id = await openWorkflow(visited, { ...draft, name: 'All' })
    await page.keyboard.press('Control+f')
    await page.keyboard.insertText('order')
    await bar(page).getByRole('button', { name: 'Replace', exact: true }).click()
    await bar(page).getByLabel('Replace with').fill('purchase')
    await bar(page).getByRole('button', { name: 'Whole words' }).click()
    await bar(page).getByRole('status').getByText('4 matches').waitFor()
    await bar(page).getByRole('button', { name: 'Replace all' }).click()
    await page.getByText('Replaced 4 matches. 2 references to blocks changed.').waitFor()
    await until(async () => (await saved(visited, id)).blocks['order']?.name === 'purchase')
    const { blocks } = await saved(visited, id)
    expect(blocks['total']?.params['code']).toBe(code.replace('<order.', '<purchase.'))
    expect(blocks['far']?.params['data']).toEqual({ sum: '<total.result>', of: '<purchase.data.id>' })
    expect(blocks['order']?.params['url']).toBe('https://shop.example/purchase?id=<api.orderId>')
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await until(async () => (await saved(visited, id)).blocks['order']?.name === 'Order')
    expect((await saved(visited, id)).blocks['total']?.params['code']).toBe(code)
  }, 60_000)

  test('a replacement that would break references asks first, and one match can be replaced alone', async () => {
    const { page } = visited
    const id = await openWorkflow(visited, { ...draft, name: 'One' })
    await page.keyboard.press('Control+f')
    await page.keyboard.insertText('<order.')
    await bar(page).getByRole('button', { name: 'Replace', exact: true }).click()
    await bar(page).getByLabel('Replace with').fill('<ordre.')
    await bar(page).getByRole('status').getByText('2 matches').waitFor()
    await bar(page).getByRole('button', { name: 'Replace all' }).click()
    await page.getByText('2 references would no longer name a block').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await bar(page).getByLabel('Find', { exact: true }).fill('line.price')
    await bar(page).getByLabel('Replace with').fill('line.cost')
    await bar(page).getByRole('status').getByText('1 match').waitFor()
    await bar(page).getByLabel('Replace with').press('Enter')
    await bar(page).getByRole('status').getByText('1 of 1 match').waitFor()
    await bar(page).getByLabel('Replace with').press('Enter')
    await bar(page).getByRole('status').getByText('No matches').waitFor()
    await until(async () => String((await saved(visited, id)).blocks['total']?.params['code']).includes('line.cost'))
  }, 60_000)

  test('a regular expression finds by pattern, says what is wrong with it, and cannot hang the page', async () => {
    const { page } = visited
    const long = `${'a'.repeat(60_000)}!`
    await openWorkflow(visited, {
      ...draft,
      name: 'Pattern',
      blocks: [...draft.blocks, block('long', 'function', 'Long', 900, { code: `// ${long}` })],
    })
    await page.keyboard.press('Control+f')
    await bar(page).getByRole('button', { name: 'Regular expression' }).click()
    const field = bar(page).getByLabel('Find', { exact: true })
    await field.fill('line\\.(price|count)')
    await bar(page).getByRole('status').getByText('2 matches').waitFor()
    await field.fill('line(')
    await bar(page).getByRole('status').getByText('A “(” has no “)”').waitFor()
    await page.evaluate(() => {
      const state = globalThis as unknown as { longest: number }
      state.longest = 0
      let before = performance.now()
      const measure = () => {
        state.longest = Math.max(state.longest, performance.now() - before)
        before = performance.now()
        setTimeout(measure)
      }
      measure()
    })
    await field.fill('(a+)+b')
    await bar(page)
      .getByRole('status')
      .getByText(/No matches|takes too long/)
      .waitFor()
    expect(await page.evaluate(() => (globalThis as unknown as { longest: number }).longest)).toBeLessThan(1_000)
  }, 60_000)
})
