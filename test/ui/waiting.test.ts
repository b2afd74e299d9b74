import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import '../support/built.ts'
import { millrace } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call } from '../support/running-service.ts'
import { approveByKeyboard } from '../support/ui/approve.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { until } from '../support/ui/editor-page.ts'
import { faultsInBothThemes } from './accessibility.ts'

let visited: Visit
let waiting: string
beforeAll(async () => {
  visited = await visit()
  waiting = `${visited.serving.url}/w/${visited.workspaceId}/waiting`
}, 120_000)
afterAll(() => visited.close())

type Asked = { workflowId: string; executionId: string; contextId: string }

/** Starts a run that waits at a block. */
async function pause(title: string, params: Record<string, unknown> = {}, type = 'approval'): Promise<Asked> {
  const { serving, apiKey } = visited
  const asks = type === 'approval' ? { title, message: 'Invoice 4711\n120 EUR', ...params } : params
  const made = document({
    name: `${title} ${crypto.randomUUID().slice(0, 8)}`,
    blocks: [
      block('start', 'api_trigger'),
      block('ask', type, asks),
      block('done', 'function', { code: type === 'approval' ? 'return <ask.fields>' : 'return 1' }),
    ],
    edges: ['start > ask', 'ask > done'],
  })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  const { id } = body as { id: string }
  await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  const ran = await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', {})
  expect(ran.status).toBe(202)
  const paused = ran.body as { executionId: string; paused: { contextId: string }[] }
  return { workflowId: id, executionId: paused.executionId, contextId: paused.paused[0]!.contextId }
}

type Job = { status: string; output?: { result: unknown } }

async function jobUntil(executionId: string, status: string): Promise<Job> {
  const { serving, apiKey } = visited
  return await until(async () => {
    const job = (await call(`${serving.url}/api/jobs/${executionId}`, apiKey, 'GET')).body as Job
    return job.status === status && job
  })
}

const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Pause' })

