import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, type Draft } from '../../support/make.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { emptyWorkflow, node, openWorkflow, port, saved, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(async () => {
  expect(visited.pageErrors).toEqual([])
  await visited.close()
})

const open = (draft: Draft) => openWorkflow(visited, draft)
const at = (x: number, y: number) => ({ position: { x, y } })

type Point = { x: number; y: number }
type Placed = Record<string, { name: string; parentId?: string; position: Point }>
const blocksOf = async (id: string) => (await saved(visited, id)).blocks as unknown as Placed
const linesOf = async (id: string) => {
  const { blocks, edges } = await saved(visited, id)
  return edges.map(
    ({ source, sourceHandle, target }) =>
      `${blocks[source]?.name}:${sourceHandle ?? 'source'} > ${blocks[target]?.name}`,
  )
}

/** The middle of a line on the screen. */
async function middleOf(index = 0): Promise<Point> {
  return await visited.page
    .locator('.react-flow__edge-interaction')
    .nth(index)
    .evaluate((element) => {
      const path = element as unknown as SVGPathElement
      const { x, y } = path.getPointAtLength(path.getTotalLength() / 2)
      const matrix = path.getScreenCTM()!
      return { x: matrix.a * x + matrix.e, y: matrix.d * y + matrix.f }
    })
}

/** Waits until the view no longer moves. */
async function settled(): Promise<void> {
  const view = () => visited.page.locator('.react-flow__viewport').getAttribute('style')
  let [last, same] = [await view(), 0]
  await until(async () => {
    const now = await view()
    same = now === last ? same + 1 : 0
    last = now
    return same > 8
  })
}

/** Moves the pointer to a point and waits for the tools of the line there. */
async function pointAt({ x, y }: Point): Promise<void> {
  const { page } = visited
  await page.mouse.move(x - 3, y - 3)
  await page.mouse.move(x, y, { steps: 4 })
  await page.getByRole('button', { name: 'Insert block' }).waitFor({ timeout: 15_000 })
}

const palette = (label: string) =>
  visited.page.getByRole('complementary', { name: 'Blocks' }).getByRole('button', { name: label, exact: true })

