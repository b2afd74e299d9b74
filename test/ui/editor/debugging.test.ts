import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, type Draft } from '../../support/make.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const open = (draft: Draft) => openWorkflow(visited, draft)
const at = (x: number, y = 0) => ({ position: { x, y } })
const inside = (parentId: string, x = 60) => ({ parentId, ...at(x, 110) })
const card = (id: string) => visited.page.locator(`.react-flow__node[data-id="${id}"]`)
const inspector = (name: string) => visited.page.getByRole('complementary', { name: `Block ${name}` })
const rows = () => visited.page.getByRole('list', { name: 'Blocks that ran' })
const row = (name: string | RegExp) => rows().getByRole('button', { name })
const pressed = () => rows().locator('[aria-pressed=true]')
const run = () => visited.page.getByRole('button', { name: 'Run', exact: true }).click()
const ended = () => visited.page.getByText(/^(Succeeded in|Failed after)/).waitFor()
const start = block(
  'start',
  'api_trigger',
  { inputFormat: [{ name: 'items', type: 'array', value: [{ price: 2 }, { price: 'free' }, { price: 5 }] }] },
  at(0),
)
const code =
  'const item = <loop.currentItem>\nif (typeof item.price !== "number") throw new Error("No price")\nreturn item.price'
const shop: Draft = {
  name: 'Shop',
  blocks: [
    start,
    block('each', 'loop', {}, at(320)),
    block('line', 'function', { code }, inside('each')),
    block('sum', 'function', { code: 'return <each.results>' }, at(1200)),
  ],
  edges: ['start > each', 'each:loop-start-source > line', 'each:loop-end-source > sum'],
  loops: { each: { loopType: 'forEach', forEachItems: '<api.items>' } },
}

