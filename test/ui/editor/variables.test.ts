import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, saved, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const at = (x: number, y: number) => ({ position: { x, y } })
const start = block('Start', 'api_trigger', { inputFormat: [] }, at(0, 0))
const inspector = (name: string) => visited.page.getByRole('complementary', { name: `Block ${name}` })

async function variables(): Promise<Record<string, boolean>> {
  const { serving, apiKey, workspaceId } = visited
  const { body } = await call(`${serving.url}/api/workspaces/${workspaceId}/environment`, apiKey)
  const rows = (body as { data: { name: string; plain: boolean }[] }).data
  return Object.fromEntries(rows.map(({ name, plain }) => [name, plain]))
}

test('a variable is created over the editor, and completes the text in the field', async () => {
  const { page, pageErrors } = visited
  const id = await openWorkflow(visited, { name: 'Braces', blocks: [block('Fetch', 'api', { url: '' }, at(0, 0))] })
  await node(page, 'Fetch').click()
  const url = inspector('Fetch').getByLabel('URL')
  await url.pressSequentially('{{BASE')
  await inspector('Fetch').getByText('No environment variable is named BASE.').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByLabel('Name').inputValue()).toBe('BASE')
  expect(await dialog.getByRole('switch', { name: 'Secret: hide it in logs' }).isChecked()).toBe(true)
  expect(await accessibilityFaults(page)).toEqual([])
  // The name of another variable is not accepted: its value would be lost.
  const { serving, apiKey, workspaceId } = visited
  const environment = `${serving.url}/api/workspaces/${workspaceId}/environment`
  expect((await call(`${environment}/OTHER`, apiKey, 'PUT', { value: 'kept' })).status).toBe(200)
  await dialog.getByText('Secret: hide it in logs').click()
  await dialog.getByLabel('Value').fill('https://example.com')
  await dialog.getByLabel('Name').fill('OTHER')
  await dialog.getByRole('button', { name: 'Create variable' }).click()
  await dialog.getByText('OTHER exists already.').first().waitFor()
  await dialog.getByLabel('Name').fill('BASE')
  await dialog.getByRole('button', { name: 'Create variable' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await url.inputValue()).toBe('{{BASE}}')
  expect((await saved(visited, id)).blocks['Fetch']?.params['url']).toBe('{{BASE}}')
  expect((await variables())['BASE']).toBe(true)
  expect(pageErrors).toEqual([])
}, 120_000)

test('an unset variable is a problem while editing and when deploying, until it is created there', async () => {
  const { page } = visited
  await openWorkflow(visited, {
    name: 'Unset',
    blocks: [start, block('Say', 'response', { data: 'x', status: 200 }, at(320, 0))],
    edges: ['Start > Say'],
  })
  await node(page, 'Say').click()
  await inspector('Say').getByLabel('Status').fill('{{MY_STATUS}}')
  await inspector('Say').getByLabel('Block name').focus()
  const note = inspector('Say').getByRole('note')
  await note.getByText('The environment variable {{MY_STATUS}} is not set in this workspace').waitFor()
  await page.getByRole('button', { name: /problem/ }).click()
  await page.getByRole('button', { name: 'Create MY_STATUS' }).first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const warnings = page.getByRole('dialog').getByRole('region', { name: 'Warnings' })
  await warnings.getByRole('button', { name: 'Create MY_STATUS' }).click()
  const dialog = page.getByRole('dialog', { name: 'New environment variable' })
  await dialog.getByLabel('Value').fill('201')
  await dialog.getByRole('button', { name: 'Create variable' }).click()
  await dialog.waitFor({ state: 'detached' })
  await until(async () => (await page.getByText('is not set in this workspace').count()) === 0)
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  expect(await note.count()).toBe(0)
  expect(await variables()).toMatchObject({ MY_STATUS: false })
}, 120_000)

test('a key that is written in a block gets a kind warning, and one button makes it a variable', async () => {
  const { page } = visited
  const headers = [{ key: 'Authorization', value: 'Bearer plain-token-of-mine' }]
  const id = await openWorkflow(visited, {
    name: 'Keys',
    blocks: [
      start,
      block('Ask', 'agent', { provider: 'openai', model: 'gpt-4o', userPrompt: 'Hi' }, at(320, 0)),
      block('Fetch', 'api', { url: 'https://example.com', headers }, at(640, 0)),
    ],
    edges: ['Start > Ask', 'Ask > Fetch'],
  })
  const make = async (name: string, value: string) => {
    await inspector(name).getByRole('button', { name: 'Save it as an environment variable' }).click()
    const dialog = page.getByRole('dialog', { name: 'New environment variable' })
    expect(await dialog.getByLabel('Value').inputValue()).toBe(value)
    await dialog.getByRole('button', { name: 'Create variable' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await node(page, 'Ask').click()
  await inspector('Ask').getByLabel('API key').fill('sk-plain-key')
  await inspector('Ask').getByLabel('Block name').focus()
  await inspector('Ask').getByText('This secret is part of the workflow').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await make('Ask', 'sk-plain-key')
  expect(await inspector('Ask').getByLabel('API key').inputValue()).toBe('{{ASK_API_KEY}}')
  await node(page, 'Fetch').click()
  await make('Fetch', 'plain-token-of-mine')
  await until(async () => {
    const { blocks } = await saved(visited, id)
    const [header] = blocks['Fetch']!.params['headers'] as typeof headers
    return header?.value === 'Bearer {{FETCH_AUTHORIZATION}}' && blocks['Ask']?.params['apiKey'] === '{{ASK_API_KEY}}'
  })
  await until(async () => (await page.getByText('This secret is part of the workflow').count()) === 0)
  expect(await variables()).toMatchObject({ ASK_API_KEY: false, FETCH_AUTHORIZATION: false })
}, 120_000)

test('an API key is created where the call is shown', async () => {
  const { page, serving } = visited
  const id = await openWorkflow(visited, { name: 'Called', blocks: [start] })
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByRole('button', { name: 'Create an API key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New API key' })
  await dialog.getByLabel('Name').fill('Shop')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = await page.getByRole('dialog', { name: 'Copy your API key now' }).locator('code').textContent()
  const { status } = await call(`${serving.url}/api/workflows/${id}/execute`, key ?? '', 'POST', {})
  expect(status).toBe(200)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByTestId('snippet').waitFor()
}, 120_000)
