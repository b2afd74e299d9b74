import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, type Draft } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, saved, until } from '../../support/ui/editor-page.ts'
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
type Placed = Record<string, { name: string; type: string; parentId?: string; position: Point; enabled?: boolean }>
type Notes = Record<string, { text: string; position: Point; width: number; height: number; color?: string }>
const blocksOf = async (id: string) => (await saved(visited, id)).blocks as unknown as Placed
const notesOf = async (id: string) =>
  Object.values(((await saved(visited, id)) as unknown as { notes: Notes }).notes ?? {})
const named = async (id: string, name: string) => Object.values(await blocksOf(id)).find((one) => one.name === name)
const item = (name: string) => visited.page.getByRole('menu').getByRole('menuitem', { name })
const toolbar = () => visited.page.getByRole('toolbar', { name: 'Selection' })

/** A free place of the canvas, on the screen. */
async function freePlace(): Promise<Point> {
  const { x, y, width, height } = (await visited.page.locator('.react-flow__pane').boundingBox())!
  return { x: x + width / 2, y: y + height - 160 }
}

describe('menus', () => {
  test('open by right click and by key on the canvas, blocks, lines and notes, and show the keys', async () => {
    const { page } = visited
    const blocks = [block('start', 'api_trigger', {}, at(0, 0)), block('step', 'wait', { ms: 1 }, at(340, 0))]
    const notes = { n: { id: 'n', text: 'Remember', position: { x: 0, y: 220 } } }
    const id = await open({ name: 'Menus', blocks, edges: ['start > step'], notes })
    await node(page, 'step').click({ button: 'right' })
    await item('Disable').waitFor()
    expect(await item('Disable').textContent()).toBe('DisableD')
    expect(await accessibilityFaults(page)).toEqual([])
    await item('Disable').click()
    await until(async () => (await named(id, 'step'))?.enabled === false)
    await page.keyboard.press('Escape')

    await page.locator('.react-flow__edge').first().focus()
    await page.keyboard.press('Shift+F10')
    await item('Insert block…').waitFor()
    await page.keyboard.press('Escape')
    await item('Insert block…').waitFor({ state: 'detached' })

    await node(page, 'Remember').click({ button: 'right' })
    await item('Blue').click()
    await until(async () => (await notesOf(id))[0]?.color === 'blue')

    const { x, y } = await freePlace()
    await page.mouse.click(x, y, { button: 'right' })
    await item('Add block…').click()
    await page.getByRole('option', { name: 'Function' }).click()
    await until(() => named(id, 'Function'))
    // The block is where the menu was opened.
    const box = (await node(page, 'Function').boundingBox())!
    expect(Math.abs(box.y - y)).toBeLessThan(120)

    await node(page, 'Function').focus()
    await page.keyboard.press('ContextMenu')
    await item('Delete').click()
    await until(async () => !(await named(id, 'Function')))
  }, 120_000)

  test('are in view as a whole, wherever they open', async () => {
    const { page } = visited
    await open({
      name: 'Tall menu',
      blocks: [block('start', 'api_trigger', {}, at(0, 0)), block('step', 'wait', {}, at(340, 0))],
    })
    await page.setViewportSize({ width: 1024, height: 768 })
    await node(page, 'step').click({ button: 'right', position: { x: 60, y: 12 } })
    const menu = page.getByRole('menu')
    await menu.waitFor()
    expect(await menu.evaluate((one) => one.scrollHeight - one.clientHeight)).toBeLessThanOrEqual(0)
    const { y, height } = (await menu.boundingBox())!
    expect(y).toBeGreaterThanOrEqual(0)
    expect(y + height).toBeLessThanOrEqual(768)
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 1440, height: 900 })
  }, 60_000)

  test('open by a long press', async () => {
    const { page } = visited
    await open({ name: 'Press', blocks: [block('start', 'api_trigger', {}, at(0, 0))] })
    const box = (await node(page, 'start').boundingBox())!
    const session = await visited.context.newCDPSession(page)
    const touchPoints = [{ x: box.x + 60, y: box.y + 20 }]
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
    await item('Duplicate').waitFor()
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await session.detach()
    await item('Duplicate').waitFor()
    await page.keyboard.press('Escape')
  }, 120_000)
})