describe('one selection', () => {
  test('a failing run selects the failed block and pass, and marks its line with its input in view', async () => {
    const { page } = visited
    await open(shop)
    await node(page, 'start').click()
    await run()
    await ended()
    await inspector('line').waitFor()
    await until(async () => (await pressed().textContent())?.includes('#2'))
    // The input that it received is in view, and the line is marked.
    const received = inspector('line').getByRole('region', { name: 'Received' })
    await received.getByText('"free"').first().waitFor()
    const failure = inspector('line').locator('.cm-failure')
    await failure.getByText('No price').waitFor()
    const height = page.viewportSize()?.height ?? 0
    for (const part of [received, failure]) {
      const box = await part.boundingBox()
      expect(box && box.y >= 0 && box.y < height).toBe(true)
    }
    expect(await inspector('line').locator('.cm-failed-line').textContent()).toContain('typeof item.price')
    // The error stands there once.
    expect(await page.getByText('No price', { exact: false }).filter({ hasText: 'line 2' }).count()).toBe(1)
    expect(await page.getByRole('region', { name: 'Notifications' }).getByText('No price').count()).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
  }, 120_000)

  test('a row of the console selects its block and pass, and a block its row', async () => {
    const { page } = visited
    await row(/line.*#1/).click()
    await inspector('line').getByRole('region', { name: 'In the latest run, iteration #1' }).waitFor()
    expect(await inspector('line').locator('.cm-failure').count()).toBe(0)
    await card('start').click()
    await until(async () => (await pressed().textContent())?.includes('start'))
    // The chosen pass stays chosen.
    await card('line').click()
    await until(async () => (await pressed().textContent())?.includes('#1'))
    await row('Result').click()
    await inspector('line').waitFor({ state: 'detached' })
    expect(await page.getByText('No price', { exact: false }).count()).toBe(1)
  }, 120_000)
})

describe('the wide inspector', () => {
  test('has input, settings and output side by side, is remembered, and becomes tabs on a narrow screen', async () => {
    const { page } = visited
    await open({ ...shop, name: 'Wide shop' })
    await card('line').click()
    await inspector('line').getByRole('button', { name: 'Open wide' }).click()
    for (const name of ['Input', 'Settings', 'Output'])
      await inspector('line').getByRole('heading', { name, exact: true }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.reload()
    await card('line').click()
    await inspector('line').getByRole('button', { name: 'Back to the panel' }).waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await inspector('line').getByRole('tab', { name: 'Input' }).click()
    await inspector('line').getByRole('region', { name: 'Input', exact: true }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.keyboard.press('Control+.')
    await inspector('line').getByRole('button', { name: 'Open wide' }).waitFor()
  }, 120_000)
})

describe('values beside the fields', () => {
  const order: Draft = {
    name: 'Order',
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'id', type: 'string', value: 'o-77' }] }, at(0)),
      block('order', 'function', { code: 'return { customer: { tier: "gold" }, total: 12 }' }, at(320)),
      block('check', 'condition', { conditions: [{ id: 'yes', expression: 'true' }] }, at(640)),
      block('say', 'variables', { assign: [{ name: 'text', value: 'Hello' }] }, at(960)),
      block('end', 'response', { data: '{ "a": 1 }', status: 200 }, at(1280)),
    ],
    edges: ['start > order', 'order > check', 'check:condition-yes > say', 'say > end'],
    variables: { text: { value: '' } },
  }

  test('are dragged or inserted into fields, which show their result at once', async () => {
    const { page } = visited
    await open(order)
    await run()
    await page.getByText(/^Succeeded in/).waitFor()
    await card('check').click()
    const field = inspector('check').getByLabel('Expression 1')
    await field.fill('')
    await inspector('check').getByRole('button', { name: 'Input', exact: true }).click()
    const values = inspector('check').getByRole('list', { name: 'Values' })
    await values.getByRole('button', { name: 'Expand <order.result>' }).click()
    await values.getByRole('button', { name: 'Expand <order.result.customer>' }).click()
    await values.getByTitle('<order.result.customer.tier>').dragTo(field)
    await until(async () => (await field.inputValue()) === '<order.result.customer.tier>')
    await field.press('End')
    await field.pressSequentially(' === "gold"')
    const result = inspector('check').getByLabel('Result with the values of the run')
    await result.getByText('true').waitFor()
    await field.fill('')
    await values.getByRole('button', { name: 'Insert <order.result.total>' }).press('Enter')
    await until(async () => (await field.inputValue()) === '<order.result.total>')
    await result.getByText('12').waitFor()
    // Results come before errors.
    await field.fill('<order')
    const options = await page.getByRole('listbox', { name: 'References' }).getByRole('option').allTextContents()
    expect(options[0]).toContain('<order.result')
    expect(options.findIndex((text) => text.includes('<order.error>'))).toBeGreaterThan(0)
  }, 120_000)

  test('come from an earlier run when the user chooses one', async () => {
    const { page } = visited
    await card('say').click()
    const field = inspector('say')
      .getByLabel(/value 1/i)
      .first()
    await field.fill('Order <api.id>')
    const result = inspector('say').getByLabel('Result with the values of the run')
    await result.getByText('Order o-77').waitFor()
    const source = inspector('say').getByLabel('Source of run data')
    await until(async () => (await source.locator('option').count()) > 1)
    await source.selectOption({ index: 1 })
    await inspector('say').getByRole('region', { name: 'In the chosen run' }).waitFor()
    await result.getByText('Order o-77').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await source.selectOption({ index: 0 })
    await inspector('say').getByRole('region', { name: 'In the latest run' }).waitFor()
  }, 120_000)

  test('are beside code in the large editor', async () => {
    const { page } = visited
    await card('order').click()
    await inspector('order').getByRole('button', { name: 'Open Code in a large editor' }).click()
    const dialog = page.getByRole('dialog', { name: 'Code' })
    const editor = dialog.getByRole('textbox', { name: 'Code in a large editor' })
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('const id = ')
    await dialog.getByRole('button', { name: 'Insert <start.id>' }).press('Enter')
    await editor.getByText('<start.id>').waitFor()
    // The line after a reference is not indented.
    await page.keyboard.press('Enter')
    await page.keyboard.type('return id')
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    await until(async () => {
      const lines = await inspector('order').locator('.cm-line').allTextContents()
      return lines.join('\n') === 'const id = <start.id>\nreturn id'
    })
    // Typing a reference suggests results first in code, too.
    await inspector('order').locator('.cm-content').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' + <')
    await inspector('order').locator('.cm-tooltip-autocomplete li').first().getByText('<start.id>').waitFor()
    await page.keyboard.press('Escape')
    for (const _ of ' + <') await page.keyboard.press('Backspace')
  }, 120_000)

  test('may be typed into JSON without a false error', async () => {
    const { page } = visited
    // The canvas draws only what is in view.
    await page.getByRole('button', { name: /^Fit to view/ }).click()
    await card('end').click()
    const data = inspector('end').locator('.cm-content').first()
    await data.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('{ "id": <api.id')
    await page.keyboard.press('Escape')
    await inspector('end').getByText('"id"').waitFor()
    expect(await inspector('end').getByText('not JSON').count()).toBe(0)
    await page.keyboard.type('>')
    await inspector('end').getByLabel('Result with the values of the run').getByText('{"id":"o-77"}').waitFor()
  }, 120_000)
})

