import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { sizesOf } from '../../../src/ui/editor/canvas/geometry.ts'
import { portPlaces } from '../../../src/ui/editor/canvas/port-places.ts'
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

test('cards have the size and the ports that the editor computes before drawing them', async () => {
  const { page, serving, context } = visited
  const response = await context.request.get(`${serving.url}/api/editor/blocks`)
  const types = ((await response.json()) as { data: { type: string }[] }).data.map(({ type }) => type)
  const params: Record<string, Record<string, unknown>> = {
    condition: { conditions: [{ id: 'a', expression: 'true' }] },
    router: { routes: [{ id: 'a', description: 'One' }] },
  }
  const blocks = types.map((type, at) => {
    const position = { x: (at % 5) * 260, y: Math.floor(at / 5) * 200 }
    return [type, { id: type, type, name: type, position, ...(params[type] ? { params: params[type] } : {}) }] as const
  })
  const document: Document = { name: 'All blocks', blocks: Object.fromEntries(blocks), edges: [] }
  await page.goto(await make(document))
  const nodes = page.locator('.react-flow__node')
  await until(async () => (await nodes.count()) === types.length)
  const seen = await nodes.evaluateAll((all) =>
    all.map((one) => {
      const { dataset, offsetWidth: width, offsetHeight: height } = one as HTMLElement
      const box = one.getBoundingClientRect()
      const zoom = box.width / width
      const ports = [...one.querySelectorAll<HTMLElement>('.react-flow__handle')].map((port) => {
        const { x, y, width: size } = port.getBoundingClientRect()
        const middle = { x: (x + size / 2 - box.x) / zoom, y: (y + size / 2 - box.y) / zoom }
        return { id: port.dataset['handleid']!, ...middle }
      })
      return { id: dataset['id']!, size: { width, height }, ports }
    }),
  )
  const sizes = sizesOf(document)
  expect(new Map(seen.map(({ id, size }) => [id, size]))).toEqual(sizes)
  const wrong = seen.flatMap(({ id, ports }) => {
    const places = new Map(portPlaces(document.blocks[id]!, sizes.get(id)!).map((port) => [port.id!, port]))
    const ids = ports.map((port) => port.id).toSorted()
    if (ids.join() !== [...places.keys()].toSorted().join()) return [`${id}: ${ids}`]
    return ports.flatMap((port) => {
      const { x, y, width, height } = places.get(port.id)!
      const distance = Math.hypot(port.x - x - width! / 2, port.y - y - height! / 2)
      return distance > 1 ? [`${id} ${port.id}: ${distance}`] : []
    })
  })
  expect(wrong).toEqual([])
}, 120_000)

/** The blocks that are drawn, and those of them that are out of view. */
async function drawn(page: Page): Promise<{ ids: string[]; away: string[] }> {
  return await page.evaluate(() => {
    const view = document.querySelector('.react-flow')!.getBoundingClientRect()
    const nodes = [...document.querySelectorAll<HTMLElement>('.react-flow__node')]
    const isAway = (node: HTMLElement) => {
      const { left, right, top, bottom } = node.getBoundingClientRect()
      return right < view.left || left > view.right || bottom < view.top || top > view.bottom
    }
    const idOf = (node: HTMLElement) => node.dataset['id']!
    return { ids: nodes.map(idOf), away: nodes.filter(isAway).map(idOf) }
  })
}

