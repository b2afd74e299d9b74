import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Visit, visit } from '../support/ui/browser.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const open = async (search = '') => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/gallery${search}`)
  await page.getByRole('searchbox', { name: 'Search the gallery' }).waitFor()
}

describe('the gallery', () => {
  test('opens from the list of workflows, from a new workflow, and from the command palette', async () => {
    const { page, serving, workspaceId } = visited
    const list = `${serving.url}/w/${workspaceId}/workflows`
    const arrive = () => page.waitForURL((url) => url.pathname.endsWith('/gallery'))
    await page.goto(list)
    await page.getByRole('button', { name: 'Gallery' }).click()
    await arrive()
    await page.goto(list)
    await page.getByRole('button', { name: 'New workflow', exact: true }).click()
    await page.getByRole('link', { name: /Start from the gallery/ }).click()
    await arrive()
    await page.goto(list)
    await page.getByRole('button', { name: 'Gallery' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('templates')
    await page.keyboard.press('Enter')
    await arrive()
  })

  test('finds workflows by their purpose and their blocks, and keeps the search in the address', async () => {
    const { page } = visited
    await open()
    expect(await page.getByRole('region', { name: 'Schedules' }).getByRole('button').count()).toBe(5)
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('/')
    await page.keyboard.type('webhook trigger signed')
    await page.getByRole('button', { name: /Handle payments from Stripe/ }).waitFor()
    await page.getByRole('button', { name: /Start with a small endpoint/ }).waitFor({ state: 'detached' })
    await page.waitForURL((url) => url.searchParams.get('q') === 'webhook trigger signed')
    await page.keyboard.type(' zzqx')
    await page.getByRole('heading', { name: 'No matching workflows' }).waitFor()
  })

  test('shows a preview and what is needed, and creates a workflow that runs', async () => {
    const { page } = visited
    await open()
    await page.getByRole('button', { name: /Copy records every night/ }).click()
    const panel = page.getByRole('complementary', { name: 'Copy records every night' })
    await panel.getByText('TARGET_URL', { exact: true }).waitFor()
    await panel.getByText('Changed').first().waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: /Process a list one by one/ }).click()
    await page.getByRole('button', { name: 'Use this workflow' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/workflows/'))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(/^Succeeded in/).waitFor()
    expect(visited.pageErrors).toEqual([])
  }, 30_000)
})
