import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import '../../support/built.ts'
import { millrace } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, type Serving, serve } from '../../support/running-service.ts'
import { listen, timeoutMs, type Visit, visit } from '../../support/ui/browser.ts'
import { node, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults, faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
let serving: Serving
let ada: Page
let bob: Page
let vera: Page
let errors: string[] = []
beforeAll(async () => {
  visited = await visit()
  serving = visited.serving
  ada = visited.page
  bob = await signIn('bob.marsh@example.com', 'editor')
  vera = await signIn('vera@example.com', 'viewer')
}, 180_000)
afterAll(async () => {
  await visited.close()
  await serving.kill('SIGTERM')
})

/** A browser of its own, signed in with a new account of the workspace. */
async function signIn(email: string, role: 'editor' | 'viewer'): Promise<Page> {
  const { browser, data, workspaceId } = visited
  const environment = { MILLRACE_DATA: data }
  await millrace(['users', 'create', email], { environment })
  const { out } = await millrace(['users', 'link', email], { environment })
  const added = await ada.evaluate(
    async ([id, body]) => (await fetch(`/api/editor/workspaces/${id}/members`, { method: 'POST', body })).status,
    [workspaceId, JSON.stringify({ email, role })] as const,
  )
  expect(added).toBe(201)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  context.setDefaultTimeout(timeoutMs)
  const page = await context.newPage()
  errors = listen(page)
  await page.goto(`${serving.url}/sign-in?token=${/token=(\S+)/.exec(out)?.[1]}`)
  await page.getByRole('button', { name: /^Account/ }).waitFor()
  return page
}

const at = (x: number, y: number) => ({ position: { x, y } })

/** A workflow with two responses, open in some pages; returns its id. */
async function open(name: string, pages: readonly Page[]): Promise<string> {
  const { body } = await call(`${serving.url}/api/workflows`, visited.apiKey, 'POST', {
    ...document({
      name,
      blocks: [
        block('Start', 'api_trigger', { inputFormat: [] }, at(0, 0)),
        block('One', 'response', { data: 'one', status: 200 }, at(320, 0)),
        block('Two', 'response', { data: 'two', status: 200 }, at(320, 240)),
      ],
      edges: ['Start > One', 'Start > Two'],
    }),
  })
  const { id } = body as { id: string }
  for (const page of pages) {
    await page.goto(`${serving.url}/workflows/${id}`)
    await node(page, 'One').waitFor()
  }
  return id
}

const here = (page: Page) => page.getByRole('list', { name: 'Also here' })
const field = (page: Page, name: string) =>
  page.getByRole('complementary', { name: `Block ${name}` }).getByLabel('Status')
const isSaved = (page: Page) => page.getByRole('status').getByText('Saved', { exact: true }).waitFor()

async function setStatus(page: Page, name: string, status: string): Promise<void> {
  await node(page, name).click()
  await field(page, name).fill(status)
}

async function statuses(id: string): Promise<unknown[]> {
  const { body } = await call(`${serving.url}/api/workflows/${id}`, visited.apiKey)
  const { blocks } = body as { blocks: Record<string, { name: string; params?: { status?: unknown } }> }
  return ['One', 'Two'].map((name) => Object.values(blocks).find((each) => each.name === name)?.params?.status)
}

test('everyone sees who else is here and where, until they leave', async () => {
  await open('Here', [ada, bob])
  await here(ada).getByRole('button', { name: 'bob.marsh@example.com has this workflow open' }).waitFor()
  await node(bob, 'Two').click()
  await here(ada).getByRole('button', { name: 'bob.marsh@example.com is at “Two”' }).waitFor()
  await node(ada, 'Two').getByRole('img', { name: 'Selected by bob.marsh@example.com' }).waitFor()
  expect(await accessibilityFaults(ada)).toEqual([])
  await bob.goto(`${serving.url}/`)
  await here(ada).waitFor({ state: 'detached' })
  expect(
    await node(ada, 'Two')
      .getByRole('img', { name: /Selected by/ })
      .count(),
  ).toBe(0)
}, 60_000)

test('the header stays one row on a narrow page, and says how many are here', async () => {
  await open('Narrow', [ada, bob, vera])
  await here(ada).getByRole('listitem').nth(1).waitFor()
  await ada.setViewportSize({ width: 390, height: 844 })
  await here(ada).getByText('+1').waitFor()
  await until(async () => ((await here(ada).locator('..').boundingBox())?.height ?? 99) < 60)
  expect(await accessibilityFaults(ada)).toEqual([])
  await ada.setViewportSize({ width: 1440, height: 900 })
  await here(ada).getByText('+1').waitFor({ state: 'hidden' })
  await Promise.all([bob, vera].map((page) => page.goto(`${serving.url}/`)))
}, 60_000)

test('the same account in other tabs is one person, who is gone when they are closed or in the background', async () => {
  const id = await open('Tabs', [ada])
  const [second, third] = [await visited.context.newPage(), await visited.context.newPage()]
  await second.clock.install()
  for (const page of [second, third]) await page.goto(`${serving.url}/workflows/${id}`)
  const other = here(ada).getByRole('button', { name: 'You have this workflow open in another tab' })
  await other.waitFor()
  expect(await here(ada).getByRole('listitem').count()).toBe(1)
  await third.close()
  const show = (isShown: boolean) =>
    second.evaluate((hidden) => {
      Object.defineProperty(globalThis.document, 'hidden', { value: hidden, configurable: true })
      globalThis.document.dispatchEvent(new Event('visibilitychange'))
    }, !isShown)
  await show(false)
  await second.clock.fastForward(31_000)
  await here(ada).waitFor({ state: 'detached' })
  await show(true)
  await other.waitFor()
  await second.close()
  await here(ada).waitFor({ state: 'detached' })
}, 60_000)

test('what one person saves appears at once for those who only look, also for viewers', async () => {
  const id = await open('Looking', [ada, bob, vera])
  await node(vera, 'One').click()
  await setStatus(ada, 'One', '201')
  await ada.keyboard.press('Escape')
  await isSaved(ada)
  await until(async () => (await field(vera, 'One').inputValue()) === '201')
  await node(bob, 'One').click()
  await until(async () => (await field(bob, 'One').inputValue()) === '201')
  // Nothing that was taken over is sent again.
  const { body } = await call(`${serving.url}/api/workflows/${id}`, visited.apiKey)
  expect((body as { revision: number }).revision).toBe(2)
  await node(ada, 'Two').click()
  await ada.keyboard.press('Delete')
  await node(vera, 'Two').waitFor({ state: 'detached' })
  await node(bob, 'Two').waitFor({ state: 'detached' })
}, 60_000)

test('edits of different blocks at the same time are merged, and undo takes back only the own ones', async () => {
  const id = await open('Merge', [ada, bob])
  // Nobody hears of the other's save before the own one starts.
  for (const page of [ada, bob]) await page.route('**/events', (route) => route.abort())
  for (const page of [ada, bob]) await page.reload()
  for (const page of [ada, bob]) await node(page, 'One').waitFor()
  await setStatus(ada, 'One', '201')
  await isSaved(ada)
  await setStatus(bob, 'Two', '404')
  await isSaved(bob)
  await until(async () => Bun.deepEquals(await statuses(id), [201, 404]))
  expect(await bob.getByRole('alert').count()).toBe(0)
  await node(bob, 'One').click()
  expect(await field(bob, 'One').inputValue()).toBe('201')
  await bob.locator('.react-flow__pane').click({ position: { x: 20, y: 400 } })
  await bob.keyboard.press('Control+z')
  await until(async () => Bun.deepEquals(await statuses(id), [201, 200]))
  for (const page of [ada, bob]) await page.unroute('**/events')
}, 60_000)

test('edits of different rows of a list at the same time are merged', async () => {
  const id = await open('Rows', [bob])
  const address = `${serving.url}/api/workflows/${id}`
  const headersOf = async () => {
    const { body } = await call(address, visited.apiKey)
    const { blocks } = body as { blocks: Record<string, { params: { headers?: unknown } }> }
    return blocks['One']?.params.headers
  }
  const saveHeaders = async (headers: unknown) => {
    const { body } = await call(address, visited.apiKey)
    const { blocks, ...rest } = body as { blocks: Record<string, { params: object }> }
    const one = blocks['One']!
    const changed = { ...blocks, One: { ...one, params: { ...one.params, headers } } }
    expect((await call(address, visited.apiKey, 'PUT', { ...rest, blocks: changed })).status).toBe(200)
  }
  const [a, b] = [
    { key: 'X-A', value: 'a' },
    { key: 'X-B', value: 'b' },
  ]
  await saveHeaders([a, b])
  await bob.route('**/events', (route) => route.abort())
  await bob.reload()
  await node(bob, 'One').click()
  const value = bob.getByRole('complementary', { name: 'Block One' }).getByLabel('Value 2').last()
  await value.waitFor()
  await saveHeaders([{ ...a, value: 'from elsewhere' }, b, { key: 'X-C', value: 'c' }])
  await value.fill('from Bob')
  const wanted = [
    { ...a, value: 'from elsewhere' },
    { ...b, value: 'from Bob' },
    { key: 'X-C', value: 'c' },
  ]
  await until(async () => Bun.deepEquals(await headersOf(), wanted))
  expect(await bob.getByRole('alert').count()).toBe(0)
  await bob.unroute('**/events')
}, 60_000)

test('edits of the same field show both values, and the choice can be undone', async () => {
  const id = await open('Same', [ada, bob])
  // Bob's next save is held back until Ada has saved.
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await bob.route('**/api/workflows/*', async (route) => {
    if (route.request().method() === 'PUT') await held
    await route.continue()
  })
  await setStatus(bob, 'One', '500')
  await bob.getByRole('status').getByText('Saving…').waitFor()
  await setStatus(ada, 'One', '201')
  await isSaved(ada)
  release()
  const notice = bob.getByRole('alert').filter({ hasText: 'One › Status' })
  await notice.waitFor()
  await bob.unroute('**/api/workflows/*')
  expect(await notice.textContent()).toMatch(/^\S+@\S+ also changed One › Status, at \d/)
  expect(await statuses(id)).toEqual([201, 200])
  expect(await faultsInBothThemes(bob)).toEqual([])
  await notice.getByRole('button', { name: 'Compare' }).click()
  const dialog = bob.getByRole('dialog', { name: 'Choose between two changes' })
  await dialog.getByRole('radio', { name: 'Mine 500' }).waitFor()
  expect(await faultsInBothThemes(bob)).toEqual([])
  await dialog.getByRole('radio', { name: 'Theirs 201' }).check()
  await dialog.getByRole('button', { name: 'Save this choice' }).click()
  await isSaved(bob)
  await until(async () => (await field(bob, 'One').inputValue()) === '201')
  await bob.locator('.react-flow__pane').click({ position: { x: 20, y: 400 } })
  await bob.keyboard.press('Control+z')
  await until(async () => Bun.deepEquals(await statuses(id), [500, 200]))
}, 60_000)

test('work that could not be saved is offered after the tab was closed and the service is back', async () => {
  const id = await open('Outage', [ada])
  const { port } = new URL(serving.url)
  const tab = await visited.context.newPage()
  await tab.goto(`${serving.url}/workflows/${id}`)
  await node(tab, 'One').waitFor()
  await serving.kill('SIGKILL')
  await setStatus(tab, 'One', '503')
  await tab.getByRole('status').getByText('Not saved').waitFor()
  await tab.close()
  await ada.goto('about:blank')
  serving = await serve(visited.data, { MILLRACE_PORT: port })
  // Somebody else changes another block first.
  const { body } = await call(`${serving.url}/api/workflows/${id}`, visited.apiKey)
  const text = JSON.stringify(body).replace('"two"', '"other"')
  await call(`${serving.url}/api/workflows/${id}`, visited.apiKey, 'PUT', JSON.parse(text))
  await ada.goto(`${serving.url}/workflows/${id}`)
  const offer = ada.getByRole('region', { name: 'Unsaved changes' })
  await offer.getByText(/You have unsaved changes from .*\. The workflow was changed since then/).waitFor()
  expect(await faultsInBothThemes(ada)).toEqual([])
  await offer.getByRole('button', { name: 'Restore' }).click()
  await until(async () => Bun.deepEquals(await statuses(id), [503, 200]))
  await isSaved(ada)
  const stored = await call(`${serving.url}/api/workflows/${id}`, visited.apiKey)
  expect(JSON.stringify(stored.body)).toContain('"other"')
  expect(await ada.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('unsaved')))).toEqual([])
}, 90_000)

test('no page had an error', () => {
  expect([...visited.pageErrors, ...errors].filter((text) => !text.includes('ERR_'))).toEqual([])
})
