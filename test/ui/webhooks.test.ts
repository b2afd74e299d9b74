import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { block, document } from '../support/make.ts'
import { call, deploy } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'
import { until } from '../support/ui/editor-page.ts'
import { accessibilityFaults } from './accessibility.ts'

type Received = { headers: Headers; body: string }

let visited: Visit
let endpoint: string
let status = 200
const received: Received[] = []
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push({ headers: request.headers, body: await request.text() })
    return new Response(status === 200 ? '{"ok":true}' : 'no <b>such</b> order', { status })
  },
})
beforeAll(async () => {
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
  const blocks = [block('start', 'api_trigger'), block('sum', 'function', { code: 'return 42' })]
  endpoint = await deploy(
    visited.serving.url,
    visited.apiKey,
    document({ name: 'Order', blocks, edges: ['start > sum'] }),
  )
}, 120_000)
afterAll(async () => {
  await visited.close()
  await receiver.stop(true)
})

describe('webhook subscriptions', () => {
  let secret = ''

  test('are created with a secret that is shown once, and can be tested', async () => {
    const { page, serving } = visited
    await page.goto(`${serving.url}/workflows/${endpoint.split('/').at(-2)}/webhooks`)
    await page.getByRole('heading', { name: 'No webhook subscriptions yet' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'New subscription' }).click()
    await page.getByLabel('URL').fill(`http://127.0.0.1:${receiver.port}/hook`)
    await page.getByRole('checkbox', { name: 'Final output' }).check()
    await page.getByRole('checkbox', { name: 'Manual' }).uncheck()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Create subscription' }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy the secret now' })
    secret = (await dialog.locator('code').textContent()) ?? ''
    expect(secret).toMatch(/^[\w-]{43}$/)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Signed', { exact: true }).waitFor()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByRole('dialog', { name: 'Test delivery succeeded' }).waitFor()
    expect(JSON.parse(received.shift()!.body).data.executionId).toStartWith('test_')
    await page.getByRole('button', { name: 'Done' }).click()
  })

  test('show the whole response to a test delivery', async () => {
    const { page } = visited
    status = 422
    await page.getByRole('button', { name: 'Test' }).click()
    const dialog = page.getByRole('dialog', { name: /^Test delivery/ })
    const response = dialog.getByRole('region', { name: 'Response' })
    await response.getByText('no <b>such</b> order').waitFor()
    const hidden = await response.evaluate((box) => box.scrollHeight - box.clientHeight)
    expect(hidden).toBeLessThanOrEqual(1)
    await dialog.getByRole('button', { name: 'Done' }).click()
    received.length = 0
    status = 200
  })

  test('deliver a signed payload; a failed delivery can be resent with the same id and body', async () => {
    const { page, apiKey } = visited
    status = 422
    await call(endpoint, apiKey, 'POST', {})
    await page.getByRole('tab', { name: 'Deliveries' }).click()
    await page.getByRole('cell', { name: 'Failed' }).waitFor()
    await page.getByRole('columnheader', { name: 'Version' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'Failed' }).getByRole('cell', { name: 'v1', exact: true }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: /\/hook$/ }).click()
    const panel = page.getByRole('complementary', { name: 'Delivery' })
    await panel.getByText('no <b>such</b> order').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    status = 200
    await panel.getByRole('button', { name: 'Resend' }).click()
    await panel.getByText('Delivered').waitFor()
    const [first, second] = received
    expect(received).toHaveLength(2)
    expect(second!.body).toBe(first!.body)
    expect(second!.headers.get('svc-delivery-id')).toBe(first!.headers.get('svc-delivery-id'))
    expect(JSON.parse(second!.body).data.finalOutput).toMatchObject({ result: 42 })
    const [, time, digest] = /^t=(\d+),v1=(\w+)$/.exec(second!.headers.get('svc-signature') ?? '') ?? []
    expect(createHmac('sha256', secret).update(`${time}.${second!.body}`).digest('hex')).toBe(digest!)
  })

  test('are listed at each run, with the reason when a delivery was skipped', async () => {
    const { page } = visited
    await page.getByRole('complementary', { name: 'Delivery' }).getByRole('link').click()
    await page.getByRole('tab', { name: 'Deliveries' }).waitFor()
    await page.getByText('The receiver accepted it after 2 attempts.').waitFor()
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Its triggerFilter does not admit what started the run.').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
  })

  test('can get a second secret, be switched off, and be deleted', async () => {
    const { page, serving, apiKey } = visited
    const id = endpoint.split('/').at(-2)
    await page.goto(`${serving.url}/workflows/${id}/webhooks`)
    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    const dialog = page.getByRole('dialog', { name: 'Copy the secret now' })
    expect(await dialog.locator('code').textContent()).not.toBe(secret)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Signed with two secrets').waitFor()
    received.length = 0
    await call(endpoint, apiKey, 'POST', {})
    await until(async () => received.length === 1)
    await page.getByRole('switch', { name: 'On' }).click()
    await page.getByRole('switch', { name: 'Off' }).waitFor()
    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No webhook subscriptions yet' }).waitFor()
    await page.getByRole('tab', { name: 'Deliveries' }).click()
    await page.getByRole('cell', { name: 'Delivered' }).nth(1).waitFor()
    expect(received[0]!.headers.get('svc-signature')).toMatch(/^t=\d+,v1=\w+,v1=\w+$/)
    expect(visited.pageErrors).toEqual([])
  })
})

describe('webhook deliveries', () => {
  test('that failed can be resent together, and a pending one can be cancelled', async () => {
    const { page, serving, apiKey } = visited
    const blocks = [block('start', 'api_trigger')]
    const webhooks = [{ url: `http://127.0.0.1:${receiver.port}/again` }]
    const told = { ...document({ name: 'Told', blocks }), webhooks }
    const address = await deploy(serving.url, apiKey, told)
    received.length = 0
    status = 422
    await call(address, apiKey, 'POST', {})
    await call(address, apiKey, 'POST', {})
    await page.goto(`${serving.url}/workflows/${address.split('/').at(-2)}/webhooks`)
    await page.getByRole('tab', { name: 'Deliveries' }).click()
    await page.getByRole('cell', { name: 'Failed' }).nth(1).waitFor()
    const ids = () => received.map(({ headers }) => headers.get('svc-delivery-id'))
    const failed = ids()
    status = 200
    await page.getByRole('button', { name: 'Resend failed' }).click()
    const dialog = page.getByRole('dialog', { name: 'Resend failed deliveries' })
    await dialog.getByLabel('Time of the events').selectOption({ label: 'In the last hour' })
    expect(await accessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('2 deliveries queued again.').waitFor()
    await page.getByRole('cell', { name: 'Delivered' }).nth(1).waitFor()
    expect(ids().slice(2).toSorted()).toEqual(failed.toSorted())

    status = 503
    await call(address, apiKey, 'POST', {})
    await page.reload()
    await page.getByRole('row').filter({ hasText: 'Pending' }).getByRole('button').click()
    const panel = page.getByRole('complementary', { name: 'Delivery' })
    await panel.getByText('503').first().waitFor()
    await panel.getByRole('button', { name: 'Cancel' }).click()
    await panel.getByText('Cancelled').waitFor()
    await page.getByRole('cell', { name: 'Cancelled' }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(visited.pageErrors).toEqual([])
  }, 120_000)
})
