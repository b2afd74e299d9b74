import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { block, document } from '../support/make.ts'
import { httpPeer } from '../support/outbound/peers.ts'
import { call } from '../support/running-service.ts'
import { approveByKeyboard } from '../support/ui/approve.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { until } from '../support/ui/editor-page.ts'
import { accessibilityFaults } from './accessibility.ts'

let visited: Visit
let links: string[] = []
let peer: ReturnType<typeof httpPeer>
beforeAll(async () => {
  peer = httpPeer(async (request) => {
    links.push(((await request.json()) as { url: string }).url)
    return Response.json({})
  })
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
}, 120_000)
afterAll(async () => {
  await visited.close()
  await peer.stop(true)
})

const fields = [
  { name: 'reason', type: 'string', label: 'Reason', description: 'Why it is paid.', required: true },
  { name: 'account', type: 'string', label: 'Account', options: ['Travel', 'Office'] },
  { name: 'urgent', type: 'boolean', label: 'Urgent' },
]

/** Starts a run that asks; returns the link to its page, and its execution ID. */
async function ask(params: object): Promise<{ url: string; executionId: string }> {
  const { serving, apiKey } = visited
  const made = document({
    name: `Ask ${crypto.randomUUID()}`,
    blocks: [
      block('start', 'api_trigger'),
      block('ask', 'approval', {
        title: 'Pay the invoice?',
        message: 'Invoice 4711 <b>of</b> Acme\n120 EUR',
        ...params,
      }),
      block('send', 'api', { url: `http://127.0.0.1:${peer.port}/`, method: 'POST', body: { url: '<ask.url>' } }),
      block('done', 'function', { code: 'return { approved: <ask.approved>, fields: <ask.fields> }' }),
    ],
    edges: ['start > ask', 'ask:notify > send', 'ask > done'],
  })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  const { id } = body as { id: string }
  await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  links = []
  const ran = await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', {})
  expect(ran.status).toBe(202)
  return { url: links[0]!, executionId: (ran.body as { executionId: string }).executionId }
}

async function outputOf(executionId: string): Promise<unknown> {
  const { serving, apiKey } = visited
  return await until(async () => {
    const { body } = await call(`${serving.url}/api/jobs/${executionId}`, apiKey, 'GET')
    const job = body as { status: string; output?: { result: unknown } }
    return job.status === 'completed' && job.output?.result
  })
}

/** A phone without a session. */
async function phone(): Promise<Page> {
  const context = await visited.browser.newContext({ viewport: { width: 390, height: 780 } })
  return await context.newPage()
}

describe('the page of an approval', () => {
  test('is filled in on a phone, by keyboard alone', async () => {
    const { url, executionId } = await ask({ fields, expiresAfterMs: 3_600_000 })
    const page = await phone()
    await page.goto(url)
    await page.getByRole('heading', { name: 'Pay the invoice?' }).waitFor()
    await page.getByText('Invoice 4711 <b>of</b> Acme').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    // The browser asks for the required field first.
    await page.getByRole('button', { name: 'Approve' }).focus()
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => globalThis.document.activeElement?.getAttribute('name'))).toBe('reason')
    await approveByKeyboard(page)
    await page.getByText('Approved. You can close this page.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await outputOf(executionId)).toEqual({
      approved: true,
      fields: { reason: 'Within the budget', account: 'Office', urgent: true },
    })
    await page.reload()
    await page.getByText('This pause was answered before').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.context().close()
  }, 120_000)

  test('takes a rejection without a filled form', async () => {
    const { url, executionId } = await ask({ fields })
    const page = await phone()
    await page.goto(url)
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Rejected. You can close this page.').waitFor()
    expect(await outputOf(executionId)).toMatchObject({ approved: false })
    await page.context().close()
  }, 120_000)

  test('asks people to sign in when only members may answer', async () => {
    const { url, executionId } = await ask({ access: 'members' })
    const stranger = await phone()
    await stranger.goto(url)
    await stranger.getByText('Sign in to answer this run').waitFor()
    await stranger.getByRole('link', { name: 'Sign in' }).waitFor()
    expect(await accessibilityFaults(stranger)).toEqual([])
    await stranger.context().close()
    const { page } = visited
    await page.goto(url)
    await page.getByText('You answer as owner@localhost.').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Approved. You can close this page.').waitFor()
    expect(await outputOf(executionId)).toMatchObject({ approved: true })
    expect(visited.pageErrors).toEqual([])
  }, 120_000)

  test('says that a wrong link is wrong', async () => {
    const page = await phone()
    await page.goto(`${visited.serving.url}/pause/a.b`)
    await page.getByText('This link is incomplete or wrong.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.context().close()
  }, 120_000)
})