describe('the screen Waiting', () => {
  test('filters what waits, and answers an approval by keyboard', async () => {
    const { page } = visited
    const fields = [
      { name: 'reason', type: 'string', label: 'Reason', required: true },
      { name: 'account', type: 'string', label: 'Account', options: ['Travel', 'Office'] },
      { name: 'urgent', type: 'boolean', label: 'Urgent' },
    ]
    const { executionId } = await pause('Pay the invoice?', { fields, expiresAfterMs: 3_600_000 })
    await pause('Long wait', { for: '3 days' }, 'wait')
    await page.goto(waiting)
    await page.getByText('Pay the invoice?', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'ask', exact: true }).waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    await page.getByRole('radio', { name: 'Approval' }).check({ force: true })
    await page.waitForURL('**/waiting?kind=approval')
    await until(async () => (await page.getByRole('button', { name: 'ask', exact: true }).count()) === 0)
    await page.getByRole('button', { name: 'Pay the invoice?' }).focus()
    await page.keyboard.press('Enter')
    const panel = panelOf(page)
    await panel.getByText('Invoice 4711').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    await panel.getByLabel('Reason').focus()
    await approveByKeyboard(page)
    await page.getByText('Approved. The run continues.').waitFor()
    expect((await jobUntil(executionId, 'completed')).output?.result).toEqual({
      ...{ reason: 'Within the budget', account: 'Office', urgent: true },
    })
    await until(async () => (await page.getByText('Pay the invoice?', { exact: true }).count()) === 0)
  }, 120_000)

  test('continues a wait, changes the end of an approval and cancels its run', async () => {
    const { page, serving, apiKey, workspaceId } = visited
    const wait = await pause('Short', { for: '2 days' }, 'wait')
    await page.goto(`${waiting}?pause=${wait.contextId}`)
    await panelOf(page).getByRole('button', { name: 'Continue' }).click()
    await jobUntil(wait.executionId, 'completed')
    const asked = await pause('Keep it?', { expiresAfterMs: 3_600_000 })
    await page.goto(`${waiting}?pause=${asked.contextId}`)
    await panelOf(page).getByRole('button', { name: 'Change end' }).click()
    const dialog = page.getByRole('dialog')
    const day = new Date(Date.now() + 100 * 86_400_000).toISOString().slice(0, 10)
    await dialog.getByLabel('Ends at').fill(`${day}T09:00`)
    expect(await faultsInBothThemes(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    const detail = `${serving.url}/api/workspaces/${workspaceId}/pauses/${asked.contextId}`
    const endOf = async () => ((await call(detail, apiKey, 'GET')).body as { until: string | null }).until
    const chosen = Date.parse(await page.evaluate((local) => new Date(local).toISOString(), `${day}T09:00`))
    await until(async () => Date.parse((await endOf()) ?? '') === chosen)
    await panelOf(page).getByRole('button', { name: 'Change end' }).click()
    await dialog.getByRole('switch', { name: 'No end' }).click()
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await panelOf(page).getByText('Never by itself').waitFor()
    await panelOf(page).getByRole('button', { name: 'Cancel run' }).click()
    await dialog.getByRole('button', { name: 'Cancel run' }).click()
    await jobUntil(asked.executionId, 'cancelled')
  }, 120_000)

  test('says what has happened when somebody else was faster', async () => {
    const { page, serving, apiKey, workspaceId } = visited
    const { contextId } = await pause('Who is faster?')
    await page.goto(`${waiting}?pause=${contextId}`)
    await panelOf(page).getByRole('button', { name: 'Approve' }).waitFor()
    // Until the click, the page cannot learn what has happened.
    const clicked = Promise.withResolvers<void>()
    const detail = `**/pauses/${contextId}`
    await page.route(detail, async (route) => {
      await clicked.promise
      await route.continue()
    })
    await call(`${serving.url}/api/workspaces/${workspaceId}/pauses/${contextId}/resume`, apiKey, 'POST')
    const refused = page.waitForResponse((response) => response.url().includes('/api/pauses/'))
    await panelOf(page).getByRole('button', { name: 'Approve' }).click()
    expect((await refused).status()).toBe(409)
    clicked.resolve()
    await panelOf(page).getByText('This pause was answered before').first().waitFor()
    await page.unroute(detail)
    expect(await faultsInBothThemes(page)).toEqual([])
  }, 120_000)

  test('lists unfinished runs, and cancels them', async () => {
    const { page } = visited
    const { executionId, workflowId } = await pause('Cancelled from the list')
    await page.goto(`${waiting}?view=runs&status=paused&workflow=${workflowId}`)
    await page.getByRole('cell', { name: executionId }).waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
    await jobUntil(executionId, 'cancelled')
    await page.getByText('No paused runs').waitFor()
  }, 120_000)

  test('is reached from the block on the canvas, by keyboard', async () => {
    const { page, serving } = visited
    const { workflowId, contextId } = await pause('Asked on the canvas')
    await page.goto(`${serving.url}/workflows/${workflowId}`)
    const mark = page.getByRole('button', { name: '1 waiting at ask' })
    await mark.waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    await mark.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Waiting at ask').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    await page.getByRole('link', { name: 'Asked on the canvas' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/waiting?workflow=${workflowId}&pause=*`)
    expect(new URL(page.url()).searchParams.get('pause')).toBe(contextId)
    await panelOf(page).getByRole('heading', { name: 'Asked on the canvas' }).waitFor()
  }, 120_000)

  test('fits a phone', async () => {
    const { contextId } = await pause('Is this readable on a phone that is only 390 pixels wide?')
    const page = await visited.context.newPage()
    await page.setViewportSize({ width: 390, height: 780 })
    const views = [
      { path: '', role: 'button' },
      { path: '?view=runs&status=paused', role: 'button' },
      { path: `?pause=${contextId}`, role: 'heading' },
    ] as const
    for (const { path, role } of views) {
      await page.goto(waiting + path)
      await page.getByRole(role, { name: 'Is this readable on a phone' }).waitFor()
      expect(await page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
      expect(await faultsInBothThemes(page)).toEqual([])
    }
    await page.close()
  }, 120_000)

  test('shows a viewer neither links nor actions', async () => {
    const { page, serving, workspaceId, browser, data } = visited
    const { contextId } = await pause('Viewers only look', { expiresAfterMs: 3_600_000 })
    const environment = { MILLRACE_DATA: data }
    await millrace(['users', 'create', 'vera@example.com'], { environment })
    const { out } = await millrace(['users', 'link', 'vera@example.com'], { environment })
    await page.goto(`${serving.url}/w/${workspaceId}/settings/workspace`)
    await page.getByRole('button', { name: 'Add member' }).click()
    await page.getByRole('dialog').getByLabel('Email').fill('vera@example.com')
    await page.getByRole('dialog').getByLabel('Role').selectOption('viewer')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('cell', { name: 'vera@example.com' }).waitFor()
    const viewer = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
    await viewer.goto(`${serving.url}/sign-in?token=${/token=(\S+)/.exec(out)?.[1]}`)
    await viewer.getByRole('button', { name: /^Account/ }).waitFor()
    await viewer.goto(`${waiting}?pause=${contextId}`)
    const panel = panelOf(viewer)
    await panel.getByText('Your account may not answer this approval.').waitFor()
    for (const name of ['Approve', 'Reject', 'Continue', 'Change end', 'Cancel run']) {
      expect(await panel.getByRole('button', { name }).count()).toBe(0)
    }
    expect(await panel.getByRole('link', { name: 'Open' }).count()).toBe(0)
    expect(await faultsInBothThemes(viewer)).toEqual([])
    expect(visited.pageErrors).toEqual([])
  }, 120_000)
})
