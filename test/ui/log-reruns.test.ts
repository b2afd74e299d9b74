import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../support/make.ts'
import { call, deploy, type Serving, serve } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { until } from '../support/ui/editor-page.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
let restarted: Serving | undefined
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(async () => {
  await visited.close()
  await restarted?.kill('SIGTERM')
})

test('a re-run that a restart of the service ended says so, and how many entries were run again', async () => {
  const { page, serving, apiKey, workspaceId, data } = visited
  const blocks = [block('start', 'api_trigger'), block('one', 'function', { code: 'return 1' })]
  const endpoint = await deploy(serving.url, apiKey, document({ name: 'Repeated', blocks, edges: ['start > one'] }))
  await call(endpoint, apiKey, 'POST', {})
  await call(endpoint, apiKey, 'POST', {})
  await page.goto(`${serving.url}/w/${workspaceId}/logs?search=Repeated`)
  await page.getByRole('button', { name: 'Run all again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Run all again' })
  // The second run would start ten seconds after the first one.
  await dialog.getByLabel('Runs per second').fill('0.1')
  await dialog.getByRole('button', { name: 'Run 2 entries again' }).click()
  await dialog.getByText('1 of 2 started').waitFor()
  const logs = `${serving.url}/api/v1/logs?workspaceId=${workspaceId}&search=Repeated`
  const logged = async () => ((await call(logs, apiKey)).body as { data: unknown[] }).data.length
  await until(async () => (await logged()) === 3)
  await serving.kill('SIGKILL')
  restarted = await serve(data, { MILLRACE_PORT: new URL(serving.url).port })
  await dialog.getByText('The service was restarted, so this re-run has ended. It starts nothing more.').waitFor()
  await dialog.getByText('At least 1 of 2 had started').waitFor()
  expect(await dialog.getByRole('alert').count()).toBe(0)
  expect(await dialog.getByRole('button', { name: 'Stop' }).count()).toBe(0)
  expect(await accessibilityFaults(page)).toEqual([])
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/rerun-ended.png` })
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  expect(await logged()).toBe(3)
  expect(visited.pageErrors).toEqual([])
}, 60_000)
