import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { FileChooser } from 'playwright-core'
import { block } from '../../support/make.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { faultsInBothThemes } from '../accessibility.ts'
import { type Blocks, deployForm, fields, focused, outputOf, phone } from './form-visit.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit({ environment: { MILLRACE_FORM_VISITOR_PER_MINUTE: '1000' } })
}, 120_000)
afterAll(() => visited.close())

const form = (params?: object, steps?: Blocks) => deployForm(visited, params, steps)

describe('the further pages of a form', () => {
  test('are the approvals of its run, with files, by keyboard alone, and end with the thanks', async () => {
    const receipt = { name: 'receipt', type: 'files', label: 'Receipt', required: true }
    const steps = [
      block('one', 'approval', { title: 'First page', fields: [receipt] }),
      block('two', 'approval', { title: 'Second page', fields: [{ name: 'why', type: 'string', label: 'Why' }] }),
    ]
    const end = { thanks: 'All pages are done.', respond: 'next', accent: '#ffd400' }
    const { page, errors } = await phone(visited)
    // From the start: the browser takes a moment to pass on the choice of files.
    const chooser = Promise.withResolvers<FileChooser>()
    page.on('filechooser', chooser.resolve)
    const url = await form({ fields: fields.slice(0, 1), ...end }, steps)
    await page.goto(url)
    await page.getByLabel('Your name').focus()
    await page.keyboard.type('Ada')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'First page' }).waitFor()
    const onward = page.getByRole('button', { name: 'Continue' })
    expect(await onward.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe('rgb(255, 212, 0)')
    await onward.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Choose a file for Receipt.').waitFor()
    expect(await focused(page)).toBe('receipt')
    expect(await faultsInBothThemes(page)).toEqual([])
    await page.keyboard.press('Enter')
    const file = { name: 'receipt.txt', mimeType: 'text/plain', buffer: Buffer.from('the receipt') }
    await (await chooser.promise).setFiles(file)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Second page' }).waitFor()
    await page.getByLabel('Why').focus()
    await page.keyboard.type('Because')
    await page.keyboard.press('Enter')
    await page.getByText('All pages are done.').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    expect(await outputOf(visited, url)).toEqual({ name: 'Ada' })
    expect(errors).toEqual([])
    await page.context().close()
  }, 120_000)

  test('end with another text, and without the redirect, when the visitor declines', async () => {
    const steps = [block('one', 'approval', { title: 'Order for 90 euros?' })]
    const end = { thanks: 'Your order is on its way.', redirect: `${visited.serving.url}/docs/forms`, respond: 'next' }
    const { page, errors } = await phone(visited)
    await page.goto(await form({ fields: [], ...end }, steps))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('heading', { name: 'Order for 90 euros?' }).waitFor()
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.getByText('Declined. You can close this page.').waitFor()
    expect(new URL(page.url()).pathname).toStartWith('/pause/')
    expect(errors).toEqual([])
    await page.context().close()
  }, 120_000)
})
