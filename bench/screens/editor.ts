import type { Page } from 'playwright-core'
import { call } from '../../test/support/running-service.ts'
import { launch, type Visit, visit } from '../../test/support/ui/browser.ts'

/**
 * `bun bench/screens/editor.ts`: the editor in headless Chromium with the executable. Measures the duration of a cold
 * load, the bytes of a second load, how workflows of 300 and 500 blocks open, and the frame rate while the canvas is
 * panned and a block is dragged: at the zoom at which they open, and with all blocks in view.
 */
async function bench(): Promise<void> {
  const visited = await visit()
  try {
    const loads = await measureLoads(visited)
    const large = [await measureLarge(visited, 300), await measureLarge(visited, 500)]
    const memory = await measureMemory(visited, 40)
    console.log(JSON.stringify({ ...loads, large, ...memory }, null, 2))
  } finally {
    await visited.close()
  }
}

/** Opens a canvas with the sample in a fresh browser, then once more. */
async function measureLoads({ context, page }: Visit) {
  const state = await context.storageState()
  const address = page.url()
  const browser = await launch()
  try {
    const cold: number[] = []
    let second = { ms: 0, bytes: 0, firstBytes: 0 }
    for (let round = 0; round < 5; round += 1) {
      const fresh = await browser.newContext({ storageState: state, viewport: { width: 1440, height: 900 } })
      const tab = await fresh.newPage()
      const count = await countBytes(tab)
      cold.push((await open(tab, address)).shownMs)
      const firstBytes = count()
      // Navigate by address like a returning visitor. "Reload" would request every file again.
      await tab.goto('about:blank')
      const before = count()
      const { shownMs } = await open(tab, address)
      second = { ms: shownMs, bytes: count() - before, firstBytes }
      await fresh.close()
    }
    return {
      coldLoadMs: median(cold),
      firstLoadBytes: second.firstBytes,
      secondLoadMs: Math.round(second.ms),
      secondLoadBytes: second.bytes,
    }
  } finally {
    await browser.close()
  }
}

/**
 * The time from the start of the navigation until the blocks in view have been drawn, by the page's own clock; and the
 * longest task of the main thread until then.
 */
async function open(page: Page, address: string) {
  await page.addInitScript(() => {
    const seen: Partial<Opened> = { longestTaskMs: 0 }
    Object.assign(globalThis, { opened: seen })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.longestTaskMs = Math.max(seen.longestTaskMs!, duration)
    }).observe({ type: 'longtask', buffered: true })
    // It has been drawn when the next frame begins.
    const look = () => {
      const node = document.querySelector('.react-flow__node')
      const isShown = node !== null && getComputedStyle(node).visibility === 'visible'
      requestAnimationFrame((now) => {
        if (isShown) seen.shownMs = now
        else look()
      })
    }
    requestAnimationFrame(look)
  })
  await page.goto(address, { waitUntil: 'commit' })
  await page.waitForFunction(() => (globalThis as unknown as { opened: Partial<Opened> }).opened.shownMs)
  // The browser reports the last task after it ends.
  await page.waitForTimeout(200)
  return await page.evaluate(() => (globalThis as unknown as { opened: Opened }).opened)
}

type Opened = { shownMs: number; longestTaskMs: number }

/** Counts the compressed bytes that arrive over the network. */
async function countBytes(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  return () => bytes
}

async function measureLarge({ serving, apiKey, page }: Visit, count: number) {
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', largeWorkflow(count))
  const opened = await open(page, `${serving.url}/workflows/${(body as { id: string }).id}`)
  const drawn = await page.locator('.react-flow__node').count()
  const near = await measureMoves(page, 2)
  // Fit everything into view, because a large workflow opens at its beginning.
  const fit = await frames(page, async () => {
    await page.keyboard.press('f')
    await page.waitForFunction((all) => document.querySelectorAll('.react-flow__node').length === all, count)
    await page.waitForTimeout(400)
  })
  const all = await measureMoves(page, 20)
  return {
    blocks: count,
    openMs: Math.round(opened.shownMs),
    openLongestTaskMs: Math.round(opened.longestTaskMs),
    ...{ drawn, near, fit, all },
  }
}

