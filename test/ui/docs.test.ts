import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import '../support/built.ts'
import { readPages } from '../../scripts/docs/pages.ts'
import { temporaryFolder } from '../support/executable.ts'
import { block } from '../support/make.ts'
import { type Serving, serve } from '../support/running-service.ts'
import { launch, listen, timeoutMs, visit } from '../support/ui/browser.ts'
import { node, openWorkflow } from '../support/ui/editor-page.ts'
import { accessibilityFaults } from './accessibility.ts'

setDefaultTimeout(120_000)

const pages = readPages((name) => name).flatMap((group) => group.pages)
/** The page with the most headings, and a heading in its middle. */
const longest = pages.toSorted((a, b) => b.headings.length - a.headings.length)[0]!
const section = longest.headings[Math.floor(longest.headings.length / 2)]!

let folder: ReturnType<typeof temporaryFolder>
let service: Serving
let browser: Browser
beforeAll(async () => {
  folder = temporaryFolder()
  service = await serve(folder.path)
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(timeoutMs)
  const page = await context.newPage()
  const complaints = listen(page)
  const hosts = new Set<string>()
  page.on('request', (request) => hosts.add(new URL(request.url()).origin))
  await page.goto(service.url + path)
  return { page, complaints, hosts, [Symbol.asyncDispose]: () => context.close() }
}

const results = (page: Page) => page.getByRole('list', { name: 'Search results' })

test('a reader can find a section and reach its heading by keyboard alone', async () => {
  await using opened = await open('/docs', { viewport: { width: 1280, height: 800 } })
  const { page, complaints, hosts } = opened
  await page.keyboard.press('/')
  await page.keyboard.type(section.text)
  const result = results(page).getByRole('link').filter({ hasText: section.text })
  await result.first().waitFor()
  const target = `/docs/${longest.name}#${section.anchor}`
  const wanted = results(page).locator(`a[href="${target}"]`)
  for (let presses = 0; presses < 12; presses += 1) {
    await page.keyboard.press('ArrowDown')
    if (await wanted.evaluate((link) => link === document.activeElement)) break
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${target}`)
  await page.getByRole('heading', { level: 1, name: longest.title }).waitFor()
  const top = await page.locator(`[id="${section.anchor}"]`).evaluate((heading) => heading.getBoundingClientRect().top)
  // The bar at the top does not cover it.
  expect(top).toBeGreaterThan(56)
  expect([complaints, [...hosts]]).toEqual([[], [service.url]])
})

test('a search that finds nothing says so, and Escape closes it', async () => {
  await using opened = await open('/docs')
  const { page } = opened
  await page.keyboard.press('/')
  await page.keyboard.type('xqzxqzxqz')
  await page.getByRole('status').filter({ hasText: 'Nothing found' }).waitFor({ state: 'attached' })
  await page.keyboard.press('Escape')
  expect(await results(page).isVisible()).toBe(false)
  expect(await page.getByRole('searchbox').evaluate((field) => field === document.activeElement)).toBe(true)
})

test('every page keeps to its width, wide and narrow, and readers of every kind can use it, light and dark', async () => {
  await using opened = await open('/docs')
  const { page, complaints } = opened
  const paths = ['/docs', '/docs/nothing', ...pages.map(({ name }) => `/docs/${name}`)]
  for (const [index, path] of paths.entries()) {
    for (const width of [1280, 390]) {
      // Each page in one theme at each width: the themes differ in their colours only, not from page to page.
      const colorScheme = (index + width / 10) % 2 === 0 ? 'light' : 'dark'
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await page.goto(service.url + path)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      const found = [path, width, colorScheme, over, await accessibilityFaults(page)]
      expect(found).toEqual([path, width, colorScheme, 0, []])
    }
  }
  expect(complaints).toEqual([])
}, 300_000)

test('on a phone the contents open over the page, and a heading in them closes them', async () => {
  await using opened = await open(`/docs/${longest.name}`, { viewport: { width: 390, height: 844 } })
  const { page } = opened
  const contents = page.getByRole('navigation', { name: 'Documentation' })
  expect(await contents.isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Contents' }).click()
  await contents.getByRole('link', { name: longest.title, exact: true }).waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await contents.locator('.docs-headings a').last().click()
  await contents.waitFor({ state: 'hidden' })
  expect(new URL(page.url()).hash).not.toBe('')
})

test('code is copied unchanged', async () => {
  await using opened = await open(`/docs/${longest.name}`, { permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = opened
  const block = page.locator('.docs-code').first()
  await block.hover()
  await block.getByRole('button', { name: 'Copy' }).click()
  await block.getByText('Copied').waitFor()
  const code = await block.locator('code').textContent()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code!)
})

test('without JavaScript a page and its contents can be read, and no search is offered', async () => {
  await using opened = await open(`/docs/${longest.name}`, {
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
  })
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: longest.title }).waitFor()
  expect(await page.getByRole('searchbox').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Contents' }).click()
  await page.getByRole('navigation', { name: 'Documentation' }).getByRole('link').first().waitFor()
})

test('the dashboard leads to the documentation, and a block to its section', async () => {
  const visited = await visit()
  const { page, context, serving } = visited
  try {
    await openWorkflow(visited, { name: 'Linked', blocks: [block('start', 'api_trigger'), block('pause', 'wait')] })
    await node(page, 'pause').click()
    const inspector = page.getByRole('complementary', { name: 'Block pause' })
    const [section] = await Promise.all([
      context.waitForEvent('page'),
      inspector.getByRole('link', { name: 'Documentation' }).click(),
    ])
    await section.waitForURL(`${serving.url}/docs/blocks#wait`)
    await section.locator('h2#wait').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('documentation')
    const [list] = await Promise.all([context.waitForEvent('page'), page.keyboard.press('Enter')])
    await list.waitForURL(`${serving.url}/docs`)
    await list.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor()
  } finally {
    await visited.close()
  }
})