describe('a block that is tried alone', () => {
  const trying: Draft = {
    name: 'Trying',
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'id', type: 'string', value: 'o-77' }] }, at(0)),
      block('first', 'function', { code: 'return { id: "order " + <api.id> }' }, at(320)),
      block('second', 'function', { code: 'return "got " + <first.result.id>' }, at(640)),
    ],
    edges: ['start > first', 'first > second'],
  }

  test('takes the values of the trigger, and asks for those that do not exist', async () => {
    const { page } = visited
    await open(trying)
    await card('second').click()
    await inspector('second').getByRole('button', { name: 'Run this block' }).click()
    const dialog = page.getByRole('dialog', { name: 'Run second alone' })
    await dialog.getByLabel('<first.result.id>').fill('mine')
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Run this block' }).click()
    await dialog.waitFor({ state: 'detached' })
    await inspector('second').getByText('"got mine"').first().waitFor()
    // The typed text is offered again.
    await inspector('second').getByRole('button', { name: 'Run this block' }).click()
    expect(await dialog.getByLabel('<first.result.id>').inputValue()).toBe('mine')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await card('first').click()
    await inspector('first').getByRole('button', { name: 'Run this block' }).click()
    await inspector('first').getByText('"order o-77"').first().waitFor()
  }, 120_000)

  test('changes only its own card, also after a reload', async () => {
    const { page } = visited
    await run()
    await card('second').getByLabel('Succeeded').waitFor()
    await card('first').click()
    await page.getByText(/^Succeeded in/).waitFor()
    await inspector('first').getByRole('button', { name: 'Run this block' }).click()
    await card('first').getByLabel('Tried alone').waitFor()
    expect(await card('second').getByLabel('Succeeded').count()).toBe(1)
    expect(await card('second').getByLabel('Tried alone').count()).toBe(0)
    await page.getByText(/^Succeeded in/).waitFor()
    await page.reload()
    await card('first').getByLabel('Tried alone').waitFor()
    expect(await card('second').getByLabel('Succeeded').count()).toBe(1)
  }, 120_000)
})

describe('an error of a condition', () => {
  test('stands at the branch whose expression failed', async () => {
    const { page } = visited
    const conditions = [
      { id: 'first', expression: 'false' },
      { id: 'second', expression: '<api.items>.nothing.at.all' },
    ]
    await open({
      name: 'Bad branch',
      blocks: [start, block('check', 'condition', { conditions }, at(320))],
      edges: ['start > check'],
    })
    await run()
    await ended()
    await inspector('check').getByRole('alert').getByText('branch "second"').waitFor()
    expect(await inspector('check').getByLabel('Expression 2').getAttribute('aria-invalid')).toBe('true')
    expect(await inspector('check').getByLabel('Expression 1').getAttribute('aria-invalid')).toBeNull()
    expect(await page.getByText('branch "second"').count()).toBe(1)
  }, 120_000)
})

test('debugging causes no page errors', () => {
  expect(visited.pageErrors).toEqual([])
})
