import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../support/make.ts'
import { call, deploy } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
let endpoint: string
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey } = visited
  const blocks = [block('start', 'api_trigger'), block('sum', 'function', { code: 'return 42' })]
  endpoint = await deploy(
    serving.url,
    apiKey,
    document({ name: 'Order', folder: 'sales/north', blocks, edges: ['start > sum'] }),
  )
  await call(endpoint, apiKey, 'POST', {})
}, 120_000)
afterAll(() => visited.close())

const list = async () => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
  await page.getByRole('searchbox').waitFor()
}
const line = (name: string) =>
  visited.page
    .getByRole('listitem')
    .filter({ has: visited.page.getByRole('link', { name, exact: true }) })
    .last()
const choose = async (name: string, entry: string) => {
  await visited.page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
  await visited.page.getByRole('menuitem', { name: entry }).click()
}

describe('the list of workflows', () => {
  test('shows folders, live versions, the last run, and the runs of the last 24 hours', async () => {
    const { page } = visited
    await list()
    await page.getByRole('button', { name: /^sales/ }).waitFor()
    await line('Order').getByText('v1 is live').waitFor()
    await line('Order').getByRole('img', { name: '1 run in the last 24 hours' }).waitFor()
    await line('Order').getByRole('img', { name: 'Succeeded' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: /^north/ }).click()
    await page.getByRole('link', { name: 'Order', exact: true }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('button', { name: /^north/ }).waitFor()
    expect(await page.getByRole('link', { name: 'Order', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: /^north/ }).click()
    await page.getByRole('link', { name: 'Order', exact: true }).waitFor()
  })

  test('searches names and folders, and keeps the query in the URL', async () => {
    const { page } = visited
    await list()
    await page.keyboard.press('/')
    await page.keyboard.type('north')
    await page.getByRole('link', { name: 'Order', exact: true }).waitFor()
    await page.getByRole('link', { name: 'First workflow', exact: true }).waitFor({ state: 'detached' })
    await page.waitForURL((url) => url.searchParams.get('q') === 'north')
    await page.keyboard.type(' nothing')
    await page.getByRole('heading', { name: 'No matching workflows' }).waitFor()
  })

  test('renames, moves and duplicates workflows', async () => {
    const { page } = visited
    await list()
    await choose('Order', 'Rename')
    await page.getByRole('dialog').getByLabel('Name').fill('Order <i>2</i>')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Order <i>2</i>', exact: true }).waitFor()
    await choose('Order <i>2</i>', 'Move to folder')
    await page.getByRole('dialog').getByLabel('Folder').fill('archive')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^archive/ }).waitFor()
    await page.getByRole('button', { name: /^sales/ }).waitFor({ state: 'detached' })
    await choose('Order <i>2</i>', 'Duplicate')
    await page.getByText('was created.').waitFor()
    await page.getByRole('button', { name: /^archive 2/ }).waitFor()
    await page.getByRole('button', { name: 'Actions for folder archive' }).click()
    await page.getByRole('menuitem', { name: 'Rename or move' }).click()
    await page.getByRole('dialog').getByLabel('Folder').fill('attic/old')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^old 2/ }).waitFor()
  })

  test('exports a workflow to a file, and imports files and pasted text', async () => {
    const { page } = visited
    await list()
    const download = page.waitForEvent('download')
    await choose('First workflow', 'Export')
    const file = await (await download).path()
    const text = await Bun.file(file).text()
    expect(Object.keys(JSON.parse(text)).toSorted()).toEqual(
      [
        'blocks',
        'description',
        'edges',
        'id',
        'name',
        ...('variables' in JSON.parse(text) ? ['variables'] : []),
      ].toSorted(),
    )
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByLabel('Files to import').setInputFiles(file)
    await page.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('1 workflow imported.').waitFor()
    await list()
    await page.getByRole('link', { name: 'First workflow 2', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByLabel('Or paste a document').fill('{ "name": "x" }')
    await page.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('This document is not a workflow: it has no blocks.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
  })

  test('deletes undeployed workflows immediately and live ones after confirmation, and restores both', async () => {
    const { page, apiKey } = visited
    await list()
    await choose('First workflow 2', 'Delete')
    await page.getByText('First workflow 2 was deleted.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'First workflow 2', exact: true }).waitFor()
    await choose('Order <i>2</i>', 'Delete')
    await page.getByRole('dialog').getByText('Version 1 is live').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    // Elements behind a dialog are hidden from screen readers, so wait for the notification first.
    await page.getByText('Order <i>2</i> was deleted.').waitFor()
    await page.getByRole('link', { name: 'Order <i>2</i>', exact: true }).waitFor({ state: 'detached' })
    expect((await call(endpoint, apiKey, 'POST', {})).status).toBe(404)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Deleted workflows' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).first().click()
    await page.getByText('Workflow restored.').waitFor()
    expect((await call(endpoint, apiKey, 'POST', {})).status).toBe(200)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(visited.pageErrors).toEqual([])
  })

  test('creates a workflow and opens it', async () => {
    const { page } = visited
    await list()
    await page.getByRole('button', { name: 'New workflow', exact: true }).click()
    await page.waitForURL(/\/workflows\/[\w-]+$/)
    const name = page.getByRole('textbox', { name: 'Workflow name' })
    await name.and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Invoices')
    await page.keyboard.press('Enter')
    await list()
    await page.getByRole('link', { name: 'Invoices', exact: true }).waitFor()
  })
})
