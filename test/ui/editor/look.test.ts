import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, until } from '../../support/ui/editor-page.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

/** Opens a workflow whose loop runs a function for each of three items, inside a parallel of two. */
async function openNested(): Promise<void> {
  const { page, serving, apiKey } = visited
  const block = (id: string, type: string, x: number, more: Record<string, unknown> = {}) =>
    [id, { id, type, name: id, position: { x, y: 70 }, ...more }] as const
  const document = {
    name: `Counted ${crypto.randomUUID()}`,
    blocks: Object.fromEntries([
      block('Start', 'api_trigger', 0),
      block('List', 'function', 300, { params: { code: 'return ["a", "b", "c"]' } }),
      block('Each', 'loop', 600),
      block('Twice', 'parallel', 130, { parentId: 'Each' }),
      block('Item', 'function', 130, { parentId: 'Twice', params: { code: 'return 1' } }),
    ]),
    edges: [
      { id: 'e0', source: 'Start', target: 'List' },
      { id: 'e1', source: 'List', target: 'Each' },
      { id: 'e2', source: 'Each', target: 'Twice', sourceHandle: 'loop-start-source' },
      { id: 'e3', source: 'Twice', target: 'Item', sourceHandle: 'parallel-start-source' },
    ],
    loops: { Each: { id: 'Each', nodes: ['Twice'], loopType: 'forEach', forEachItems: '<list.result>' } },
    parallels: { Twice: { id: 'Twice', nodes: ['Item'], parallelType: 'count', count: 2 } },
  }
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', document)
  await page.goto(`${serving.url}/workflows/${(body as { id: string }).id}`)
  await node(page, 'Item').waitFor()
}

test('after a run, cards show what blocks gave, and lines how many items went along them', async () => {
  const { page } = visited
  await openNested()
  await page.keyboard.press('Control+Enter')
  await page
    .getByText(/Succeeded in/)
    .first()
    .waitFor()
  await node(page, 'List').getByText('3 items · “a”').waitFor()
  const countOf = (id: string) => page.locator(`.react-flow__edge[data-id="${id}"] .line-count`)
  expect(await countOf('e1').textContent()).toContain('3')
  expect(await countOf('e2').textContent()).toContain('×3')
  expect(await countOf('e3').textContent()).toContain('×6')
  expect(await countOf('e0').count()).toBe(0)
}, 60_000)

test('the page does not scroll while the console is collapsed', async () => {
  const { page } = visited
  await openNested()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText(/^Succeeded in/).waitFor()
  await page.getByRole('button', { name: 'Collapse console' }).click()
  await page.getByRole('button', { name: 'Expand console' }).waitFor()
  const [whole, shown] = await page.evaluate(() => [document.documentElement.scrollHeight, innerHeight])
  expect(whole).toBe(shown!)
})

test('loops and parallels have colours of their own, and a nested one differs from its surroundings', async () => {
  const { page } = visited
  await openNested()
  for (const theme of ['light', 'dark']) {
    await page.evaluate((wanted) => {
      document.documentElement.dataset['theme'] = wanted
    }, theme)
    const colors = await page
      .locator('.container-card')
      .evaluateAll((all) =>
        all.map((one) => [getComputedStyle(one).backgroundColor, getComputedStyle(one).borderColor]),
      )
    expect(new Set(colors.map(([fill]) => fill)).size).toBe(2)
    expect(new Set(colors.map(([, edge]) => edge)).size).toBe(2)
  }
  await page.evaluate(() => delete document.documentElement.dataset['theme'])
}, 60_000)

test('cards and lines have a contrast of at least 3:1 on the canvas, and muted text 4.5:1', async () => {
  const { page } = visited
  await openNested()
  for (const theme of ['light', 'dark']) {
    const ratios = await page.evaluate((wanted) => {
      document.documentElement.dataset['theme'] = wanted
      const probe = document.body.appendChild(document.createElement('i'))
      const luminance = (name: string) => {
        probe.style.color = `var(--${name})`
        const [red, green, blue] = getComputedStyle(probe)
          .color.match(/[\d.]+/g)!
          .slice(0, 3)
          .map((part) => Number(part) / 255)
          .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
      }
      const ratio = (a: string, b: string) => {
        const [low, high] = [luminance(a), luminance(b)].toSorted((one, other) => one - other)
        return (high! + 0.05) / (low! + 0.05)
      }
      const found = {
        edges: [ratio('block-line', 'canvas'), ratio('flow-line', 'canvas'), ratio('block-line', 'raised')],
        texts: ['bg', 'canvas', 'surface', 'raised', 'sunken'].map((behind) => ratio('muted', behind)),
        kinds: ['trigger', 'call', 'model', 'logic', 'code', 'loop', 'parallel', 'response', 'other'].map((kind) =>
          ratio(kind, 'canvas'),
        ),
      }
      probe.remove()
      return found
    }, theme)
    expect(Math.min(...ratios.edges, ...ratios.kinds)).toBeGreaterThanOrEqual(3)
    expect(Math.min(...ratios.texts)).toBeGreaterThanOrEqual(4.5)
  }
  await page.evaluate(() => delete document.documentElement.dataset['theme'])
}, 60_000)

