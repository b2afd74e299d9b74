import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { openWorkflow, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

test('the limits of a workflow are set by keyboard, and an invalid one is explained and not saved', async () => {
  const { page, pageErrors } = visited
  const id = await openWorkflow(visited, { name: 'Limited', blocks: [block('Start', 'api_trigger')] })
  await page.getByRole('button', { name: 'More', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Description, run variables and limits' }).focus()
  await page.keyboard.press('Enter')
  const field = page.getByRole('dialog').getByLabel('Time limit of a run (ms)')
  await field.focus()
  await page.keyboard.type('2500')
  // The dialog hides the status of saving.
  const { serving, apiKey } = visited
  const limits = async () =>
    ((await call(`${serving.url}/api/workflows/${id}`, apiKey)).body as { limits?: unknown }).limits
  await until(async () => Bun.deepEquals(await limits(), { timeoutMs: 2_500 }))
  await page.getByText('The time in a pause does not count.').waitFor()
  await field.fill('2.5')
  await page.getByText('Enter a whole number from 1 to 604,800,000.').waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  expect(await limits()).toEqual({ timeoutMs: 2_500 })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await accessibilityFaults(page)).toEqual([])
      const shots = process.env['SHOTS']
      if (shots !== undefined) await page.screenshot({ path: `${shots}/limits-${colorScheme}-${width}.png` })
    }
  }
  await field.fill('')
  await until(async () => (await limits()) === undefined)
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Concurrent runs').fill('3')
  await dialog.getByLabel('Starts per window').fill('100')
  await until(async () => Bun.deepEquals(await limits(), { concurrency: 3 }))
  await dialog.getByLabel('Window (ms)').fill('60000')
  await dialog.getByLabel('Limit key').fill('<start.customer>')
  await dialog.getByLabel('When a limit is reached').selectOption('replace')
  await dialog.getByLabel('Starts that may wait').fill('50')
  await dialog.getByLabel('Priority').fill('-3')
  const all = { concurrency: 3, rate: { count: 100, windowMs: 60_000 }, key: '<start.customer>', beyond: 'replace' }
  await until(async () => Bun.deepEquals(await limits(), { ...all, queueMax: 50, priority: -3 }))
  await dialog.getByLabel('Debounce: quiet time (ms)').fill('500')
  await dialog.getByLabel('Debounce: longest delay (ms)').fill('9000')
  const debounce = { quietMs: 500, maxMs: 9_000 }
  await until(async () => Bun.deepEquals(((await limits()) as { debounce?: unknown }).debounce, debounce))
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await accessibilityFaults(page)).toEqual([])
      const shots = process.env['SHOTS']
      if (shots !== undefined) await page.screenshot({ path: `${shots}/all-limits-${colorScheme}-${width}.png` })
    }
  }
  await dialog.getByLabel('When a limit is reached').selectOption('skip')
  await dialog.getByLabel('Starts that may wait').waitFor({ state: 'detached' })
  await dialog.getByLabel('Starts per window').fill('')
  await until(async () => ((await limits()) as { rate?: unknown }).rate === undefined)
  expect(pageErrors).toEqual([])
}, 120_000)
