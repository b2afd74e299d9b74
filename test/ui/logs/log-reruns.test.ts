import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Serving, serve } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
let restarted: Serving | undefined
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(async () => {
  await visited.close()
  await restarted?.kill('SIGTERM')
})

test('a re-run shows its progress to the end, starts nothing more when it is stopped, and shows no error', async () => {
  const { page, serving, apiKey, workspaceId } = visited
  const blocks = [block('start', 'api_trigger'), block('one', 'function', { code: 'return 1' })]
  const endpoint = await deploy(serving.url, apiKey, document({ name: 'Stopped', blocks, edges: ['start > one'] }))
  await call(endpoint, apiKey, 'POST', {})
  await call(endpoint, apiKey, 'POST', {})
  await page.goto(`${serving.url}/w/${workspaceId}/logs?search=Stopped`)
  const dialog = page.getByRole('dialog', { name: 'Run all again' })
  const begin = async (perSecond: string, count: number) => {
    await page.getByRole('button', { name: 'Run all again' }).click()
    await dialog.getByLabel('Runs per second').fill(perSecond)
    await dialog.getByRole('button', { name: `Run ${count} entries again` }).click()
  }
  await begin('100', 2)
  await dialog.getByText('All runs have started.').waitFor()
  await dialog.getByText('2 of 2 started').waitFor()
  expect(await dialog.getByRole('alert').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  // The rows of the new runs.
  await page.getByText('4 runs').waitFor()

  await begin('0.1', 4)
  await dialog.getByText('1 of 4 started').waitFor()
  expect(await dialog.getByRole('alert').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await dialog.getByText('Stopped. Runs that have started continue.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('5 runs').waitFor()
}, 60_000)

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
