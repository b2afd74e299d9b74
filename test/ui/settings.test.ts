import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { Recorder } from '../support/outbound/recorder.ts'
import { call } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
}, 120_000)
afterAll(() => visited.close())

const open = async (section: string) => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/settings/${section}`)
  await page.getByRole('heading', { level: 2 }).first().waitFor()
}
const row = (page: Page, name: string) => page.getByRole('row', { name })

describe('the settings', () => {
  test('create an API key that works, is shown once, and stops working when revoked', async () => {
    const { page, serving } = visited
    await open('keys')
    await page.getByRole('button', { name: 'New API key' }).click()
    await page.getByLabel('Name').fill('Shop <b>backend</b>')
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy your API key now' })
    const key = (await dialog.locator('code').textContent()) ?? ''
    expect(key).toMatch(/^mrk_\w{36}$/)
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await row(page, 'Shop <b>backend</b>').waitFor()
    expect(await page.content()).not.toContain(key)
    expect((await call(`${serving.url}/api/workspaces`, key)).status).toBe(200)
    await row(page, 'Shop <b>backend</b>').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row(page, 'Shop <b>backend</b>').waitFor({ state: 'detached' })
    while ((await call(`${serving.url}/api/workspaces`, key)).status !== 401) await Bun.sleep(50)
    expect(await accessibilityFaults(page)).toEqual([])
  }, 120_000)

  test('accept environment variables and never show their values', async () => {
    const { page } = visited
    await open('environment')
    await page.getByRole('button', { name: 'New variable' }).click()
    await page.getByLabel('Name').fill('WEATHER_TOKEN')
    await page.getByLabel('Value').fill('a-very-secret-token')
    await page.getByRole('button', { name: 'Create variable' }).click()
    await row(page, 'WEATHER_TOKEN').waitFor()
    expect(await page.content()).not.toContain('a-very-secret-token')
    expect(await accessibilityFaults(page)).toEqual([])
    await row(page, 'WEATHER_TOKEN').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { name: 'No environment variables yet' }).waitFor()
  })

  test('keep credentials for other services, test them, and never show their secrets', async () => {
    const { page, serving, workspaceId, apiKey } = visited
    await using service = new Recorder()
    await open('credentials')
    await page.getByRole('button', { name: 'New credential' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('crm')
    await dialog.getByLabel('Kind').selectOption('User name and password')
    await dialog.getByLabel('Hosts').fill(service.host)
    await dialog.getByLabel('User name').fill('ada')
    await dialog.getByLabel('Password', { exact: true }).fill('a-very-secret-password')
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create credential' }).click()
    await row(page, 'crm').getByText('Not used yet').waitFor()
    await row(page, 'crm').getByRole('button', { name: 'Test' }).click()
    await dialog.getByLabel('URL').fill(`${service.url}/me`)
    await dialog.getByRole('button', { name: 'Send request' }).click()
    await dialog.getByText('status 200').waitFor()
    expect(service.requests).toMatchObject([
      { url: '/me', headers: { authorization: expect.stringMatching(/^Basic /) } },
    ])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await row(page, 'crm').getByRole('button', { name: 'Change' }).click()
    await dialog.getByLabel('User name').fill('eve')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body } = await call(`${serving.url}/api/workspaces/${workspaceId}/credentials`, apiKey)
    expect(body).toMatchObject({ data: [{ name: 'crm', fields: { username: 'eve' }, secrets: ['password'] }] })
    expect(await page.content()).not.toContain('a-very-secret-password')
    expect(await accessibilityFaults(page)).toEqual([])
    await row(page, 'crm').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No credentials yet' }).waitFor()
  })

  test('set a password that can be used to sign in, and sign out everywhere else', async () => {
    const { page, browser, serving } = visited
    await open('account')
    await page.getByLabel('New password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('Password set.').waitFor()
    await page.getByLabel('Current password').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    const other = await (await browser.newContext()).newPage()
    await other.goto(serving.url)
    await other.getByLabel('Email').fill('owner@localhost')
    await other.getByLabel('Password').fill('correct horse battery')
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByRole('button', { name: /^Account/ }).waitFor()

    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign out everywhere else?' })
    await dialog.getByText('disconnects its applications').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByText('Signed out everywhere else.').waitFor()
    await other.reload()
    await other.getByLabel('Password').waitFor()
    await other.context().close()
    // This session stays.
    await open('account')
    await page.getByRole('heading', { name: 'Connected applications', exact: true }).waitFor()
  }, 60_000)

  test('ask an account with a password for it before they create an API key', async () => {
    const { page } = visited
    await open('keys')
    await page.getByRole('button', { name: 'New API key' }).click()
    await page.getByLabel('Name').fill('With password')
    await page.getByLabel('Your password').fill('wrong horse')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('The email or the password is wrong.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByLabel('Your password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy your API key now' })
    await dialog.getByRole('button', { name: 'Done' }).click()
    await row(page, 'With password').waitFor()
  }, 120_000)

  test('keep the selected theme after a reload', async () => {
    const { page } = visited
    await open('account')
    await page.getByText('Dark', { exact: true }).click()
    await page.reload()
    await page.getByRole('heading', { name: 'Appearance' }).waitFor()
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark')
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByText('System', { exact: true }).click()
  })

  test('show usage and facts about the service', async () => {
    const { page } = visited
    await open('usage')
    await page.getByRole('heading', { name: /^Runs in/ }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await open('about')
    await page.getByText('Healthy').waitFor()
    await page.getByText('Free disk space').waitFor()
    await page.getByText('MILLRACE_PUBLIC_CHAT_USD_PER_DAY').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
  })

  test('rename a workspace and create another', async () => {
    const { page } = visited
    await open('workspace')
    await page.getByRole('textbox', { name: 'Name' }).fill('Main street')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('button', { name: 'Workspace Main street' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'New workspace' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Side street')
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByRole('heading', { name: 'No workflows yet' }).waitFor()
    await page.getByRole('button', { name: 'Workspace Side street' }).waitFor()
    expect(visited.pageErrors).toEqual([])
  })

  test('show the same tier everywhere, and sign out', async () => {
    const { page } = visited
    for (const section of ['account', 'usage']) {
      await open(section)
      await page.getByRole('definition').filter({ hasText: 'Enterprise' }).waitFor()
    }
    await page.getByText('No runs in the last 30 days').waitFor()
    await open('account')
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in to Millrace' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to Millrace' }).waitFor()
  }, 120_000)
})
