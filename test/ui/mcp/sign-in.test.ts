import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Page } from 'playwright-core'
import { callTool } from '../../support/mcp-client.ts'
import { DesktopClient } from '../../support/mcp-oauth-client.ts'
import { httpPeer } from '../../support/outbound/peers.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { faultsInBothThemes } from '../accessibility.ts'

// A person connects the official MCP client in the browser, and disconnects it.

let visited: Visit
/** The program of the person, which waits for the browser on the same machine. */
let desk: ReturnType<typeof httpPeer>
let received: URL[] = []
beforeAll(async () => {
  desk = httpPeer((request) => {
    received.push(new URL(request.url))
    return new Response('<!doctype html><title>Desk</title><h1>Signed in</h1>', {
      headers: { 'content-type': 'text/html' },
    })
  })
  visited = await visit({})
}, 120_000)
afterAll(async () => {
  await visited.close()
  await desk.stop(true)
})

const password = 'correct horse battery'

/** A browser without a session, on a phone. */
async function phone(): Promise<Page> {
  const context = await visited.browser.newContext({ viewport: { width: 390, height: 780 } })
  return await context.newPage()
}

function transportOf(provider: DesktopClient): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`${visited.serving.url}/mcp`), { authProvider: provider })
}

/** Lets the client find out that it must sign in. Returns the address that it opens. */
async function addressToOpen(provider: DesktopClient): Promise<string> {
  received = []
  const client = new Client({ name: 'Desk', version: '1.0.0' })
  await client.connect(transportOf(provider) as Parameters<Client['connect']>[0]).catch(() => undefined)
  return provider.opened?.href ?? ''
}

const clientHere = () => new DesktopClient(`http://127.0.0.1:${desk.port}/callback`)

test('a person without a session signs in and connects a client, by keyboard alone', async () => {
  const { page: owner, serving } = visited
  await owner.goto(`${serving.url}/settings/account`)
  const email = await owner.evaluate(async () => {
    const body = JSON.stringify({ password: 'correct horse battery' })
    await fetch('/api/editor/me/password', { method: 'PUT', body })
    return ((await (await fetch('/api/editor/me')).json()) as { user: { email: string } }).user.email
  })
  const provider = clientHere()
  const page = await phone()
  await page.goto(await addressToOpen(provider))
  await page.getByLabel('Email').waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
  await page.keyboard.type(email)
  await page.keyboard.press('Tab')
  await page.keyboard.type('wrong')
  await page.keyboard.press('Enter')
  await page.locator('#notice[data-kind="error"]').waitFor()
  await page.getByLabel('Password').fill(password)
  await page.getByLabel('Password').press('Enter')

  await page.getByRole('heading', { name: 'Connect Desk' }).waitFor()
  await page.getByText(`Desk wants to use Millrace as ${email}.`).waitFor()
  await page.getByText(`The access goes to this computer (127.0.0.1:${desk.port}).`).waitFor()
  await page.getByText('It may read, build, deploy and run').waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('workspace')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Signed in' }).waitFor()

  const back = received.find(({ pathname }) => pathname === '/callback')
  expect(back?.searchParams.get('iss')).toBe(serving.url)
  await transportOf(provider).finishAuth(back?.searchParams.get('code') ?? '')
  const client = new Client({ name: 'Desk', version: '1.0.0' })
  await client.connect(transportOf(provider) as Parameters<Client['connect']>[0])
  expect((await callTool(client, 'list_workflows')).isError).toBeUndefined()

  const settings = `${serving.url}/w/${visited.workspaceId}/settings/account`
  await owner.goto(settings)
  const row = owner.getByRole('row', { name: 'Desk' })
  await row.waitFor()
  await row.scrollIntoViewIfNeeded()
  expect(await faultsInBothThemes(owner)).toEqual([])
  await row.getByRole('button', { name: 'Disconnect Desk' }).click()
  await owner.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await owner.getByText('No connected applications').waitFor()
  expect(await faultsInBothThemes(owner)).toEqual([])
  const refused = await client.callTool({ name: 'list_workflows', arguments: {} }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Error)
  await client.close()
}, 120_000)

test('a person with a session only chooses a workspace, and may deny access', async () => {
  const { page } = visited
  const provider = clientHere()
  await page.goto(await addressToOpen(provider))
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('heading', { name: 'Signed in' }).waitFor()
  const back = received.find(({ pathname }) => pathname === '/callback')
  expect(Object.fromEntries(back?.searchParams ?? [])).toMatchObject({ error: 'access_denied', state: 'a state' })
})

test('the page sends nobody to an address that the client did not register, and explains other mistakes', async () => {
  const { page } = visited
  const address = new URL(await addressToOpen(clientHere()))
  const foreign = new URL(address)
  foreign.searchParams.set('redirect_uri', 'https://elsewhere.example/')
  await page.goto(foreign.href)
  await page.getByText('did not register the address').waitFor()
  expect(await page.getByRole('link').count()).toBe(0)

  address.searchParams.set('code_challenge_method', 'plain')
  await page.goto(address.href)
  await page.getByText('The service needs PKCE').waitFor()
  expect(await faultsInBothThemes(page)).toEqual([])
  await page.getByRole('link', { name: 'Back to the application' }).click()
  await page.getByRole('heading', { name: 'Signed in' }).waitFor()
  expect(received.find(({ pathname }) => pathname === '/callback')?.searchParams.get('error')).toBe('invalid_request')
})
