import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call, deploy } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
let orders: string
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey } = visited
  orders = await deploy(serving.url, apiKey, ordersAs('Order pipeline', 'check'))
  await call(orders, apiKey, 'POST', { order: 'A7', customer: 'Acme' })
  await call(orders, apiKey, 'POST', { order: 'B8', customer: 'Zürich AG' })
  await call(orders, apiKey, 'POST', { order: 'bad', customer: 'Acme' })
  // The live version and the draft differ from the version that ran.
  const workflow = `${serving.url}/api/workflows/${idIn(orders)}`
  await call(workflow, apiKey, 'PUT', ordersAs('Order pipeline', 'checkLive'))
  await call(`${workflow}/deploy`, apiKey, 'POST')
  await call(`${workflow}/deployments/2`, apiKey, 'PATCH', { name: 'New checks' })
  await call(workflow, apiKey, 'PUT', ordersAs('Order pipeline', 'checkDraft'))
  const slow = document({
    name: 'Slow',
    blocks: [block('start', 'manual_trigger'), block('pause', 'wait', { ms: 60_000 })],
    edges: ['start > pause'],
  })
  const endpoint = await deploy(serving.url, apiKey, slow)
  await cancelledRun(idIn(endpoint))
}, 120_000)
afterAll(() => visited.close())

/** Fails for the order `bad`, in the third of seven lines. */
function ordersAs(name: string, checkName: string) {
  const code = [
    'const order = <api.input.order>',
    'const known = ["A7", "B8"]',
    'if (!known.includes(order)) throw new Error("Unknown order " + order)',
    'return { order }',
  ].join('\n')
  const far = { position: { x: 2_400, y: 300 } }
  return document({
    name,
    blocks: [
      block('start', 'api_trigger', { labels: { customer: '<api.input.customer>' } }, { position: { x: 0, y: 0 } }),
      block('check', 'function', { code }, { name: checkName, ...far }),
    ],
    edges: ['start > check'],
  })
}

/** Starts a manual run in the page's session, and stops it. */
async function cancelledRun(workflowId: string): Promise<void> {
  const { page, serving, apiKey, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/logs`)
  const executionId = await page.evaluate(async (id) => {
    const response = await fetch(`/api/editor/workflows/${id}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    return ((await response.json()) as { executionId: string }).executionId
  }, workflowId)
  const run = `${serving.url}/api/workflows/${workflowId}/executions/${executionId}`
  await until(async () => (await call(`${run}/cancel`, apiKey, 'POST')).status < 300)
  const logs = `${serving.url}/api/v1/logs?workspaceId=${workspaceId}&status=cancelled`
  await until(async () => ((await call(logs, apiKey)).body as { data: unknown[] }).data.length === 1)
}

