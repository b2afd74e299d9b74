import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call, deploy } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { Receiver } from '../../support/webhook-receiver.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
let endpoint: string
let receiver: Receiver
const pictures = Bun.env['ALERT_PICTURES']
beforeAll(async () => {
  receiver = new Receiver()
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
  const blocks = [block('start', 'api_trigger'), block('sum', 'function', { code: 'throw new Error("no stock")' })]
  const orders = document({ name: 'Orders', blocks, edges: ['start > sum'] })
  endpoint = await deploy(visited.serving.url, visited.apiKey, orders)
}, 120_000)
afterAll(async () => {
  await visited.close()
  receiver[Symbol.dispose]()
})

async function picture(name: string): Promise<void> {
  if (pictures) await visited.page.screenshot({ path: `${pictures}/${name}.png` })
}

test('the menu of a workflow creates an alert, which tells that the workflow failed', async () => {
  const { page, serving, workspaceId, apiKey } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
  await page.getByRole('button', { name: 'Actions for Orders' }).click()
  await page.getByRole('menuitem', { name: 'Tell me when this fails' }).click()
  const dialog = page.getByRole('dialog', { name: 'New alert' })
  await dialog.getByLabel('URL').fill(receiver.url)
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Orders failed')
  expect(await accessibilityFaults(page)).toEqual([])
  await picture('dialog-light')
  await dialog.getByRole('button', { name: 'Create alert' }).click()
  await page.getByText('Orders failed', { exact: true }).waitFor()
  await page.getByText('None yet').filter({ visible: true }).waitFor()
  await call(endpoint, apiKey, 'POST', {})
  const [message] = await receiver.arrivals(1)
  expect(JSON.parse(message!.body)).toMatchObject({ data: { workflow: { name: 'Orders' } } })
  await page
    .getByText(/Quiet until/)
    .filter({ visible: true })
    .waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await picture('list-light')
}, 25_000)

test('an alert is tried, switched off, changed and deleted, with the keyboard too', async () => {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/alerts`)
  await page.getByRole('button', { name: 'Test' }).press('Enter')
  await page.getByText('The test message of Orders failed was sent.').waitFor()
  expect(await receiver.arrivals(2)).toHaveLength(2)
  const on = page.getByRole('switch', { name: 'Orders failed is on' })
  await on.press('Space')
  await page.getByRole('switch', { name: 'Orders failed is on', checked: false }).waitFor()
  await page.getByRole('button', { name: 'Change' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Change Orders failed' })
  await dialog.getByLabel('Tell me when').selectOption({ label: 'Runs are slow' })
  await dialog.getByLabel('Above (seconds)').fill('2.5')
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture('change-dark')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: 'Runs are slow' }).waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await picture('list-dark')
  await page.setViewportSize({ width: 390, height: 844 })
  await picture('list-narrow')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await page.getByRole('button', { name: 'New alert' }).click()
  await picture('dialog-narrow')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'No alerts yet' }).waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
}, 25_000)
