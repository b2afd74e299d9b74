import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call, deploy } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
let good: string
let bad: string
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey } = visited
  const trigger = block('start', 'api_trigger', { inputFormat: [{ name: 'city', type: 'string' }] })
  good = await deploy(
    serving.url,
    apiKey,
    document({
      name: 'Weather',
      folder: 'reports',
      blocks: [trigger, block('warm', 'function', { code: 'return { city: <api.city>, celsius: 21 }' })],
      edges: ['start > warm'],
    }),
  )
  bad = await deploy(
    serving.url,
    apiKey,
    document({
      name: 'Broken',
      blocks: [trigger, block('trip', 'function', { code: 'throw new Error("The bridge is out")' })],
      edges: ['start > trip'],
    }),
  )
  for (const city of ['Faro', 'Porto', 'Braga']) await call(good, apiKey, 'POST', { city })
  await call(bad, apiKey, 'POST', { city: 'Faro' })
}, 120_000)
afterAll(() => visited.close())

const rows = () => visited.page.getByRole('grid', { name: 'Log entries' }).getByRole('row')
const openLogs = async (query = '') => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/logs${query}`)
  await page.getByRole('grid', { name: 'Log entries' }).waitFor()
}
/** Waits for a number of entries, not counting the head. */
const shown = (count: number) => until(async () => (await rows().count()) === count + 1)

describe('the log', () => {
  test('finds a run by its filters and opens its trace at the failed block', async () => {
    const { page } = visited
    await openLogs()
    await shown(4)
    await page.getByText('4 runs').waitFor()
    await page.getByText('Failed', { exact: true }).first().click()
    await shown(1)
    expect(new URL(page.url()).searchParams.get('status')).toBe('error')
    await rows().nth(1).click()
    const panel = page.getByRole('complementary', { name: 'Log entry' })
    await panel.getByRole('treeitem', { name: 'trip', selected: true }).waitFor()
    await panel.getByText('Error: The bridge is out').first().waitFor()
    expect(await panel.getByRole('link', { name: 'Broken' }).getAttribute('href')).toMatch(
      new RegExp(`^/workflows/${idIn(bad)}\\?run=[0-9a-f-]+$`),
    )
    expect(await accessibilityFaults(page)).toEqual([])
  })

  test('shows what a shared URL says', async () => {
    const { page, serving } = visited
    const { searchParams } = new URL(page.url())
    const other = await visited.context.newPage()
    await other.goto(page.url())
    await other
      .getByRole('complementary', { name: 'Log entry' })
      .getByText('Error: The bridge is out')
      .first()
      .waitFor()
    await other.goto(`${serving.url}/logs/${searchParams.get('entry')}?view=output`)
    await other.getByText('"The bridge is out').or(other.getByText('The bridge is out')).first().waitFor()
    await other.getByRole('heading', { name: 'Broken' }).waitFor()
    expect(await accessibilityFaults(other)).toEqual([])
    await other.close()
  })

  test('works by keyboard alone', async () => {
    const { page } = visited
    await openLogs('?range=all')
    await shown(4)
    await page.getByRole('grid').focus()
    await page.keyboard.press('ArrowDown')
    const panel = page.getByRole('complementary', { name: 'Log entry' })
    await panel.getByRole('link', { name: 'Broken' }).waitFor()
    await page.keyboard.press('j')
    await panel.getByRole('link', { name: 'Weather' }).waitFor()
    await page.keyboard.press('End')
    await panel.getByText('"Faro"').first().waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.locator('[role=grid]:focus').waitFor()
    await page.keyboard.press('e')
    await shown(1)
    await page.keyboard.press('e')
    await shown(4)
  })

  test('filters by workflow, folder, cost and time', async () => {
    const { page } = visited
    await openLogs('?range=all')
    await page.getByRole('button', { name: 'Workflow', exact: true }).click()
    await page.getByRole('checkbox', { name: 'reports' }).check()
    await shown(3)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'More filters', exact: true }).click()
    await page.getByRole('spinbutton', { name: 'Cost, at least, USD' }).fill('1')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('heading', { name: 'No matching runs' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await shown(4)
    await page
      .getByRole('button', { name: 'Last 24 hours' })
      .or(page.getByRole('button', { name: 'All time' }))
      .click()
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00:00')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('heading', { name: 'No runs in this time range' }).waitFor()
  })

  test('shows new runs while live updates are on', async () => {
    const { apiKey } = visited
    await openLogs('?range=all&live=1')
    await shown(4)
    await call(good, apiKey, 'POST', { city: 'Lagos' })
    await shown(5)
    await visited.page.getByText('5 runs').waitFor()
  })

  test('runs an entry again from its trigger or from a block, and opens the new entry', async () => {
    const { page } = visited
    await openLogs('?range=all')
    await rows().nth(1).click()
    const panel = page.getByRole('complementary', { name: 'Log entry' })
    const before = new URL(page.url()).searchParams.get('entry')
    await panel.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('The run has ended.').waitFor()
    await until(async () => new URL(page.url()).searchParams.get('entry') !== before)
    await panel.getByText('Manual').waitFor()
    await panel.getByRole('treeitem', { name: 'warm' }).click()
    await panel.getByText('"Lagos"').first().waitFor()
    await panel.getByRole('button', { name: 'Run from here' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await shown(7)
    await page.getByText('7 runs').waitFor()
    // The trigger did not run again.
    await panel.getByRole('treeitem', { name: 'start' }).getByText('reused').waitFor()
    await panel.getByText('A part of it').waitFor()
  })

  test('causes no page errors', () => {
    expect(visited.pageErrors).toEqual([])
  })
})

function idIn(endpoint: string): string {
  return endpoint.split('/').at(-2) ?? ''
}
