import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block } from '../../support/make.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, saved, until } from '../../support/ui/editor-page.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(async () => {
  expect(visited.pageErrors).toEqual([])
  await visited.close()
})

type Point = { x: number; y: number }
const at = (x: number, y: number) => ({ position: { x, y } })
const blocksOf = async (id: string) =>
  (await saved(visited, id)).blocks as unknown as Record<string, { position: Point }>

test('a container that grows pushes the blocks away that it would cover, and one undo takes both back', async () => {
  const { page } = visited
  const id = await openWorkflow(visited, {
    name: 'Growing',
    blocks: [
      block('start', 'api_trigger', {}, at(0, 0)),
      block('each', 'loop', {}, at(320, 0)),
      block('inner', 'function', { code: 'return 1' }, { ...at(120, 60), parentId: 'each' }),
      block('behind', 'wait', { ms: 1 }, at(780, 0)),
      block('below', 'wait', { ms: 1 }, at(320, 260)),
    ],
    edges: ['start > each', 'each:loop-start-source > inner', 'each:loop-end-source > behind'],
    loops: { each: { id: 'each', nodes: ['inner'], loopType: 'for', iterations: 1 } },
  })
  const before = await blocksOf(id)
  await node(page, 'inner').click({ position: { x: 60, y: 12 } })
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Blocks' }).fill('function')
  await page.keyboard.press('Enter')
  await until(async () => Object.keys(await blocksOf(id)).length === 6)
  const after = await blocksOf(id)
  expect(after['below']!.position).toEqual(before['below']!.position)
  expect(after['behind']!.position.y).toBe(0)
  const box = async (name: string) => (await page.locator(`.react-flow__node[data-id="${name}"]`).boundingBox())!
  await page.getByRole('button', { name: 'Fit to view' }).click()
  await until(async () => (await page.locator('.react-flow__node[data-id="behind"]').count()) === 1)
  const each = await box('each')
  expect((await box('behind')).x).toBeGreaterThan(each.x + each.width)
  await page.keyboard.press('Control+z')
  await until(async () => Object.keys(await blocksOf(id)).length === 5)
  expect((await blocksOf(id))['behind']!.position).toEqual(before['behind']!.position)
}, 60_000)
