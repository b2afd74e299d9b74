import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { newId } from '../../src/domain/ids.ts'
import { Processes } from '../service/peers/processes.ts'
import { call } from '../support/running-service.ts'
import { postgresServer } from '../support/store/postgres-server.ts'
import { queryPostgres } from '../support/store/postgres-store.ts'
import { launch, listen, timeoutMs, visit } from '../support/ui/browser.ts'
import { accessibilityFaults } from './accessibility.ts'

// Two processes serve one installation; a third one has lost its connection to the database.

const server = postgresServer()
let processes: Processes
let browser: Browser
let page: Page
let pageErrors: string[]

beforeAll(async () => {
  const database = await server().createDatabase()
  processes = await Processes.start(database, 2)
  await queryPostgres(
    database,
    `INSERT INTO millrace.processes
       (id, slot, host, place, pid, pid_start, version, url, uses_folder, heartbeat_at, lease_until)
     VALUES ('${newId()}', 20, 'lost.example.org', 'elsewhere', 4711, '1', '0.9.0', 'http://192.0.2.1:3000', false,
       now() - interval '5 minutes', now() - interval '1 second')`,
  )
  browser = await launch()
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  context.setDefaultTimeout(timeoutMs)
  page = await context.newPage()
  pageErrors = listen(page)
  const { url } = processes.all[0]!
  const [name, value] = processes.cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url }])
  const { data } = (await call(`${url}/api/workspaces`, processes.apiKey)).body as { data: { id: string }[] }
  await page.goto(`${url}/w/${data[0]!.id}/settings/processes`)
}, 120_000)
afterAll(async () => {
  await browser.close()
  await processes[Symbol.asyncDispose]()
})

const row = (text: string) => page.getByRole('row').filter({ hasText: text })
const lineOf = (index: number) => row(`process ${processes.all[index]!.pid}`)

test('the page shows who is up, leads and is gone, light and dark, on a screen and a phone', async () => {
  await lineOf(0).getByText('Leader').waitFor()
  expect(await lineOf(0).textContent()).toContain('Up')
  expect(await lineOf(1).textContent()).not.toContain('Leader')
  expect(await page.getByRole('button', { name: /^Drain process/ }).count()).toBe(2)
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 390]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      const over = await page.evaluate(() => globalThis.document.documentElement.scrollWidth - innerWidth)
      expect([colorScheme, width, over, await accessibilityFaults(page)]).toEqual([colorScheme, width, 0, []])
    }
  }
  expect(pageErrors).toEqual([])
}, 120_000)

test('a process is drained after a confirmation', async () => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lineOf(0)
    .getByRole('button', { name: /^Drain/ })
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('others take over the rest of its work').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Drain' }).click()
  await lineOf(0).getByText('Draining').waitFor()
  await lineOf(1).getByText('Leader').waitFor()
  expect(await lineOf(0).getByRole('button').count()).toBe(0)
}, 120_000)

test('an installation on SQLite has no such page', async () => {
  const visited = await visit({ environment: { MILLRACE_STORE: 'sqlite' } })
  try {
    await visited.page.goto(`${visited.serving.url}/w/${visited.workspaceId}/settings/about`)
    await visited.page.getByRole('link', { name: 'About' }).waitFor()
    expect(await visited.page.getByRole('link', { name: 'Processes' }).count()).toBe(0)
  } finally {
    await visited.close()
  }
}, 120_000)
