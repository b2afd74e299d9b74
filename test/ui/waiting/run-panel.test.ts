import { afterAll, beforeAll, expect, test } from 'bun:test'
import '../../support/built.ts'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
let peer: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  // This server never responds.
  peer = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 120 },
    fetch: () => new Promise<Response>(() => undefined),
  })
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
}, 120_000)
afterAll(async () => {
  await visited.close()
  await peer.stop(true)
})

async function deploy(made: ReturnType<typeof document>): Promise<string> {
  const { serving, apiKey } = visited
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  const { id } = body as { id: string }
  expect((await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')).status).toBe(200)
  return id
}

const invoices = () =>
  document({
    name: `Invoices that are to be paid before the end of the month ${crypto.randomUUID()}`,
    blocks: [
      block('start', 'api_trigger'),
      block('check', 'function', { code: 'return 1' }),
      block('ask', 'approval', { title: 'Pay the invoice?', expiresAfterMs: 3_600_000 }),
    ],
    edges: ['start > check', 'check > ask'],
  })

test('an unfinished run can be watched by keyboard until it leads to its log entry', async () => {
  const { page, serving, apiKey, workspaceId } = visited
  const id = await deploy(invoices())
  const ran = await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', {})
  const { executionId } = ran.body as { executionId: string }
  await page.goto(`${serving.url}/w/${workspaceId}/waiting?view=runs&status=paused&workflow=${id}`)
  await page.getByRole('button', { name: /^Invoices/ }).focus()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('complementary', { name: 'Run' })
  await panel.getByRole('region', { name: 'Blocks so far' }).getByText('check', { exact: true }).waitFor()
  await panel.getByText('Paused', { exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('run')).toBe(executionId)
  expect(await faultsInBothThemes(page)).toEqual([])
  const waitsFor = panel.getByRole('region', { name: 'Waits for' }).getByRole('link', { name: /Pay the invoice\?/ })
  await waitsFor.focus()
  await page.keyboard.press('Enter')
  const pause = page.getByRole('complementary', { name: 'Pause' })
  await pause.getByRole('link', { name: 'Show its progress' }).focus()
  await page.keyboard.press('Enter')
  await waitsFor.waitFor()
  const contextId = (ran.body as { paused: { contextId: string }[] }).paused[0]!.contextId
  await call(`${serving.url}/api/workspaces/${workspaceId}/pauses/${contextId}/resume`, apiKey, 'POST')
  await panel.getByText('The run has completed.').waitFor()
  expect(await panel.getByRole('button', { name: 'Cancel run' }).count()).toBe(0)
  expect(await faultsInBothThemes(page)).toEqual([])
  await panel.getByRole('link', { name: 'Open the log entry' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/logs/log_*')
  await page.getByText(executionId).first().waitFor()
  expect(visited.pageErrors).toEqual([])
}, 120_000)

test('a running run shows the block that is running, and is cancelled', async () => {
  const { page, serving, apiKey, workspaceId } = visited
  const id = await deploy(
    document({
      name: 'Slow',
      blocks: [block('start', 'api_trigger'), block('fetch', 'api', { url: `http://127.0.0.1:${peer.port}/` })],
      edges: ['start > fetch'],
    }),
  )
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'x-execution-mode': 'async' }
  const accepted = await fetch(`${serving.url}/api/workflows/${id}/execute`, { method: 'POST', headers, body: '{}' })
  expect(accepted.status).toBe(202)
  await page.goto(`${serving.url}/w/${workspaceId}/waiting?view=runs&workflow=${id}`)
  await page.getByRole('button', { name: 'Slow', exact: true }).click()
  const panel = page.getByRole('complementary', { name: 'Run' })
  const blocks = panel.getByRole('region', { name: 'Blocks so far' })
  await blocks.getByRole('listitem').filter({ hasText: 'fetch' }).getByText('Running').waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
  await panel.getByRole('button', { name: 'Cancel run' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
  await panel.getByText('The run was cancelled.').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
}, 120_000)

test('the panel of a run fits a phone', async () => {
  const { serving, apiKey, workspaceId, context } = visited
  const id = await deploy(invoices())
  const ran = await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', {})
  const { executionId } = ran.body as { executionId: string }
  const page = await context.newPage()
  await page.setViewportSize({ width: 390, height: 780 })
  await page.goto(`${serving.url}/w/${workspaceId}/waiting?view=runs&status=paused&run=${executionId}`)
  const panel = page.getByRole('complementary', { name: 'Run' })
  await panel.getByText('Pay the invoice?').waitFor()
  expect(await page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  expect(await faultsInBothThemes(page)).toEqual([])
  await panel.getByRole('button', { name: 'Close' }).click()
  await page
    .getByRole('button', { name: /^Invoices/ })
    .first()
    .waitFor()
  await page.close()
}, 120_000)