describe('lines', () => {
  test('a click in the middle of a line never removes it, however steep the line and whatever the zoom', async () => {
    const { page } = visited
    const blocks = [
      block('start', 'api_trigger', {}, at(0, 0)),
      block('flat', 'wait', { ms: 1 }, at(340, 0)),
      block('steep', 'wait', { ms: 1 }, at(290, 700)),
      block('back', 'wait', { ms: 1 }, at(-100, 300)),
    ]
    const edges = ['start > flat', 'start > steep', 'flat > back']
    const id = await open({ name: 'Never removed', blocks, edges })
    for (const zoom of [0, 3]) {
      for (let step = 0; step < zoom; step += 1) await page.keyboard.press('-')
      await settled()
      for (const index of edges.keys()) {
        const middle = await middleOf(index)
        await pointAt(middle)
        const bin = (await page.getByRole('button', { name: 'Remove connection' }).boundingBox())!
        // The same size at each zoom, and out of reach.
        expect(Math.round(bin.width)).toBe(24)
        const away = Math.hypot(bin.x + bin.width / 2 - middle.x, bin.y + bin.height / 2 - middle.y)
        expect(away).toBeGreaterThan(35)
        await page.mouse.click(middle.x, middle.y)
        await page.getByRole('combobox').waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('combobox').waitFor({ state: 'detached' })
      }
    }
    expect((await saved(visited, id)).edges).toHaveLength(3)
    // The pointer reaches the button from the line.
    const middle = await middleOf(1)
    await pointAt(middle)
    const bin = (await page.getByRole('button', { name: 'Remove connection' }).boundingBox())!
    await page.mouse.move(bin.x + bin.width / 2, bin.y + bin.height / 2, { steps: 12 })
    await page.mouse.down()
    await page.mouse.up()
    await until(async () => (await saved(visited, id)).edges.length === 2)
  }, 120_000)

  test('a block that is dragged from the list onto a line goes into it, and the blocks behind make room', async () => {
    const { page } = visited
    const blocks = [
      block('start', 'api_trigger', {}, at(0, 100)),
      block('end', 'wait', { ms: 1 }, at(310, 100)),
      block('last', 'wait', { ms: 1 }, at(620, 100)),
    ]
    const id = await open({ name: 'Into a line', blocks, edges: ['start > end', 'end > last'] })
    const { x, y } = await middleOf(0)
    const from = (await palette('Function').boundingBox())!
    await page.mouse.move(from.x + 20, from.y + 10)
    await page.mouse.down()
    await page.mouse.move(x - 10, y - 4, { steps: 4 })
    await page.mouse.move(x, y, { steps: 4 })
    await page.locator('.react-flow__edge.drop-line').waitFor({ state: 'attached' })
    await page.mouse.up()
    await until(async () => (await saved(visited, id)).edges.length === 3)
    expect(await page.locator('.react-flow__edge.drop-line').count()).toBe(0)
    expect((await linesOf(id)).toSorted()).toEqual([
      'Function:source > end',
      'end:source > last',
      'start:source > Function',
    ])
    const placed = await blocksOf(id)
    const added = Object.values(placed).find(({ name }) => name === 'Function')!
    expect(added.position.x).toBeGreaterThanOrEqual(224)
    expect(Math.abs(added.position.y - 100)).toBeLessThanOrEqual(40)
    expect(placed['end']!.position.x).toBeGreaterThanOrEqual(added.position.x + 224)
    expect(placed['last']!.position.x - placed['end']!.position.x).toBe(310)
    // One step to undo.
    await page.keyboard.press('Control+z')
    await until(async () => (await saved(visited, id)).edges.length === 2)
    expect((await blocksOf(id))['end']!.position.x).toBe(310)
  }, 120_000)

  test('an unconnected block that is dropped on a line inside a loop goes into that line', async () => {
    const { page } = visited
    const blocks = [
      block('start', 'api_trigger', {}, at(0, 0)),
      block('rounds', 'loop', {}, at(300, 0)),
      block('first', 'wait', { ms: 1 }, { ...at(120, 70), parentId: 'rounds' }),
      block('second', 'wait', { ms: 1 }, { ...at(480, 70), parentId: 'rounds' }),
      block('loose', 'wait', { ms: 1 }, at(0, 300)),
    ]
    const edges = ['start > rounds', 'rounds:loop-start-source > first', 'first > second']
    const id = await open({ name: 'Into an inner line', blocks, edges })
    const { x, y } = await middleOf(2)
    const from = (await node(page, 'loose').boundingBox())!
    await page.mouse.move(from.x + 60, from.y + 10)
    await page.mouse.down()
    await page.mouse.move(x - 20, y, { steps: 6 })
    await page.mouse.move(x, y, { steps: 4 })
    await page.locator('.react-flow__edge.drop-line').waitFor({ state: 'attached' })
    await page.mouse.up()
    await until(async () => (await blocksOf(id))['loose']?.parentId === 'rounds')
    expect((await linesOf(id)).filter((line) => line.includes('loose')).toSorted()).toEqual([
      'first:source > loose',
      'loose:source > second',
    ])
  }, 120_000)

  test('a block that is dropped on the corner of a container covers neither its title nor its start', async () => {
    const { page } = visited
    const blocks = [block('start', 'api_trigger', {}, at(0, 0)), block('both', 'parallel', {}, at(300, 0))]
    const id = await open({ name: 'Clamped', blocks, edges: ['start > both'] })
    await palette('API').dragTo(node(page, 'both'), { targetPosition: { x: 60, y: 20 } })
    await until(async () => Object.values(await blocksOf(id)).some(({ parentId }) => parentId === 'both'))
    const inner = page.locator('.react-flow__node', { hasText: 'Request' })
    const title = (await node(page, 'both').getByText('both', { exact: true }).boundingBox())!
    const start = (await node(page, 'both').getByText('Start', { exact: true }).boundingBox())!
    const box = (await inner.boundingBox())!
    for (const other of [title, start]) {
      const covers =
        box.x < other.x + other.width &&
        other.x < box.x + box.width &&
        box.y < other.y + other.height &&
        other.y < box.y + box.height
      expect(covers).toBe(false)
    }
    // The same for a block that is already inside.
    await page.mouse.move(box.x + 60, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(start.x + 40, start.y - 40, { steps: 8 })
    await page.mouse.up()
    await until(async () => {
      const { position } = Object.values(await blocksOf(id)).find(({ parentId }) => parentId === 'both')!
      return position.y >= 60 && (position.x >= 100 || position.y >= 100)
    })
  }, 120_000)
})

describe('new blocks', () => {
  test('continue from a lone trigger, and go inside an empty selected loop', async () => {
    const { page } = visited
    const id = await emptyWorkflow(visited, 'First block')
    await palette('API trigger').click()
    await node(page, 'Start').waitFor()
    await page.keyboard.press('Escape')
    await palette('Loop').click()
    await node(page, 'Loop').waitFor()
    expect(await linesOf(id)).toEqual(['Start:source > Loop'])
    // The loop is selected and empty.
    await palette('Function').click()
    await node(page, 'Function').waitFor()
    expect(await linesOf(id)).toEqual(['Start:source > Loop', 'Loop:loop-start-source > Function'])
    const placed = Object.values(await blocksOf(id))
    expect(placed.find(({ name }) => name === 'Function')?.parentId).toBeString()
    await page.keyboard.press('Control+Enter')
    await page.getByText(/Succeeded in/).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
  }, 120_000)

  test('a first trigger leads to the only block without an incoming line', async () => {
    const id = await emptyWorkflow(visited, 'Trigger last')
    await palette('Wait').click()
    await node(visited.page, 'Wait').waitFor()
    await palette('API trigger').click()
    await until(async () => (await linesOf(id)).join() === 'Start:source > Wait')
  }, 120_000)

  test('follow the plus of an open output, which the last block always shows', async () => {
    const { page } = visited
    const blocks = [block('start', 'api_trigger', {}, at(0, 0)), block('step', 'wait', { ms: 1 }, at(320, 0))]
    const id = await open({ name: 'Plus', blocks, edges: ['start > step'] })
    const plus = (name: string) =>
      port(page, name, 'source').evaluate((element) => getComputedStyle(element, '::before').display)
    expect(await plus('step')).toBe('block')
    expect(await plus('start')).not.toBe('block')
    const dot = (await port(page, 'step', 'source').boundingBox())!
    const scale = dot.width / 11
    await page.mouse.click(dot.x + 30 * scale, dot.y + dot.height / 2)
    await page.getByRole('option', { name: 'Response Ends' }).click()
    await until(async () => (await linesOf(id)).includes('step:source > Response'))
    // A response ends the run, so nothing follows it.
    expect(await plus('Response')).not.toBe('block')
    await page.keyboard.press('Escape')
    await page.mouse.move(5, 5)
    expect(await plus('step')).not.toBe('block')
  }, 120_000)
})
