import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../support/make.ts'
import { call, deploy } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { until } from '../support/ui/editor-page.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
let workflowId: string
beforeAll(async () => {
  visited = await visit()
  await visited.page.setViewportSize({ width: 390, height: 844 })
  const { serving, apiKey } = visited
  const blocks = [block('start', 'api_trigger'), block('trip', 'function', { code: 'throw new Error("No")' })]
  const endpoint = await deploy(serving.url, apiKey, document({ name: 'Order', blocks, edges: ['start > trip'] }))
  workflowId = endpoint.split('/').at(-2) ?? ''
  await call(endpoint, apiKey, 'POST', {})
}, 120_000)
afterAll(() => visited.close())

describe('on a phone', () => {
  const paths = (): string[] => {
    const home = `/w/${visited.workspaceId}`
    const sections = ['keys', 'account', 'environment', 'workspace', 'usage', 'about'].map(
      (name) => `${home}/settings/${name}`,
    )
    return [`${home}/workflows`, `${home}/logs`, `/workflows/${workflowId}/webhooks`, ...sections]
  }

  test('every screen fits the width and is accessible, light and dark', async () => {
    const { page, serving } = visited
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const path of paths()) {
        await page.goto(serving.url + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        const over = await page.evaluate(() => globalThis.document.documentElement.scrollWidth - innerWidth)
        expect([path, colorScheme, over, await accessibilityFaults(page)]).toEqual([path, colorScheme, 0, []])
      }
    }
  }, 120_000)

  test('the header of the editor is one row, in which nothing overlaps and the name can be read', async () => {
    const { page, serving, apiKey } = visited
    const blocks = [block('start', 'api_trigger'), block('end', 'response', { data: '<nowhere.x>' })]
    const draft = document({ name: 'Support triage', blocks, edges: ['start > end'] })
    const { id } = (await call(`${serving.url}/api/workflows`, apiKey, 'POST', draft)).body as { id: string }
    await page.goto(`${serving.url}/workflows/${id}`)
    await page.getByRole('button', { name: /^[0-9] problems?$/ }).waitFor()
    const parts = page.locator('header:has([aria-label="Workflow name"]) > *')
    const all = await parts.evaluateAll((found) => found.map((one) => one.getBoundingClientRect().toJSON() as DOMRect))
    const boxes = all.filter(({ width }) => width > 0)
    expect(boxes.length).toBeGreaterThan(4)
    for (const [at, one] of boxes.entries()) {
      expect([at, one.right <= 390]).toEqual([at, true])
      for (const other of boxes.slice(at + 1)) expect(other.left).toBeGreaterThanOrEqual(one.right)
    }
    const name = page.getByLabel('Workflow name')
    expect(await name.evaluate((input) => input.scrollWidth - input.clientWidth)).toBeLessThanOrEqual(0)
    await page.getByRole('status').getByText('Saved').waitFor()
  })

  test('the controls of the canvas are below it, so that they cover no block', async () => {
    const { page, serving } = visited
    await page.goto(`${serving.url}/workflows/${workflowId}`)
    await page.locator('.react-flow__node').first().waitFor()
    const canvas = (await page.locator('.react-flow').boundingBox())!
    for (const name of ['Add block', 'Add note', 'Tidy up', 'Undo', 'Redo', 'Zoom out', 'Zoom in', 'Fit to view']) {
      const { x, y, width } = (await page.getByRole('button', { name, exact: true }).boundingBox())!
      expect([name, x >= 0, x + width <= 390, y >= canvas.y + canvas.height]).toEqual([name, true, true, true])
    }
    await page.getByRole('button', { name: 'Add block' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
  })

  test('a notice after a replacement does not cover the find bar', async () => {
    const { page, serving, apiKey } = visited
    const blocks = [block('start', 'api_trigger'), block('end', 'response', { data: '<start.x>' })]
    const draft = document({ name: 'Replaced', blocks, edges: ['start > end'] })
    const { id } = (await call(`${serving.url}/api/workflows`, apiKey, 'POST', draft)).body as { id: string }
    await page.goto(`${serving.url}/workflows/${id}`)
    await page.locator('.react-flow__node').first().waitFor()
    await page.keyboard.press('Control+f')
    const bar = page.getByRole('search')
    await bar.getByRole('textbox').first().fill('end')
    await bar.getByRole('button', { name: 'Replace', exact: true }).click()
    await bar.getByRole('textbox').nth(1).fill('last')
    await bar.getByRole('button', { name: 'Replace all' }).click()
    const notice = page.getByRole('region', { name: 'Notifications' }).getByText('Replaced')
    await notice.waitFor()
    const [below, above] = [await bar.boundingBox(), await notice.boundingBox()]
    expect(above!.y + above!.height).toBeLessThan(below!.y)
    expect(above!.y).toBeGreaterThan(0)
  })

  test('one button shows all filters of the log, and says how many are set', async () => {
    const { page, serving, workspaceId } = visited
    await page.goto(`${serving.url}/w/${workspaceId}/logs`)
    const bar = page.getByRole('toolbar', { name: 'Filters' })
    await bar.getByRole('button', { name: 'Filters', exact: true }).click()
    await bar.getByText('Failed', { exact: true }).click()
    await bar.getByRole('button', { name: 'Filters: 1' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    for (const name of ['Workflow', 'Trigger', 'More filters', 'Clear', 'Live']) {
      const { x, width } = (await bar.getByRole('button', { name, exact: true }).boundingBox())!
      expect([name, x >= 0, x + width <= 390]).toEqual([name, true, true])
    }
    await bar.getByRole('button', { name: 'Filters: 1' }).click()
    await bar.getByRole('button', { name: 'Clear' }).waitFor({ state: 'hidden' })
    // One row of filters.
    expect((await bar.boundingBox())!.height).toBeLessThan(60)
    await page.getByRole('row').nth(1).waitFor()
  })

  test('the webhook deliveries fit the width', async () => {
    const { page, serving, apiKey } = visited
    await page.goto(`${serving.url}/workflows/${workflowId}/webhooks?view=deliveries`)
    const created = await page.evaluate(async (id) => {
      const body = JSON.stringify({ url: 'https://hooks.example.com/orders/that/are/new' })
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`/api/editor/workflows/${id}/webhooks`, { method: 'POST', headers, body })).status
    }, workflowId)
    expect(created).toBe(201)
    await call(`${serving.url}/api/workflows/${workflowId}/execute`, apiKey, 'POST', {})
    await page.reload()
    await page.getByRole('button', { name: 'https://hooks.example.com' }).waitFor()
    const table = page.getByRole('region', { name: 'Deliveries' })
    await until(async () => (await table.getByRole('cell').count()) > 0)
    expect(await table.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
  })

  test('the settings show the link to the current page', async () => {
    const { page, serving, workspaceId } = visited
    for (const [part, label] of [
      ['keys', 'API keys'],
      ['workspace', 'Name and members'],
      ['about', 'About'],
    ]) {
      await page.goto(`${serving.url}/w/${workspaceId}/settings/${part}`)
      const link = page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: label! })
      await link.waitFor()
      const { x, width } = (await link.boundingBox())!
      expect([part, x >= 0, x + width <= 390]).toEqual([part, true, true])
    }
  })

  test('a log entry covers the list and closes again', async () => {
    const { page, serving, workspaceId } = visited
    await page.goto(`${serving.url}/w/${workspaceId}/logs`)
    await page.getByRole('row').nth(1).click()
    const panel = page.getByRole('complementary', { name: 'Log entry' })
    await panel.getByText('Error: No').first().waitFor()
    expect((await panel.boundingBox())?.width).toBe(390)
    await panel.getByRole('button', { name: 'Close' }).click()
    await panel.waitFor({ state: 'detached' })
    expect(visited.pageErrors).toEqual([])
  })
})

