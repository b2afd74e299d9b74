import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import '../../support/built.ts'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'
import { faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
let screen: string
let entries: string
beforeAll(async () => {
  visited = await visit()
  const { serving, workspaceId } = visited
  screen = `${serving.url}/w/${workspaceId}/store`
  entries = `${serving.url}/api/workspaces/${workspaceId}/store`
}, 120_000)
afterAll(() => visited.close())

const set = async (key: string, value: unknown, query = '') => {
  const at = `${entries}/${encodeURIComponent(key)}${query}`
  expect((await call(at, visited.apiKey, 'PUT', { value })).status).toBe(200)
}

describe('the screen Store', () => {
  test('adds, shows, changes and deletes an entry by keyboard', async () => {
    const { page } = visited
    await page.goto(screen)
    await page.getByText('No entries yet').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    await page.getByRole('button', { name: 'New entry' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New entry' })
    await dialog.waitFor()
    await page.keyboard.type('visits/home')
    await page.keyboard.press('Tab')
    await page.keyboard.type('{"total": oops')
    await dialog.getByText('This is not valid JSON').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('{"total": 3}')
    await page.keyboard.press('Tab')
    await page.keyboard.type('3600')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const { data } = (await call(entries, visited.apiKey, 'GET')).body as {
      data: { key: string; value: unknown; expiresAt: string }[]
    }
    expect(data).toMatchObject([{ key: 'visits/home', value: { total: 3 } }])
    expect(Date.parse(data[0]!.expiresAt)).toBeGreaterThan(Date.now() + 3_000_000)
    expect(await faultsInBothThemes(page)).toEqual([])

    await page.getByRole('button', { name: 'visits/home', exact: true }).focus()
    await page.keyboard.press('Enter')
    const opened = page.getByRole('dialog', { name: 'Entry' })
    const value = opened.getByLabel('Value')
    expect(await value.inputValue()).toBe('{\n  "total": 3\n}')
    await value.fill('[1, 2]')
    await opened.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByText('[1,2]').waitFor()

    await page.getByRole('button', { name: 'Delete visits/home' }).press('Enter')
    await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
    await page.getByText('No entries yet').waitFor()
  }, 60_000)

  test('searches by the beginning of the key, chooses a workflow, and exports', async () => {
    const { page, serving, apiKey } = visited
    const made = document({ name: 'Remembering', blocks: [block('start', 'api_trigger')] })
    const { id } = (await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)).body as { id: string }
    for (let at = 0; at < 60; at += 1) await set(`seen/${String(at).padStart(2, '0')}`, at)
    await set('other', 'x'.repeat(1_000))
    await set('own', { deep: [{ er: true }] }, `?workflowId=${id}`)
    await page.goto(screen)
    await page.getByRole('button', { name: 'other', exact: true }).waitFor()
    await page.getByLabel('Key begins with').fill('seen/')
    await page.waitForURL('**/store?prefix=seen%2F')
    await until(async () => (await page.getByRole('row').count()) === 51)
    await page.getByRole('button', { name: 'Show more' }).click()
    await until(async () => (await page.getByRole('row').count()) === 61)
    await page.getByLabel('Key begins with').fill('')
    await page.getByLabel('Entries of').selectOption({ label: 'Remembering' })
    await page.getByRole('button', { name: 'own', exact: true }).waitFor()
    await page.getByText('{"deep":[{"er":true}]}').waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export' }).click()
    const file = await (await downloading).createReadStream()
    const { data } = JSON.parse(await new Response(file as unknown as ReadableStream).text()) as { data: unknown[] }
    expect(data).toMatchObject([{ key: 'own', value: { deep: [{ er: true }] } }])
  }, 60_000)

  test('fits a narrow page', async () => {
    const { page } = visited
    await set('a-key/that-is-much-longer-than-a-narrow-page/and-goes-on-for-a-while', 'y'.repeat(500))
    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(screen)
    await page
      .getByRole('button', { name: /^a-key/ })
      .first()
      .waitFor()
    expect(await page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    expect(await faultsInBothThemes(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
  }, 60_000)
})