/** Pans the canvas and drags the block at an index. */
async function measureMoves(page: Page, index: number) {
  const box = (await page.locator('.react-flow__pane').boundingBox())!
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 30)
  const pan = await frames(page, async () => {
    for (let step = 0; step < 60; step += 1) await page.mouse.wheel(step < 30 ? 25 : -25, step < 30 ? 10 : -10)
  })
  const id = await page.locator('.react-flow__node').nth(index).getAttribute('data-id')
  const dragged = page.locator(`.react-flow__node[data-id="${id}"]`)
  const node = (await dragged.boundingBox())!
  const drag = await frames(page, async () => {
    await page.mouse.move(node.x + node.width / 2, node.y + 8)
    await page.mouse.down()
    for (let step = 0; step < 60; step += 1) await page.mouse.move(node.x + step * 4, node.y + step * 2)
    await page.mouse.up()
  })
  const moved = (await dragged.boundingBox())!
  if (Math.abs(moved.x - node.x) < 100) throw new Error('The block was not dragged')
  return { pan, drag }
}

function largeWorkflow(count: number) {
  const ids = Array.from({ length: count }, (_, at) => `b${at}`)
  const blocks = ids.map((id, at) => {
    const position = { x: (at % 20) * 300, y: Math.floor(at / 20) * 140 }
    if (at === 0) return { id, type: 'api_trigger', name: 'Start', position }
    return { id, type: 'function', name: `Step ${at}`, position, params: { code: `return ${at}` } }
  })
  const edges = ids.slice(1).map((target, at) => ({ id: `e${at}`, source: ids[at], target }))
  return { name: `Large ${count}`, blocks: Object.fromEntries(blocks.map((block) => [block.id, block])), edges }
}

/** The times between frames during an action, and the longest task of the main thread. */
async function frames(page: Page, act: () => Promise<void>) {
  await page.evaluate(() => {
    const seen = { times: [] as number[], longest: 0, going: true }
    Object.assign(globalThis, { seen })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration)
    }).observe({ entryTypes: ['longtask'] })
    const tick = (at: number) => {
      seen.times.push(at)
      if (seen.going) requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  })
  await act()
  const { times, longest } = await page.evaluate(() => {
    const { seen } = globalThis as unknown as { seen: { times: number[]; longest: number; going: boolean } }
    seen.going = false
    return { times: seen.times, longest: seen.longest }
  })
  const gaps = times.slice(1).map((time, at) => time - times[at]!)
  const total = gaps.reduce((sum, gap) => sum + gap, 0)
  const sorted = gaps.toSorted((a, b) => a - b)
  return {
    framesPerSecond: Math.round((gaps.length / total) * 1000),
    frameP95Ms: Math.round(sorted[Math.floor(sorted.length * 0.95)] ?? 0),
    longestTaskMs: Math.round(longest),
  }
}

/** The heap before and after repeated opening, editing, running and switching, after garbage collection. */
async function measureMemory({ serving, page }: Visit, rounds: number) {
  const session = await page.context().newCDPSession(page)
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    return usedSize
  }
  await page.goto(serving.url)
  await page.getByRole('link', { name: 'Workflows' }).first().click()
  const round = async () => {
    await page.getByRole('link', { name: 'First workflow' }).first().click()
    await page.locator('.react-flow__node').first().waitFor()
    await page.getByTitle('Run the draft (Ctrl+Enter)').click()
    await page.getByText(/Succeeded in/).waitFor()
    await page.keyboard.press('n')
    await page.keyboard.type('A note')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+z')
    await page.getByRole('link', { name: 'Workflows' }).first().click()
    await page.getByRole('link', { name: 'First workflow' }).first().waitFor()
  }
  for (let at = 0; at < 10; at += 1) await round()
  const before = await heap()
  for (let at = 0; at < rounds; at += 1) await round()
  const after = await heap()
  return { rounds, heapBeforeBytes: before, heapAfterBytes: after, heapGrowth: Number((after / before - 1).toFixed(3)) }
}

function median(values: readonly number[]): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0)
}

await bench()
