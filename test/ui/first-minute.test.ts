import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { call } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { node, saved, shell } from '../support/ui/editor-page.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const startNew = async () => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
  await page.getByRole('button', { name: 'New workflow', exact: true }).click()
  await page.getByRole('heading', { name: 'What starts it?' }).waitFor()
}

test('from the sign-in link to an own deployed workflow that answers curl takes at most 12 clicks, without scrolling', async () => {
  const { page, apiKey } = visited
  let clicks = 0
  let scrolls = 0
  await page.exposeFunction('countScroll', () => {
    scrolls += 1
  })
  // A click of a person does not scroll: a target outside of the window fails the test.
  const click = async (target: Locator) => {
    await target.waitFor()
    const box = (await target.boundingBox())!
    expect(box.y).toBeGreaterThanOrEqual(0)
    expect(box.y + box.height).toBeLessThanOrEqual(page.viewportSize()!.height)
    clicks += 1
    await target.click()
  }
  // The sign-in link opens the sample's editor.
  await node(page, 'Start').waitFor()
  await page.evaluate(() =>
    addEventListener('wheel', () => void (window as never as { countScroll(): void }).countScroll()),
  )
  await click(
    page
      .getByRole('banner')
      .getByRole('link', { name: 'Workflows' })
      .or(page.getByRole('link', { name: 'Workflows', exact: true }))
      .first(),
  )
  await click(page.getByRole('button', { name: 'New workflow', exact: true }))
  // The name is selected, so that it can be typed at once.
  await page.getByRole('textbox', { name: 'Workflow name' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Greeting')
  await click(page.getByRole('button', { name: /^API call/ }))
  await click(page.getByRole('region', { name: 'What happens next?' }).getByRole('button', { name: 'Function' }))
  const inspector = page.getByRole('complementary', { name: 'Block Function' })
  await click(inspector.locator('.cm-content').first())
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText("return 'Hello'")
  await click(page.getByRole('button', { name: 'Deploy', exact: true }))
  await click(page.getByRole('dialog').getByRole('button', { name: 'Deploy', exact: true }))
  await page.getByText('Version 1 is live').first().waitFor()
  const line = (await page.getByTestId('snippet').textContent()) ?? ''
  const response = (await shell(line.replace('YOUR_API_KEY', apiKey))) as { output: { result: string } }
  expect(response.output.result).toBe('Hello')
  expect(clicks).toBeLessThanOrEqual(12)
  expect(scrolls).toBe(0)
  expect(visited.pageErrors).toEqual([])
}, 120_000)

test('a new workflow is empty, and asks what starts it and what happens next', async () => {
  const { page, serving, apiKey } = visited
  await startNew()
  const id = new URL(page.url()).pathname.split('/').pop()!
  const { body } = await call(`${serving.url}/api/workflows/${id}`, apiKey)
  expect((body as { blocks: object }).blocks).toEqual({})
  expect(await accessibilityFaults(page)).toEqual([])
  const name = page.getByRole('textbox', { name: 'Workflow name' })
  await name.and(page.locator(':focus')).waitFor()

  // With the keyboard alone: the name, the trigger, the next block.
  await page.keyboard.type('Typed')
  await page.keyboard.press('Enter')
  await page
    .getByRole('button', { name: /^API call/ })
    .and(page.locator(':focus'))
    .waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await node(page, 'Schedule').waitFor()
  const next = page.getByRole('region', { name: 'What happens next?' })
  await next.waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await next.getByRole('button', { name: /All blocks/ }).click()
  await page.getByRole('dialog', { name: 'Add block' }).waitFor()
  await page.keyboard.type('function')
  await page.keyboard.press('Enter')
  await node(page, 'Function').waitFor()
  await next.waitFor({ state: 'detached' })
  const { blocks, edges } = await saved(visited, id)
  expect(edges.map(({ source, target }) => [blocks[source]!.type, blocks[target]!.type])).toEqual([
    ['schedule', 'function'],
  ])
  // After a reload, the workflow is no longer new.
  await page.reload()
  await node(page, 'Function').waitFor()
  expect(await name.and(page.locator(':focus')).count()).toBe(0)
  expect(visited.pageErrors).toEqual([])
}, 60_000)

test('the first questions fit a narrow page, and the gallery can be opened from them', async () => {
  const { page } = visited
  await page.setViewportSize({ width: 390, height: 844 })
  await startNew()
  await page.getByRole('button', { name: /^Manual run/ }).click()
  const next = page.getByRole('region', { name: 'What happens next?' })
  await next.waitFor()
  const box = (await next.boundingBox())!
  expect(box.x).toBeGreaterThanOrEqual(0)
  expect(box.x + box.width).toBeLessThanOrEqual(390)
  await next.getByRole('button', { name: 'Function' }).click()
  await node(page, 'Function').waitFor()
  await startNew()
  await page.getByRole('link', { name: /Start from the gallery/ }).click()
  await page.waitForURL((url) => url.pathname.endsWith('/gallery'))
  await page.setViewportSize({ width: 1440, height: 900 })
  expect(visited.pageErrors).toEqual([])
}, 60_000)

test('a new block has no problems until a field was left, and they use the words of the labels', async () => {
  const { page, serving, apiKey } = visited
  await startNew()
  const id = new URL(page.url()).pathname.split('/').pop()!
  const problems = page.getByRole('button', { name: /problems?$/ })
  await page.getByRole('button', { name: /^API call/ }).click()
  await page.getByRole('region', { name: 'What happens next?' }).getByRole('button', { name: 'Agent' }).click()
  const agent = page.getByRole('complementary', { name: 'Block Agent' })
  await agent.getByLabel('Model').waitFor()
  // The check of the saved draft has found the problems: the service knows them, the page does not show them.
  await saved(visited, id)
  const { body } = await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST', {})
  expect(JSON.stringify(body)).toContain('Model is empty.')
  expect(await problems.count()).toBe(0)
  expect(await agent.getByText('is empty').count()).toBe(0)
  // Needed for this provider, so not optional.
  expect(await agent.locator('label', { hasText: 'API key' }).textContent()).toBe('API key')

  await agent.getByLabel('Model').click()
  await agent.getByLabel('Block name').focus()
  await agent.getByText('Model is empty.').waitFor()
  expect(await agent.getByText('API key is empty').count()).toBe(0)
  await page.getByRole('button', { name: '1 problem' }).waitFor()

  // A change takes its problem away at once. The next one is known to the service, but its field was not left.
  await agent.getByLabel('Model').pressSequentially('gpt-4o')
  await agent.getByText('Model is empty.').waitFor({ state: 'detached' })
  await saved(visited, id)
  expect(await problems.count()).toBe(0)
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/API key is empty/).waitFor()
  await page.keyboard.press('Escape')
  await agent.getByText(/API key is empty/).waitFor()
  await page.getByRole('button', { name: '1 problem' }).waitFor()
  expect(visited.pageErrors).toEqual([])
}, 60_000)

test('a loop and a parallel use the same words, and call optional only what is', async () => {
  const { page } = visited
  await startNew()
  await page.getByRole('button', { name: /^Manual run/ }).click()
  for (const type of ['Loop', 'Parallel']) {
    await page.getByRole('complementary', { name: 'Blocks' }).getByRole('button', { name: type, exact: true }).click()
    const inspector = page.getByRole('complementary', { name: `Block ${type}` })
    await inspector.getByLabel('Repeat').selectOption({ label: 'For each item in a list' })
    const items = inspector.locator('label', { hasText: 'Items' })
    await items.waitFor()
    expect(await items.textContent()).toBe('Items')
    await inspector.getByLabel('Items').click()
    await page.keyboard.press('Tab')
    await inspector.getByText('Items is empty. Enter a list or an object.').waitFor()
  }
  expect(visited.pageErrors).toEqual([])
}, 60_000)
