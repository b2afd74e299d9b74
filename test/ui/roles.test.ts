import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import '../support/built.ts'
import { millrace } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, deploy } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
let viewer: Page
let workflowId: string
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey, page, workspaceId, browser, data } = visited
  const blocks = [block('start', 'api_trigger'), block('sum', 'function', { code: 'return 42' })]
  const endpoint = await deploy(serving.url, apiKey, document({ name: 'Order', blocks, edges: ['start > sum'] }))
  workflowId = endpoint.split('/').at(-2) ?? ''
  await call(endpoint, apiKey, 'POST', {})
  const environment = { MILLRACE_DATA: data }
  await millrace(['users', 'create', 'vera@example.com'], { environment })
  const { out } = await millrace(['users', 'link', 'vera@example.com'], { environment })
  const token = /token=(\S+)/.exec(out)?.[1]
  // The owner adds her as a viewer.
  await page.goto(`${serving.url}/w/${workspaceId}/settings/workspace`)
  await page.getByRole('button', { name: 'Add member' }).click()
  await page.getByRole('dialog').getByLabel('Email').fill('vera@example.com')
  await page.getByRole('dialog').getByLabel('Role').selectOption('viewer')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('cell', { name: 'vera@example.com' }).waitFor()
  viewer = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await viewer.goto(`${serving.url}/sign-in?token=${token}`)
  await viewer.getByRole('button', { name: /^Account/ }).waitFor()
  // A new member lands in the shared workspace.
  await viewer.getByRole('link', { name: 'Order', exact: true }).waitFor()
  expect(new URL(viewer.url()).pathname).toBe(`/w/${workspaceId}/workflows`)
}, 120_000)
afterAll(() => visited.close())

describe('a viewer', () => {
  test('is told about being added until the notice is dismissed, and finds where to leave', async () => {
    const { serving, workspaceId } = visited
    const notice = viewer.getByRole('region', { name: 'New workspace' })
    await notice.getByText('added you to this workspace as a viewer').waitFor()
    expect(await accessibilityFaults(viewer)).toEqual([])
    await notice.getByRole('button', { name: 'Show members' }).click()
    await viewer.waitForURL(`**/w/${workspaceId}/settings/workspace`)
    await viewer.getByRole('button', { name: 'Leave' }).waitFor()
    expect(await notice.count()).toBe(0)
    await viewer.goto(`${serving.url}/w/${workspaceId}/workflows`)
    await viewer.getByRole('link', { name: 'Order', exact: true }).waitFor()
    expect(await notice.count()).toBe(0)
  })

  test('sees workflows without any way to change them', async () => {
    await viewer.getByRole('link', { name: 'Order', exact: true }).waitFor()
    expect(await viewer.getByRole('button', { name: 'New workflow' }).count()).toBe(0)
    expect(await viewer.getByRole('button', { name: 'Import' }).count()).toBe(0)
    expect(await accessibilityFaults(viewer)).toEqual([])
    await viewer.getByRole('button', { name: 'Actions for Order' }).click()
    await viewer.getByRole('menuitem', { name: 'Logs' }).waitFor()
    expect(await viewer.getByRole('menuitem').allTextContents()).toEqual(['Logs', 'Webhook subscriptions', 'Export'])
    await viewer.keyboard.press('Escape')
  })

  test('opens a workflow as “View only”, which is never “Saved”', async () => {
    await viewer.goto(`${visited.serving.url}/workflows/${workflowId}`)
    await viewer.getByText('View only').waitFor()
    expect(await viewer.getByText('Saved', { exact: true }).count()).toBe(0)
    expect(await accessibilityFaults(viewer)).toEqual([])
  })

  test('reads runs but cannot run them again', async () => {
    const { serving, workspaceId } = visited
    await viewer.goto(`${serving.url}/w/${workspaceId}/logs`)
    await viewer.getByRole('row').nth(1).click()
    const panel = viewer.getByRole('complementary', { name: 'Log entry' })
    await panel.getByRole('treeitem', { name: 'sum' }).waitFor()
    expect(await panel.getByRole('button', { name: 'Run again' }).count()).toBe(0)
    expect(await panel.getByRole('button', { name: 'Run from here' }).count()).toBe(0)
  })

  test('sees webhooks, variables and members but changes none of them', async () => {
    const { serving, workspaceId } = visited
    await viewer.goto(`${serving.url}/workflows/${workflowId}/webhooks`)
    await viewer.getByRole('heading', { name: 'No webhook subscriptions yet' }).waitFor()
    expect(await viewer.getByRole('button', { name: 'New subscription' }).count()).toBe(0)
    await viewer.goto(`${serving.url}/w/${workspaceId}/settings/environment`)
    await viewer.getByRole('heading', { name: 'No environment variables yet' }).waitFor()
    expect(await viewer.getByRole('button', { name: 'New variable' }).count()).toBe(0)
    await viewer.goto(`${serving.url}/w/${workspaceId}/settings/workspace`)
    await viewer.getByRole('cell', { name: 'vera@example.com' }).waitFor()
    expect(await viewer.getByRole('button', { name: 'Add member' }).count()).toBe(0)
    expect(await viewer.getByRole('button', { name: 'Rename' }).count()).toBe(0)
    expect(await viewer.getByRole('combobox').count()).toBe(0)
    await viewer.goto(`${serving.url}/w/${workspaceId}/settings/about`)
    await viewer.getByText('Healthy').waitFor()
    expect(await viewer.getByText('Free disk space').count()).toBe(0)
  })

  test('can leave, and then sees only their own workspace', async () => {
    const { serving, workspaceId } = visited
    await viewer.goto(`${serving.url}/w/${workspaceId}/settings/workspace`)
    await viewer.getByRole('button', { name: 'Leave' }).click()
    await viewer.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await viewer.getByRole('heading', { name: 'No workflows yet' }).waitFor()
    await viewer.goto(`${serving.url}/w/${workspaceId}/workflows`)
    await viewer.getByRole('heading', { name: 'No workflows yet' }).waitFor()
  })
})