describe('a selection', () => {
  const code = (text: string) => ({ code: `return ${text}` })
  const chain = [
    block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number', value: 4 }] }, at(0, 0)),
    block('first', 'function', code('<api.n> + 1'), at(320, 0)),
    block('second', 'function', code('<first.result> * <api.n>'), at(640, 0)),
    block('last', 'function', code('({ answer: <second.result> })'), at(960, 0)),
  ]
  const edges = ['start > first', 'first > second', 'second > last']
  const selectBoth = async () => {
    const { page } = visited
    await node(page, 'first').click()
    await node(page, 'second').click({ modifiers: ['Shift'] })
    await toolbar().waitFor()
  }
  const answer = async () => {
    const { page } = visited
    await page.keyboard.press('Control+Enter')
    await page.getByText(/Succeeded in/).waitFor()
    return await page.getByRole('region', { name: 'Output' }).textContent()
  }

  test('has a toolbar that moves it into a loop, and one undo takes it out again', async () => {
    const { page } = visited
    const id = await open({ name: 'Wrap', blocks: chain, edges })
    await selectBoth()
    expect(await accessibilityFaults(page)).toEqual([])
    const box = (await toolbar().boundingBox())!
    expect(box.y + box.height).toBeLessThan((await node(page, 'first').boundingBox())!.y)
    await toolbar().getByRole('button', { name: 'Move into a loop' }).click()
    const loop = await until(() => named(id, 'Loop'))
    const inside = Object.values(await blocksOf(id)).filter(({ parentId }) => parentId)
    expect(inside.map(({ name }) => name).toSorted()).toEqual(['first', 'second'])
    const lines = (await saved(visited, id)).edges.map(({ source, target }) => [source, target])
    expect(lines).toHaveLength(4)
    expect(loop.type).toBe('loop')
    await page.keyboard.press('Control+z')
    await until(async () => !(await named(id, 'Loop')))
    expect((await saved(visited, id)).edges).toHaveLength(3)
  }, 120_000)

  test('moves into a separate workflow that gives the same result', async () => {
    const { page, serving, apiKey } = visited
    const id = await open({ name: 'Whole', blocks: chain, edges })
    expect(await answer()).toContain('20')
    await selectBoth()
    await toolbar().getByRole('button', { name: 'Move into a separate workflow…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Sums')
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Move blocks' }).click()
    await page.getByText('“Sums” has been created and deployed').waitFor()
    const caller = await until(() => named(id, 'Sums'))
    expect(caller.type).toBe('workflow')
    const names = Object.values(await blocksOf(id)).map(({ name }) => name)
    expect(names.toSorted()).toEqual(['Sums', 'last', 'start'])
    // Only blocks in view are drawn.
    await page.keyboard.press('f')
    await node(page, 'last').click()
    expect(await answer()).toContain('20')
    const { body } = await call(`${serving.url}/api/workflows?workspaceId=${visited.workspaceId}`, apiKey)
    expect((body as { data: { name: string }[] }).data.map(({ name }) => name)).toContain('Sums')
    // Undo leaves the new workflow, says so, and offers to delete it. Redo takes the offer back.
    await page.locator('.react-flow__pane').click({ position: { x: 20, y: 300 } })
    const offer = page.getByText('The workflow “Sums” is still there, and deployed.')
    const undoUntilBack = async () => {
      while (await named(id, 'Sums')) {
        await page.keyboard.press('Control+z')
        await page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
      }
    }
    await undoUntilBack()
    await offer.waitFor()
    await page.keyboard.press('Control+Shift+z')
    await offer.waitFor({ state: 'detached' })
    await until(() => named(id, 'Sums'))
    await undoUntilBack()
    await page.getByRole('button', { name: 'Delete it' }).click()
    await page.getByText('Sums was deleted.').waitFor()
    const left = await call(`${serving.url}/api/workflows?workspaceId=${visited.workspaceId}`, apiKey)
    expect((left.body as { data: { name: string }[] }).data.map(({ name }) => name)).not.toContain('Sums')
    // A trigger stays where it is.
    await node(page, 'start').focus()
    await page.keyboard.press('Shift+F10')
    await item('Move into a separate workflow…').click()
    await page.getByText('“start” is a trigger and must stay in this workflow.').waitFor()
  }, 120_000)

  test('is pasted at the pointer in free space, with the next free name, and into the container there', async () => {
    const { page } = visited
    const blocks = [
      block('start', 'api_trigger', {}, at(0, 0)),
      { ...block('five', 'loop', {}, at(300, 0)), name: 'Loop 5' },
      block('step', 'wait', { ms: 1 }, at(0, 200)),
    ]
    const id = await open({ name: 'Paste', blocks, edges: ['start > five'] })
    await visited.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await node(page, 'Loop 5').click({ position: { x: 200, y: 20 } })
    await page.keyboard.press('Control+c')
    const { x, y } = await freePlace()
    await page.mouse.move(x, y, { steps: 2 })
    await page.keyboard.press('Control+v')
    const copy = await until(() => named(id, 'Loop 6'))
    const original = (await named(id, 'Loop 5'))!
    // They lie apart, and neither is in the other.
    expect(copy.parentId).toBeUndefined()
    const isApart =
      Math.abs(copy.position.x - original.position.x) >= 400 || Math.abs(copy.position.y - original.position.y) >= 180
    expect(isApart).toBe(true)

    await node(page, 'step').click()
    await page.keyboard.press('Control+c')
    const loop = (await node(page, 'Loop 5').boundingBox())!
    await page.mouse.move(loop.x + 20, loop.y + 12, { steps: 2 })
    await page.keyboard.press('Control+v')
    const inner = await until(() => named(id, 'step 2'))
    expect(inner.parentId).toBe('five')
    expect(inner.position.y).toBeGreaterThanOrEqual(60)
    // The same from the menu.
    await page.keyboard.press('Escape')
    await page.mouse.click(x, y + 60, { button: 'right' })
    await item('Paste').click()
    await until(() => named(id, 'step 3'))
  }, 120_000)
})

describe('notes', () => {
  test('are added beside blocks, stay above them, and change size and colour by keyboard', async () => {
    const { page } = visited
    const blocks = Array.from({ length: 12 }, (_, index) =>
      block(`b${index}`, index === 0 ? 'api_trigger' : 'wait', {}, at((index % 4) * 260, Math.floor(index / 4) * 110)),
    )
    const notes = { over: { id: 'over', text: 'Over', position: { x: 300, y: 20 } } }
    const id = await open({ name: 'Notes', blocks, notes })
    const over = (await node(page, 'Over').boundingBox())!
    const top = await page.evaluate(
      ([x, y]) => document.elementFromPoint(x!, y!)?.closest('.react-flow__node')?.getAttribute('data-id'),
      [over.x + 20, over.y + 20],
    )
    expect(top).toBe('over')
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Note' }).fill('Beside')
    await page.keyboard.press('Escape')
    const beside = await until(async () => (await notesOf(id)).find(({ text }) => text === 'Beside'))
    for (const { position } of Object.values(await blocksOf(id))) {
      const covers =
        position.x < beside.position.x + beside.width &&
        beside.position.x < position.x + 224 &&
        position.y < beside.position.y + beside.height &&
        beside.position.y < position.y + 80
      expect(covers).toBe(false)
    }
    await page.locator('.react-flow__node-note.selected').focus()
    await page.keyboard.press('Control+ArrowRight')
    await page.keyboard.press('Control+ArrowDown')
    await until(async () => {
      const note = (await notesOf(id)).find(({ text }) => text === 'Beside')
      return note?.width === beside.width + 20 && note.height === beside.height + 20
    })
    await toolbar().getByRole('button', { name: 'Green' }).click()
    await until(async () => (await notesOf(id)).some(({ color }) => color === 'green'))
    expect(await accessibilityFaults(page)).toEqual([])
    await page.locator('.react-flow__node-note.selected').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Note' }).waitFor()
  }, 120_000)
})

test('Fit to view shows every block of a strip of 500', async () => {
  const { page } = visited
  const names = Array.from({ length: 500 }, (_, index) => `b${index}`)
  const blocks = names.map((name, index) =>
    block(name, index === 0 ? 'api_trigger' : 'wait', { ms: 1 }, at(index * 314, 0)),
  )
  await open({ name: 'Strip', blocks, edges: names.slice(1).map((name, index) => `b${index} > ${name}`) })
  const isAllInView = async () => {
    const boxes = await page.locator('.react-flow__node').evaluateAll((nodes) => {
      const { left, right } = document.querySelector('.react-flow')!.getBoundingClientRect()
      return nodes.filter((one) => {
        const box = one.getBoundingClientRect()
        return box.left >= left && box.right <= right
      }).length
    })
    return boxes === 500
  }
  await page.keyboard.press('f')
  await until(isAllInView)
  // Tidying makes rows of it, large enough to see.
  await page.keyboard.press('l')
  const first = page.locator('.react-flow__node[data-id="b0"]')
  await until(async () => ((await first.boundingBox())?.width ?? 0) > 25)
  await until(isAllInView)
}, 120_000)