test('names keep 11 pixels on the screen when the canvas is zoomed out, and stay inside their cards', async () => {
  const { page } = visited
  await openNested()
  for (let steps = 0; steps < 6; steps += 1) {
    const names = await page.locator('.react-flow__node').evaluateAll((nodes) => {
      const { a } = new DOMMatrixReadOnly(getComputedStyle(document.querySelector('.react-flow__viewport')!).transform)
      return nodes.map((one) => {
        const name = one.querySelector('.card-name')!
        const [inner, outer] = [name.getBoundingClientRect(), one.getBoundingClientRect()]
        const isInside = inner.right <= outer.right + 1 && inner.bottom <= outer.bottom + 1
        return { pixels: Number.parseFloat(getComputedStyle(name).fontSize) * a, isInside }
      })
    })
    expect(names.filter(({ pixels, isInside }) => pixels < 11 || !isInside)).toEqual([])
    await page.keyboard.press('-')
    await page.waitForFunction(() => !document.querySelector('.react-flow.moving'))
  }
}, 60_000)

test('the help of fields is visible the first time, and later behind a button; screen readers always have it', async () => {
  const { page } = visited
  await openNested()
  await page.evaluate(() => localStorage.removeItem('millrace.known-blocks'))
  await node(page, 'List').click({ position: { x: 60, y: 12 } })
  const inspector = page.getByRole('complementary', { name: 'Block List' })
  const helps = inspector.getByRole('button', { name: 'Help', exact: true })
  await helps.first().waitFor()
  expect(await helps.first().getAttribute('aria-expanded')).toBe('true')
  await node(page, 'Start').click({ position: { x: 60, y: 12 } })
  await node(page, 'List').click({ position: { x: 60, y: 12 } })
  await until(async () => (await helps.first().getAttribute('aria-expanded')) === 'false')
  const help = page.locator(`[id="${await helps.first().getAttribute('aria-controls')}"]`)
  expect((await help.boundingBox())!.height).toBeLessThan(2)
  expect(await help.textContent()).not.toBe('')
  await helps.first().click()
  expect((await help.boundingBox())!.height).toBeGreaterThan(10)
}, 60_000)

test('the editor has one solid accent button', async () => {
  const { page } = visited
  await openNested()
  const solid = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = 'var(--accent)'
    const accent = getComputedStyle(probe).color
    probe.remove()
    // The link to the canvas is hidden until it has the focus.
    const buttons = [...document.querySelectorAll('button')].filter((one) => !one.textContent.startsWith('Skip'))
    return buttons.filter((one) => getComputedStyle(one).backgroundColor === accent).map((one) => one.textContent)
  })
  // Run, with the arrow that belongs to it.
  expect(solid).toEqual(['Run', ''])
}, 60_000)

test('the content of all pages starts below the breadcrumbs', async () => {
  const { page, serving, workspaceId } = visited
  const id = page.url().split('/').at(-1)
  const lefts: Record<string, number> = {}
  const at = `/w/${workspaceId}`
  for (const [path, first] of [
    [`${at}/workflows`, 'input[type=search]'],
    [`${at}/gallery`, 'input[type=search]'],
    [`${at}/logs`, '[aria-label="Filters"] > *'],
    [`${at}/settings/usage`, 'main section section h2, section section h2'],
    [`/workflows/${id}/webhooks`, '[role=tabpanel] > div > *'],
  ] as const) {
    await page.goto(`${serving.url}${path}`)
    const found = page.locator(first).first()
    await found.waitFor()
    const crumbs = (await page.getByRole('navigation', { name: 'Breadcrumbs' }).boundingBox())!
    lefts[path] = Math.round((await found.boundingBox())!.x - crumbs.x)
  }
  expect(Object.entries(lefts).filter(([, left]) => left !== 0)).toEqual([])
}, 60_000)

test('the pages have no script errors', () => {
  expect(visited.pageErrors).toEqual([])
})
