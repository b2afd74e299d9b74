import { afterAll, beforeAll, expect, test } from 'bun:test'
import '../../support/built.ts'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

test('the sidebar shows how many approvals wait, and updates the number after an answer', async () => {
  const { page, serving, apiKey, workspaceId } = visited
  const made = document({
    blocks: [
      block('start', 'api_trigger'),
      block('each', 'parallel'),
      block('ask', 'approval', { title: 'Pay the invoice?' }, { parentId: 'each' }),
      block('nap', 'wait', { for: '3 days' }),
    ],
    edges: ['start > each', 'each:parallel-start-source > ask', 'start > nap'],
    parallels: { each: { parallelType: 'count', count: 3 } },
  })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  const { id } = body as { id: string }
  await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  const execute = async (times: number) => {
    for (let n = 0; n < times; n += 1) {
      expect((await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', {})).status).toBe(202)
    }
  }
  await execute(1)
  const item = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Waiting/ })
  const withNumber = (text: string) =>
    page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: `Waiting ${text}`, exact: true })
      .waitFor()
  await page.goto(`${serving.url}/w/${workspaceId}/waiting`)
  await withNumber('3 approvals')
  expect(await faultsInBothThemes(page)).toEqual([])
  await page.getByRole('button', { name: 'Pay the invoice?' }).first().click()
  await page.getByRole('complementary', { name: 'Pause' }).getByRole('button', { name: 'Approve' }).click()
  await withNumber('2 approvals')
  await execute(34)
  // The editor has a small sidebar.
  await page.goto(`${serving.url}/workflows/${id}`)
  await withNumber('99+ approvals')
  expect(await faultsInBothThemes(page)).toEqual([])
  await item.focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/waiting')
  expect(visited.pageErrors).toEqual([])
}, 120_000)
