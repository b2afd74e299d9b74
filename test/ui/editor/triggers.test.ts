import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { emptyWorkflow, node, saved, shell, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

test('a webhook trigger shows its URL once saved, and the displayed command gets a response', async () => {
  const { page, serving, pageErrors } = visited
  const id = await emptyWorkflow(visited, 'Hooked')
  const inspector = page.getByRole('complementary', { name: 'Block Webhook' })
  await page.getByRole('complementary', { name: 'Blocks' }).getByRole('button', { name: 'Webhook trigger' }).click()
  const path = inspector.getByLabel('Path')
  const given = await until(async () => (await path.inputValue()) || undefined)
  const url = `${serving.url}/api/webhooks/trigger/${given}`
  expect(await inspector.getByTestId('address').textContent()).toBe(url)
  await node(page, `/${given}`).waitFor()
  expect(Object.values((await saved(visited, id)).blocks)[0]?.params['path']).toBe(given)

  // An emptied field stays empty while it has the focus. Left empty, it gets the service's value back.
  await path.fill('')
  await saved(visited, id)
  expect(await path.inputValue()).toBe('')
  await path.blur()
  await until(async () => (await path.inputValue()) === given)

  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  const section = dialog.getByRole('region', { name: 'Webhook' })
  await until(async () => !(await section.textContent())?.includes('inactive until'))
  expect(await section.getByTestId('address').textContent()).toBe(url)
  await section.getByRole('button', { name: 'Copy URL' }).waitFor()
  expect(await dialog.getByText('API trigger').count()).toBe(0)
  expect(await dialog.getByText('/execute').count()).toBe(0)
  expect(await accessibilityFaults(page)).toEqual([])
  const line = (await section.getByTestId('snippet').textContent()) ?? ''
  expect(await shell(line)).toMatchObject({ success: true })
  expect(pageErrors).toEqual([])
}, 120_000)

test('chats and schedules show their URL and next runs in the dialog and the inspector', async () => {
  const { page, serving, apiKey } = visited
  const blocks = [
    block('Talk', 'chat_trigger', { identifier: 'help', access: 'public' }, { position: { x: 0, y: 0 } }),
    block('Daily', 'schedule', { cron: '0 9 * * *' }, { position: { x: 0, y: 200 } }),
    block('say', 'function', { code: 'return 1' }, { position: { x: 400, y: 0 } }),
  ]
  const draft = document({ name: 'Talked to', blocks, edges: ['Talk > say', 'Daily > say'] })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', draft)
  await page.goto(`${serving.url}/workflows/${(body as { id: string }).id}`)
  const inspector = page.getByRole('complementary', { name: /^Block / })
  await node(page, 'Talk').click()
  await inspector.getByText(`${serving.url}/chat/help`).waitFor()
  expect(await inspector.getByRole('link', { name: 'Open chat' }).getAttribute('href')).toEndWith('/chat/help')
  await node(page, 'Daily').click()
  await inspector.getByRole('list', { name: 'Next runs' }).getByRole('listitem').nth(1).waitFor()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Entry points' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('region', { name: 'Talk' }).getByRole('link', { name: 'Open chat' }).waitFor()
  await dialog.getByRole('region', { name: 'Daily' }).getByRole('list', { name: 'Next runs' }).waitFor()
  await until(async () => (await dialog.getByText('inactive until the workflow is deployed').count()) === 2)
}, 120_000)