test('on a page of 1024 pixels, the console has room for the values of a block beside its inspector', async () => {
  const { page, serving } = visited
  // The list of blocks is open on a wide page, and stays open.
  await page.setViewportSize({ width: 1440, height: 768 })
  await page.goto(`${serving.url}/workflows/${workflowId}`)
  await page.locator('.react-flow__node').first().waitFor()
  await page.setViewportSize({ width: 1024, height: 768 })
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText(/^Failed after/).waitFor()
  await page.getByRole('complementary', { name: 'Block trip' }).waitFor()
  const list = page.getByRole('list', { name: 'Blocks that ran' })
  const [own, all] = [await list.boundingBox(), await list.locator('..').boundingBox()]
  expect(all!.width - own!.width).toBeGreaterThan(220)
})

test('on a page of 1024 pixels, the logs give the most room to the workflow and its error', async () => {
  const { page, serving, workspaceId } = visited
  await page.setViewportSize({ width: 1024, height: 768 })
  await page.goto(`${serving.url}/w/${workspaceId}/logs`)
  const cells = page.getByRole('row').nth(1).getByRole('gridcell')
  await cells.first().waitFor()
  const widths = await cells.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
  expect(Math.max(...widths)).toBe(widths[1]!)
  expect(widths[1]!).toBeGreaterThan(300)
})