const idIn = (endpoint: string) => endpoint.split('/').at(-2) ?? ''
const rows = () => visited.page.getByRole('grid', { name: 'Log entries' }).getByRole('row')
const shown = (count: number) => until(async () => (await rows().count()) === count + 1)
const panel = () => visited.page.getByRole('complementary', { name: 'Log entry' })
const openLogs = async (query = '') => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/logs${query}`)
  await page.getByRole('grid', { name: 'Log entries' }).waitFor()
}

describe('the list of runs', () => {
  test('says why a run failed, in which block, which version ran, and its labels', async () => {
    await openLogs()
    await shown(4)
    const failed = rows().filter({ hasText: 'Unknown order bad' })
    await failed.getByText('check:').waitFor()
    await failed.getByText('customer: Acme').waitFor()
    await failed.getByText('v1').waitFor()
    await rows().filter({ hasText: 'Slow' }).getByText('Draft').waitFor()
  })

  test('shows and counts a cancelled run as cancelled, not as failed', async () => {
    const { page } = visited
    await page.getByText('4 runs').waitFor()
    await page.getByText('1 failed').waitFor()
    await page.getByText('1 cancelled').waitFor()
    await rows().filter({ hasText: 'Slow' }).getByRole('img', { name: 'Cancelled' }).waitFor()
    await page.getByRole('toolbar', { name: 'Filters' }).getByText('Failed', { exact: true }).click()
    await shown(1)
    await page.getByRole('toolbar', { name: 'Filters' }).getByText('Cancelled', { exact: true }).click()
    await rows().filter({ hasText: 'Slow' }).waitFor()
    await shown(1)
    expect(await accessibilityFaults(page)).toEqual([])
  })

  test('is searched for a text in errors, labels, workflow names and IDs', async () => {
    const { page } = visited
    await openLogs()
    const search = page.getByRole('searchbox', { name: /^Search in errors/ })
    for (const [text, count] of [
      ['UNKNOWN ORDER', 1],
      ['zürich', 1],
      ['pipeline', 3],
      [idIn(orders), 3],
      ['no such text', 0],
    ] as const) {
      await search.fill(text)
      await until(async () => new URL(page.url()).searchParams.get('search') === text)
      if (count > 0) await shown(count)
      else await page.getByRole('heading', { name: 'No matching runs' }).waitFor()
    }
    await openLogs('?labels=customer:Acme')
    await shown(2)
  })
})

describe('a failed entry', () => {
  test('shows the failing line and its input after at most two clicks', async () => {
    const { page } = visited
    await openLogs('?status=error')
    await shown(1)
    await page.evaluate(() => {
      const counted = window as unknown as { clicks: number }
      counted.clicks = 0
      addEventListener('click', ({ isTrusted }) => (counted.clicks += isTrusted ? 1 : 0), true)
    })
    await rows().nth(1).click()
    const line = panel().getByRole('region', { name: 'Code' }).locator('[aria-current=location]')
    await line.getByText('throw new Error("Unknown order " + order)').waitFor()
    const input = panel().getByRole('region', { name: 'Input' })
    await input.getByText('"bad"').waitFor()
    for (const part of [line, input]) {
      const box = (await part.boundingBox())!
      expect(box.y + Math.min(box.height, 40)).toBeLessThanOrEqual(page.viewportSize()!.height)
    }
    expect(await panel().getByText('Unknown order bad').count()).toBe(1)
    expect(await page.evaluate(() => (window as unknown as { clicks: number }).clicks)).toBeLessThanOrEqual(2)
    expect(await accessibilityFaults(page)).toEqual([])
  })

  test('opens its canvas at the failed block', async () => {
    const { page } = visited
    await panel().getByRole('tab', { name: 'Canvas' }).click()
    const failed = panel().locator('.react-flow__node', { hasText: 'check' })
    const canvas = panel().locator('.react-flow')
    await until(async () => {
      const [inner, outer] = [await failed.boundingBox(), await canvas.boundingBox()]
      return inner && outer && inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width
    })
    await panel().getByText('Unknown order bad').first().waitFor()
    expect(page.url()).toContain('view=canvas')
  })
})

test('a failed entry opens in the editor at the failed block, with its error and its input', async () => {
  const { page } = visited
  const failure = page.locator('.cm-failure')
  const check = page.getByRole('complementary', { name: 'Block checkDraft' })
  await openLogs('?status=error')
  await rows().nth(1).click()
  await panel().getByRole('link', { name: 'Order pipeline' }).click()
  await failure.getByText('Unknown order bad').waitFor()
  await check.getByRole('region', { name: 'Received' }).getByText('"bad"').waitFor()
  // The page of the entry leads there, too. A run that the editor has shown since is replaced.
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText(/^Failed after/).waitFor()
  await openLogs('?status=error&search=bad')
  await rows().nth(1).click()
  await panel().getByRole('button', { name: 'Open full page' }).click()
  await page.getByRole('button', { name: 'Open in editor' }).click()
  await failure.getByText('Unknown order bad').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
})

describe('running again', () => {
  const again = async (version: string) => {
    const { page } = visited
    await openLogs('?search=zürich')
    await rows().last().click()
    await panel().getByRole('button', { name: 'Run again' }).click()
    const dialog = page.getByRole('dialog', { name: 'Run again' })
    await dialog.getByText('Side effects happen again').waitFor()
    await dialog.getByText('"B8"').waitFor()
    await dialog.getByRole('radio', { name: new RegExp(`^${version}`) }).check()
    if (version === 'As it ran') expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    await panel().getByText('Run again', { exact: true }).last().waitFor()
  }

  test('uses the version that ran by default, the live one or the draft', async () => {
    const { page } = visited
    await openLogs('?search=zürich')
    await rows().last().click()
    await panel().getByRole('button', { name: 'Run again' }).click()
    expect(await page.getByRole('radio', { name: /^As it ran/ }).isChecked()).toBe(true)
    await page.keyboard.press('Escape')
    await again('As it ran')
    await panel()
      .getByRole('treeitem', { name: /\bcheck\b/ })
      .waitFor()
    await again('Live version')
    await panel().getByRole('treeitem', { name: 'checkLive' }).waitFor()
    await panel().getByText('v2 · New checks').waitFor()
    await again('Draft')
    await panel().getByRole('treeitem', { name: 'checkDraft' }).waitFor()
  }, 60_000)

  test('shows the request that started it, and sends it again', async () => {
    const { page, serving, apiKey } = visited
    const path = crypto.randomUUID()
    const hooked = document({
      name: 'Hooked again',
      blocks: [
        block('hook', 'webhook_trigger', { path, respond: 'workflow' }),
        block('hail', 'function', { code: 'return `Ahoy ${<hook.body.name>}`' }),
      ],
      edges: ['hook > hail'],
    })
    await deploy(serving.url, apiKey, hooked)
    await call(`${serving.url}/api/webhooks/trigger/${path}`, apiKey, 'POST', { name: 'Odysseus' })
    await openLogs('?search=Hooked%20again')
    await rows().last().click()
    await panel().getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('dialog').locator('.cm-content').getByText('Odysseus').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await panel().getByText('Manual').first().waitFor()
    await panel().getByRole('treeitem', { name: 'hail' }).click()
    await panel().getByText('Ahoy Odysseus').first().waitFor()
  }, 60_000)

  test('of all entries of a filter asks for the version and the pace, and shows the progress', async () => {
    const { page } = visited
    await openLogs('?search=unknown order bad')
    await shown(1)
    await page.getByRole('button', { name: 'Run all again' }).click()
    const dialog = page.getByRole('dialog', { name: 'Run all again' })
    await dialog.getByText('Side effects happen again').waitFor()
    await dialog.getByLabel('Runs per second').fill('50')
    await dialog.getByRole('button', { name: 'Run 1 entry again' }).click()
    await dialog.getByText('All runs have started.').waitFor()
    await dialog.getByText('1 of 1 started').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.keyboard.press('r')
    await shown(2)
  })

  test('causes no page errors', () => {
    expect(visited.pageErrors).toEqual([])
  })
})
