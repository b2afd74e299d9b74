import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/settings/connectors`)
  await page.getByRole('row', { name: 'Slack' }).waitFor()
}, 120_000)
afterAll(() => visited.close())

const dialog = () => visited.page.getByRole('dialog')
const row = (name: string) => visited.page.getByRole('row', { name })
const stored = async (id: string) => {
  const { serving, workspaceId, apiKey } = visited
  const { body } = await call(`${serving.url}/api/workspaces/${workspaceId}/connectors/${id}`, apiKey)
  return body as { connector: { name: string; operations: Record<string, unknown> } }
}

const petShop = {
  openapi: '3.1.0',
  info: { title: 'Pet shop' },
  servers: [{ url: 'https://pets.example/v1' }],
  paths: {
    '/pets': {
      get: { operationId: 'listPets', summary: 'List pets' },
      post: { operationId: 'addPet', summary: 'Add a pet' },
      trace: {},
    },
    '/pets/{id}': { delete: { operationId: 'removePet', summary: 'Remove a pet' } },
  },
}

describe('the connectors page', () => {
  test('shows what a connector does, how it signs in and how it was checked', async () => {
    const { page } = visited
    await page.getByRole('button', { name: 'Slack' }).click()
    await dialog().getByText('https://slack.com/api').waitFor()
    await dialog().getByText('checked against the documented responses only').waitFor()
    await dialog()
      .getByText('Post a message', { exact: true })
      .or(dialog().getByText('Send a message'))
      .first()
      .waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
  }, 120_000)

  test('imports the selected operations of a document, and lists what cannot be imported', async () => {
    const { page } = visited
    await page.getByRole('button', { name: 'Import connector' }).click()
    await dialog().getByRole('button', { name: 'Read' }).click()
    await dialog().getByText('Choose a file, paste a document, or enter a URL.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog()
      .getByLabel('Document to import')
      .setInputFiles({
        ...{ name: 'pets.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(petShop)) },
      })
    await dialog().getByText('pets.json').waitFor()
    await dialog().getByRole('button', { name: 'Read' }).click()
    await dialog().getByText('Requests go to https://pets.example/v1.').waitFor()
    await dialog().getByText('1 part of the document cannot be imported').click()
    await dialog().getByText('Operations do not use this method.').waitFor()
    await dialog().getByLabel('Search operations').fill('remove')
    await dialog().getByRole('checkbox', { name: 'Remove a pet' }).uncheck()
    await dialog().getByText('2 of 3').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog().getByLabel('ID', { exact: true }).fill('slack')
    await dialog().getByText('is built in and has this ID').waitFor()
    await dialog().getByRole('button', { name: 'Add connector' }).click()
    await dialog()
      .getByText(/built.in|comes with/i)
      .last()
      .waitFor()
    await dialog().getByLabel('ID', { exact: true }).fill('pets')
    await dialog().getByRole('button', { name: 'Add connector' }).click()
    await row('Pet shop').getByText('This workspace').waitFor()
    const { connector } = await stored('pets')
    expect(connector.name).toBe('Pet shop')
    expect(Object.keys(connector.operations).sort()).toEqual(['addPet', 'listPets'])
    expect(await accessibilityFaults(page)).toEqual([])
  }, 120_000)

  test('imports a cURL command, and says what is wrong with any other text', async () => {
    const { page } = visited
    await page.getByRole('button', { name: 'Import connector' }).click()
    await dialog().getByLabel('Or paste it').fill('{"a": 1}')
    await dialog().getByRole('button', { name: 'Read' }).click()
    await dialog().getByText('The document is not an OpenAPI, Discovery or HAR document').waitFor()
    await dialog().getByLabel('Or paste it').fill("curl https://shop.example/orders -H 'Accept: application/json'")
    await dialog().getByRole('button', { name: 'Read' }).click()
    await dialog().getByRole('checkbox', { name: 'GET /orders' }).waitFor()
    await dialog().getByRole('button', { name: 'Add connector' }).click()
    await row('shop.example').waitFor()
  }, 120_000)

  test('deletes a connector of the workspace, and none of the built-in ones', async () => {
    const { page } = visited
    expect(await row('Slack').getByRole('button', { name: 'Delete' }).count()).toBe(0)
    await row('shop.example').getByRole('button', { name: 'Delete' }).click()
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await row('shop.example').waitFor({ state: 'detached' })
    const { serving, workspaceId, apiKey } = visited
    const { status } = await call(`${serving.url}/api/workspaces/${workspaceId}/connectors/shop-example`, apiKey)
    expect(status).toBe(404)
    expect(visited.pageErrors).toEqual([])
    await page.getByRole('button', { name: 'Import connector' }).waitFor()
  }, 120_000)
})