test('of 500 blocks, only those in view are drawn, and all of them when they fit into view', async () => {
  const { page } = visited
  await page.goto(await make(grid(500, 'Large')))
  const nodes = page.locator('.react-flow__node')
  await nodes.first().waitFor()
  const first = await drawn(page)
  expect(first.ids).toContain('b0')
  expect(first.ids.length).toBeLessThan(80)
  expect(first.away).toEqual([])
  expect(await page.locator('.react-flow__edge').count()).toBeLessThan(100)
  await page.keyboard.press('f')
  await until(async () => (await nodes.count()) === 500)
  await until(async () => (await page.locator('.react-flow__edge').count()) === 499)
  const box = (await page.locator('.react-flow__pane').boundingBox())!
  // The canvas moves with an animation.
  await until(async () => {
    const last = await nodes.last().boundingBox()
    return last && last.x + last.width <= box.x + box.width && last.y + last.height <= box.y + box.height
  })
  expect((await drawn(page)).ids).toEqual(Array.from({ length: 500 }, (_, at) => `b${at}`))
  const sizes = await page.locator('.card-name').evaluateAll((names) => {
    const { a } = new DOMMatrixReadOnly(getComputedStyle(document.querySelector('.react-flow__viewport')!).transform)
    return [...new Set(names.map((name) => Number.parseFloat(getComputedStyle(name).fontSize) * a))]
  })
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(11)
}, 120_000)

test('fitting 500 blocks into view draws them in portions, over several frames', async () => {
  const { page } = visited
  await page.goto(await make(grid(500, 'Fitted')))
  await page.locator('.react-flow__node').first().waitFor()
  const counts = await page.evaluate(async () => {
    const drawn = () => document.querySelectorAll('.react-flow__node').length
    const seen = [drawn()]
    dispatchEvent(new KeyboardEvent('keydown', { key: 'f', bubbles: true, cancelable: true }))
    while (seen.at(-1)! < 500) {
      await new Promise(requestAnimationFrame)
      seen.push(drawn())
    }
    return seen
  })
  const portions = counts.slice(1).map((count, at) => count - counts[at]!)
  expect(Math.max(...portions)).toBeLessThan(60)
}, 120_000)

test('keys and commands reach blocks that are not drawn', async () => {
  const { page } = visited
  await page.goto(await make(grid(500, 'Reached')))
  const nodes = page.locator('.react-flow__node')
  await nodes.first().waitFor()
  // Tab brings the next block into view, in the order of the workflow.
  const inView = await drawn(page)
  const last = inView.ids.findLast((id, at) => Number(id.slice(1)) === at)!
  const next = `b${Number(last.slice(1)) + 1}`
  expect(inView.ids).not.toContain(next)
  const focused = () => page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset['id'])
  await page.locator(`.react-flow__node[data-id="${last}"]`).focus()
  // The line to the next block comes before it, if it is drawn.
  const toNext = await page.locator(`.react-flow__edge[aria-label*="${last}"]`).count()
  await page.keyboard.press('Tab')
  if (toNext > 0 && (await focused()) !== next) await page.keyboard.press('Tab')
  await until(async () => (await focused()) === next)
  await until(async () => (await drawn(page)).away.length === 0)
  // A block that left the view with the focus is where Tab continues.
  const box = (await page.locator('.react-flow__pane').boundingBox())!
  // The canvas may still be moving by itself.
  const leave = async (id: string) => {
    await page.mouse.move(box.x + box.width / 2, box.y + box.height - 20)
    await page.mouse.wheel(0, 1_000)
    return !(await drawn(page)).ids.includes(id)
  }
  await until(() => leave(next))
  await page.keyboard.press('Shift+Tab')
  await until(async () => (await focused()) === last)
  // Walking along a line.
  await page.locator(`.react-flow__node[data-id="${last}"]`).click({ position: { x: 20, y: 10 } })
  await until(() => leave(last))
  await page.keyboard.press('Alt+ArrowRight')
  await until(async () => (await focused()) === next)
}, 120_000)

test('edits apply to blocks that are not drawn', async () => {
  const { page } = visited
  await page.goto(await make(grid(150, 'Emptied')))
  const nodes = page.locator('.react-flow__node')
  await nodes.first().waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await until(async () => (await nodes.count()) === 0)
  await page.keyboard.press('Control+z')
  await page.keyboard.press('f')
  await until(async () => (await nodes.count()) === 150)
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
