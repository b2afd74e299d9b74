import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { sizesOf } from '../../../src/ui/editor/canvas/geometry.ts'
import type { Document } from '../../../src/ui/editor/document/document.ts'
import { call } from '../../support/running-service.ts'
import { timeoutMs, type Visit, visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'

let visited: Visit
let sample: string
beforeAll(async () => {
  visited = await visit()
  await visited.page.waitForURL(/\/workflows\//)
  // This page opens the sample and sends requests of its own; the tests count theirs after it has finished.
  await visited.page.locator('.react-flow__node').first().waitFor()
  sample = visited.page.url()
}, 120_000)
afterAll(() => visited.close())

async function make(document: Pick<Document, 'name' | 'blocks' | 'edges'>): Promise<string> {
  const { body } = await call(`${visited.serving.url}/api/workflows`, visited.apiKey, 'POST', document)
  return `${visited.serving.url}/workflows/${(body as { id: string }).id}`
}

const workflowPath = () => `/api/workflows/${sample.split('/').at(-1)}`

/** Counts how often a page requests the session, the block types and the sample. */
function requestsOf(page: Page): () => number[] {
  const paths: string[] = []
  page.on('request', (request) => paths.push(new URL(request.url()).pathname))
  const counted = ['/api/editor/me', '/api/editor/blocks', workflowPath()]
  return () => counted.map((path) => paths.filter((one) => one === path).length)
}

function grid(count: number, name: string): Pick<Document, 'name' | 'blocks' | 'edges'> {
  const ids = Array.from({ length: count }, (_, at) => `b${at}`)
  const blocks = ids.map((id, at) => {
    const position = { x: (at % 15) * 300, y: Math.floor(at / 15) * 140 }
    return [id, { id, type: at === 0 ? 'api_trigger' : 'wait', name: `Block ${at}`, position }] as const
  })
  const edges = ids.slice(1).map((target, at) => ({ id: `e${at}`, source: ids[at]!, target }))
  return { name, blocks: Object.fromEntries(blocks), edges }
}

test('opening a workflow loads it once, and the session once', async () => {
  const { page } = visited
  const asked = requestsOf(page)
  await page.goto(sample)
  await page.locator('.react-flow__node').first().waitFor()
  expect(asked()).toEqual([1, 1, 1])
})

test('a workflow that arrives long before the code of the editor is not loaded again', async () => {
  const page = await visited.context.newPage()
  await page.clock.install()
  const code = Promise.withResolvers<void>()
  await page.route(/\/assets\/editor-screen/, async (route) => {
    await code.promise
    await route.continue()
  })
  const asked = requestsOf(page)
  const workflow = page.waitForResponse((response) => new URL(response.url()).pathname === workflowPath())
  await page.goto(sample)
  await (await workflow).finished()
  await page.clock.fastForward(30_000)
  code.resolve()
  await page.locator('.react-flow__node').first().waitFor()
  expect(asked()).toEqual([1, 1, 1])
  await page.close()
})

test('when the service is unavailable, the workflow is retried, then the error is shown', async () => {
  const { page } = visited
  let asked = 0
  const isWorkflow = (url: URL) => url.pathname === workflowPath()
  await page.route(isWorkflow, (route) => {
    asked += 1
    return route.fulfill({ status: 503, json: { error: 'The disk is full', code: 'STORAGE_UNAVAILABLE' } })
  })
  await page.goto(sample)
  await page.getByText('The disk is full').waitFor({ timeout: timeoutMs })
  await page.unroute(isWorkflow)
  // The editor may load before the first response and use it.
  expect([3, 4]).toContain(asked)
}, 120_000)

test('cards have the height that the editor computes before drawing them', async () => {
  const { page, serving, context } = visited
  const response = await context.request.get(`${serving.url}/api/editor/blocks`)
  const types = ((await response.json()) as { data: { type: string }[] }).data.map(({ type }) => type)
  const params: Record<string, Record<string, unknown>> = {
    condition: { conditions: [{ id: 'a', expression: 'true' }] },
    router: { routes: [{ id: 'a', description: 'One' }] },
  }
  const blocks = types.map((type, at) => {
    const position = { x: (at % 4) * 500, y: Math.floor(at / 4) * 300 }
    return [type, { id: type, type, name: type, position, ...(params[type] ? { params: params[type] } : {}) }] as const
  })
  const document = { name: 'All blocks', blocks: Object.fromEntries(blocks), edges: [] }
  await page.goto(await make(document))
  const nodes = page.locator('.react-flow__node')
  await until(async () => (await nodes.count()) === types.length)
  const seen = await nodes.evaluateAll((all) =>
    all.map((one) => {
      const { dataset, offsetWidth: width, offsetHeight: height } = one as HTMLElement
      return [dataset['id'], { width, height }]
    }),
  )
  expect(new Map(seen as [string, { width: number; height: number }][])).toEqual(sizesOf(document))
}, 120_000)

test('a large workflow is drawn completely, and fits into view when asked before it is complete', async () => {
  const { page } = visited
  await page.goto(await make(grid(150, 'Shown')))
  const nodes = page.locator('.react-flow__node')
  await nodes.first().waitFor()
  await page.keyboard.press('f')
  await until(async () => (await nodes.count()) === 150)
  await until(async () => (await page.locator('.react-flow__edge').count()) === 149)
  const box = (await page.locator('.react-flow__pane').boundingBox())!
  // The canvas moves with an animation.
  await until(async () => {
    const last = await nodes.last().boundingBox()
    return last && last.x + last.width <= box.x + box.width && last.y + last.height <= box.y + box.height
  })
  expect(await nodes.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset['id']))).toEqual(
    Array.from({ length: 150 }, (_, at) => `b${at}`),
  )
}, 120_000)

test('an edit made before all blocks are drawn applies to all of them', async () => {
  const { page } = visited
  await page.goto(await make(grid(150, 'Emptied')))
  await page.locator('.react-flow__node').first().waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await until(async () => (await page.locator('.react-flow__node').count()) === 0)
  await page.keyboard.press('Control+z')
  await until(async () => (await page.locator('.react-flow__node').count()) === 150)
  await page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
}, 120_000)

test('shortcuts work as soon as a block is visible', async () => {
  const { page } = visited
  for (let round = 0; round < 3; round += 1) {
    await page.goto('about:blank')
    // Inside the page, because a key press from outside arrives too late.
    await page.addInitScript(() => {
      const look = () => {
        const node = document.querySelector('.react-flow__node')
        if (!node || getComputedStyle(node).visibility !== 'visible') return void requestAnimationFrame(look)
        dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true }))
      }
      requestAnimationFrame(look)
    })
    await page.goto(sample)
    await page.getByText(/Succeeded in/).waitFor({ timeout: timeoutMs })
  }
}, 120_000)

test('opening workflows causes no page errors', () => {
  expect(visited.pageErrors).toEqual([])
})
