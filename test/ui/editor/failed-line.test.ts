import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, type Draft } from '../../support/make.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { openWorkflow } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const open = (draft: Draft) => openWorkflow(visited, draft)
const at = (x: number) => ({ position: { x, y: 0 } })
const card = (id: string) => visited.page.locator(`.react-flow__node[data-id="${id}"]`)
const inspector = (name: string) => visited.page.getByRole('complementary', { name: `Block ${name}` })
const run = () => visited.page.getByRole('button', { name: 'Run', exact: true }).click()

describe('the line that an error names', () => {
  const failing: Draft = {
    name: 'Failing',
    blocks: [
      block('start', 'api_trigger', {}, at(0)),
      block('line', 'function', { code: 'const a = 1\nthrow new Error("Too late")' }, at(320)),
      block('other', 'function', { code: 'return 1' }, at(640)),
    ],
    edges: ['start > line', 'line > other'],
  }
  const changed = 'The code has changed since this run.'
  const lines = () => inspector('line').locator('.cm-line')
  const failed = () => inspector('line').locator('.cm-failed-line')
  const failure = () => inspector('line').locator('.cm-failure')
  const saved = () => visited.page.getByRole('status').getByText('Saved', { exact: true }).waitFor()

  test('is followed while the code changes, and the error says that it has changed', async () => {
    const { page } = visited
    await open(failing)
    await run()
    await failure().getByText('Too late').waitFor()
    expect(await failure().textContent()).not.toContain(changed)
    await lines().first().click()
    await page.keyboard.press('Home')
    await page.keyboard.type('// First')
    await page.keyboard.press('Enter')
    await failure().getByText(changed).waitFor()
    expect(await failed().textContent()).toContain('throw new Error')
    // Another selection, and a reload, know only the text.
    await saved()
    await card('other').click()
    await card('line').click()
    await failure().getByText(changed).waitFor()
    expect(await failed().textContent()).toContain('throw new Error')
    await page.reload()
    await card('line').click()
    await failure().getByText(changed).waitFor()
    expect(await failed().textContent()).toContain('throw new Error')
  }, 60_000)

  test('is not marked when other code is in its place', async () => {
    const { page } = visited
    await lines().first().click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('return 1')
    await inspector('line').getByRole('alert').getByText(changed).waitFor()
    await inspector('line').getByRole('alert').getByText('Too late').waitFor()
    expect(await failed().count()).toBe(0)
    await saved()
    await page.reload()
    await card('line').click()
    await inspector('line').getByRole('alert').getByText(changed).waitFor()
    expect(await failed().count()).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
    await run()
    await page.getByText(/^Succeeded in/).waitFor()
    expect(await page.getByText(changed).count()).toBe(0)
  }, 60_000)

  test('is in the expression of a branch, too', async () => {
    await open({
      name: 'Branching',
      blocks: [
        block('start', 'api_trigger', {}, at(0)),
        block('check', 'condition', { conditions: [{ id: 'yes', expression: '<start.input>.a.b' }] }, at(320)),
      ],
      edges: ['start > check'],
    })
    await run()
    const error = inspector('check').getByRole('alert')
    await error.waitFor()
    expect(await error.textContent()).not.toContain('has changed')
    await inspector('check').getByLabel('Expression 1').fill('true')
    await error.getByText('The expression has changed since this run.').waitFor()
  }, 60_000)
})

test('none of this causes an error in the page', () => {
  expect(visited.pageErrors).toEqual([])
})
