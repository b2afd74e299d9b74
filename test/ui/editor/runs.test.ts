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
const inspector = (name: string) => visited.page.getByRole('complementary', { name: `Block ${name}` })
const inside = (parentId: string, x = 60) => ({ parentId, ...at(x, 110) })
/** The card of one block; a container's card does not include its contents. */
const card = (id: string) => visited.page.locator(`.react-flow__node[data-id="${id}"]`)
const start = block('start', 'api_trigger', {}, at(0))
const run = () => visited.page.getByRole('button', { name: 'Run', exact: true }).click()
const ended = () => visited.page.getByText(/^(Succeeded in|Failed after)/).waitFor()

describe('a run that is rejected', () => {
  test('keeps the results of the previous run and links each problem to its block', async () => {
    const { page } = visited
    await open({
      name: 'Rejected later',
      blocks: [
        start,
        block('say', 'function', { code: 'return "kept"' }, at(320)),
        block('first', 'api', { url: 'http://localhost:1/', onError: 'continue', retries: 0 }, at(0, 240)),
        block('second', 'api', { url: 'http://localhost:1/', onError: 'continue', retries: 0 }, at(320, 240)),
      ],
      edges: ['start > say', 'say > first', 'first > second'],
    })
    await run()
    await ended()
    for (const name of ['first', 'second']) {
      await node(page, name).click()
      await inspector(name).getByLabel('URL').fill('')
    }
    await node(page, 'say').click()
    await inspector('say').getByRole('region', { name: 'In the latest run' }).getByText('"kept"').waitFor()
    await run()
    const notes = page.getByRole('region', { name: 'Notifications' })
    await notes.getByText('The workflow cannot run: 2 problems.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await inspector('say').getByRole('region', { name: 'In the latest run' }).getByText('"kept"').count()).toBe(
      1,
    )
    expect(await page.getByText(/^Succeeded in/).count()).toBe(1)
    expect(await node(page, 'say').getByLabel('Succeeded').count()).toBe(1)
    await notes.getByRole('button', { name: /^second: / }).click()
    await inspector('second').waitFor()
    await page.getByRole('button', { name: 'Run with custom input' }).click()
    const dialog = page.getByRole('dialog', { name: 'Run with custom input' })
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    const alert = dialog.getByRole('alert')
    await alert.getByText('The workflow cannot run: 2 problems.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await alert.getByRole('button', { name: /^first: / }).click()
    await dialog.waitFor({ state: 'detached' })
    await inspector('first').waitFor()
  }, 120_000)
})

describe('a block that failed in one iteration of a loop', () => {
  test('shows the failure on the canvas and in its inspector', async () => {
    const { page } = visited
    const code = 'if (<loop.index> === 1) throw new Error("the second is bad"); return "fine"'
    await open({
      name: 'One bad pass',
      blocks: [start, block('loop', 'loop', {}, at(320)), block('score', 'function', { code }, inside('loop'))],
      edges: ['start > loop', 'loop:loop-start-source > score'],
      loops: { loop: { loopType: 'for', iterations: 3, onError: 'continue' } },
    })
    await run()
    await ended()
    await card('score').getByLabel('Failed', { exact: true }).waitFor()
    expect(await card('score').getByTitle('Failed in 1 of 3 iterations').count()).toBe(1)
    await card('score').click()
    const error = inspector('score').locator('.cm-failure')
    await error.getByText('the second is bad').waitFor()
    expect(await inspector('score').getByLabel('Iteration').locator('option:checked').textContent()).toContain('#2')
    expect(await accessibilityFaults(page)).toEqual([])
  }, 120_000)
})

describe('the console', () => {
  test('opens below a workflow that stays in view as a whole, if it was', async () => {
    const { page } = visited
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    const steps = ids.map((id, row) => block(id, 'wait', { ms: 1 }, at(320, row * 130)))
    await open({ name: 'Tall', blocks: [start, ...steps], edges: ids.map((id) => `start > ${id}`) })
    const card = (id: string) => page.locator(`.react-flow__node[data-id="${id}"]`)
    const canvas = page.locator('#canvas')
    await card('f').waitFor()
    const [before, area] = [await card('f').boundingBox(), await canvas.boundingBox()]
    expect(before!.y + before!.height).toBeLessThan(area!.y + area!.height)
    await run()
    await page.getByText(/^Succeeded in/).waitFor()
    const console = page.getByRole('region', { name: 'Console' })
    await until(async () => {
      const [last, below] = [await card('f').boundingBox(), await console.boundingBox()]
      return last !== null && last.y + last.height <= below!.y
    })
    expect(before!.y + before!.height).toBeGreaterThan((await console.boundingBox())!.y)
  }, 60_000)

  test('lists the iterations of a loop and a parallel under their own containers', async () => {
    const { page } = visited
    await open({
      name: 'Side by side',
      blocks: [
        start,
        block('loop', 'loop', {}, at(320)),
        block('turn', 'wait', { ms: 3 }, inside('loop')),
        block('many', 'parallel', {}, at(320, 320)),
        block('call', 'function', { code: 'return <parallel.index>' }, inside('many')),
        block('then', 'wait', { ms: 3 }, inside('many', 340)),
      ],
      edges: [
        ...['start > loop', 'start > many'],
        ...['loop:loop-start-source > turn', 'many:parallel-start-source > call', 'call > then'],
      ],
      loops: { loop: { loopType: 'for', iterations: 3 } },
      parallels: { many: { parallelType: 'count', count: 2 } },
    })
    const rows = page.getByRole('list', { name: 'Blocks that ran' }).locator('li')
    const executionId = page.getByRole('region', { name: 'Console' }).locator('p code')
    let before: string | null = null
    for (let round = 0; round < 3; round += 1) {
      await run()
      before = await until(async () => {
        const [id = null] = await executionId.allTextContents()
        return id !== before && id
      })
      const texts = await rows.evaluateAll((all) =>
        all.map((one) => [...one.querySelectorAll('button > span')].map(({ textContent }) => textContent)),
      )
      // The icon precedes the name; the iteration or the duration follows it.
      const names = texts.map((row) => row.filter((text) => text && !/^[\d.]+ m?s$/.test(text)).join(' '))
      const [inLoop, inMany] = [
        ['turn #1', 'turn #2', 'turn #3'],
        ['call #1', 'then #1', 'call #2', 'then #2'],
      ]
      expect(names).toEqual(['Result', 'start', 'loop', ...inLoop, 'many', ...inMany])
    }
  }, 120_000)
})

test('an iteration has the same number in the console and in the trace', async () => {
  const { page, serving, workspaceId } = visited
  const id = await open({
    name: 'Counted',
    blocks: [start, block('many', 'parallel', {}, at(320)), block('one', 'wait', { ms: 0 }, inside('many'))],
    edges: ['start > many', 'many:parallel-start-source > one'],
    parallels: { many: { parallelType: 'count', count: 2 } },
  })
  await run()
  await ended()
  const list = page.getByRole('list', { name: 'Blocks that ran' })
  expect(await list.getByText(/^#/).allTextContents()).toEqual(['#1', '#2'])
  await page.goto(`${serving.url}/w/${workspaceId}/logs?workflowIds=${id}`)
  await page.getByRole('grid', { name: 'Log entries' }).getByRole('row').nth(1).click()
  const trace = page.getByRole('tree', { name: 'Trace' })
  await trace.getByText('many #2').click()
  await page.getByRole('heading', { name: 'many #2' }).waitFor()
  expect(await trace.getByText(/^many /).allTextContents()).toEqual(['many #1', 'many #2'])
}, 120_000)

test('a skipped block shows the reason instead of a value', async () => {
  const { page } = visited
  const conditions = [{ id: 'no', expression: 'false' }]
  await open({
    name: 'Skipped',
    blocks: [
      start,
      block('hook', 'webhook_trigger', {}, at(0, 200)),
      block('gate', 'condition', { conditions }, at(320)),
      block('never', 'wait', { ms: 0 }, at(640)),
      block('off', 'wait', { ms: 0 }, { ...at(640, 200), enabled: false }),
    ],
    edges: ['start > gate', 'gate:condition-no > never', 'gate:condition-else > off'],
  })
  await run()
  await ended()
  const reasons = {
    never: 'the run did not reach it',
    off: 'it is disabled',
    hook: 'the run started with another trigger',
  }
  for (const [name, reason] of Object.entries(reasons)) {
    // The canvas may still be moving because the inspector opened.
    await until(async () => {
      await card(name).click()
      return await inspector(name).isVisible()
    })
    await inspector(name).getByText(`This block was skipped because ${reason}.`).waitFor()
    expect(await inspector(name).getByText('null', { exact: true }).count()).toBe(0)
  }
  expect(await accessibilityFaults(page)).toEqual([])
  const console = page.getByRole('region', { name: 'Console' })
  await console.getByRole('button', { name: /never/ }).click()
  await console.getByText('This block was skipped because the run did not reach it.').waitFor()
}, 120_000)

describe('a workflow that is opened again', () => {
  const drafted = {
    blocks: [start, block('say', 'function', { code: 'return "still here"' }, at(320))],
    edges: ['start > say'],
  }

  test('shows the results of its latest run without covering the canvas', async () => {
    const { page } = visited
    const id = await open({ ...drafted, name: 'Opened again' })
    await run()
    await ended()
    await page.reload()
    await card('say').getByLabel('Succeeded').waitFor()
    await ended()
    expect(await page.getByRole('list', { name: 'Blocks that ran' }).count()).toBe(0)
    await card('say').click()
    await inspector('say').getByRole('region', { name: 'In the latest run' }).getByText('"still here"').waitFor()
    await page.getByRole('button', { name: 'Expand console' }).click()
    await page.getByRole('list', { name: 'Blocks that ran' }).getByRole('button', { name: /say/ }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Close console' }).click()
    await page.getByRole('region', { name: 'Console' }).waitFor({ state: 'detached' })
    expect(await page.evaluate(() => localStorage.getItem('millrace.latest-runs'))).not.toContain(id)
  }, 120_000)

  test('follows a running run with one stream, however often it is closed and opened', async () => {
    const { page } = visited
    const streams = new Set<unknown>()
    page.on('request', (request) => {
      if (/\/runs\/[^/]+\/events$/.test(request.url())) streams.add(request)
    })
    const isOver = (request: unknown) => void streams.delete(request)
    page.on('requestfinished', isOver)
    page.on('requestfailed', isOver)
    await open({
      name: 'Left and opened',
      blocks: [start, block('rest', 'wait', { ms: 60_000 }, at(320))],
      edges: ['start > rest'],
    })
    await run()
    await card('rest').getByLabel('Running').waitFor()
    for (let time = 0; time < 3; time += 1) {
      await page.getByRole('link', { name: 'Workflows', exact: true }).first().click()
      await until(async () => streams.size === 0)
      await page.goBack()
      await card('rest').getByLabel('Running').waitFor()
      expect(streams.size).toBe(1)
    }
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByRole('region', { name: 'Console' }).getByText('Cancelled').first().waitFor()
  }, 120_000)

  test('forgets a run that the service no longer knows', async () => {
    const { page, pageErrors } = visited
    const id = await open({ ...drafted, name: 'Forgotten' })
    await page.evaluate((workflowId) => {
      localStorage.setItem('millrace.latest-runs', JSON.stringify([{ workflowId, executionId: 'long-gone' }]))
    }, id)
    const asked = page.waitForResponse((response) => response.url().endsWith('/runs/long-gone/events'))
    await page.reload()
    expect((await asked).status()).toBe(404)
    await until(() => page.evaluate(() => localStorage.getItem('millrace.latest-runs') === '[]'))
    expect(await page.getByRole('region', { name: 'Console' }).count()).toBe(0)
    expect(await page.getByRole('region', { name: 'Notifications' }).getByRole('button').count()).toBe(0)
    expect(pageErrors).toEqual([])
  }, 120_000)
})
